"""N95, the number of downstream samples that reach accuracy .95, and its exponent in D.

N95 at a level is the smallest number of samples N~ with which at least that share of draws reaches
an accuracy of .95: the median draw at level .5, nine draws in ten at level .9. Between two numbers
on the grid it is interpolated, the quantile of the accuracy linear in log N~. Where the smallest
number on the grid suffices, N95 is only known to be at most that, unless it is 1, the smallest
number there is; where none does, N95 is not reached (NaN).
"""

import numpy as np
import pandas as pd

from attention_theory.statistics import Slope, log_log_slope

ENOUGH = 0.95
HALF, MOST = 0.5, 0.9  # the median draw; nine draws in ten
KNOWN, AT_MOST, NOT_REACHED = "known", "at most", "not reached"


def standard(transfer: pd.DataFrame) -> pd.DataFrame:
    """The rows of the standard step: without the scan over other lengths of the one step."""
    return transfer[~transfer.scan.astype(bool)]


def fixed(transfer: pd.DataFrame) -> pd.DataFrame:
    """The rows at the dimension that is the same for every D: that of the permuted attention."""
    return transfer[transfer.d.isin(transfer[transfer.attention == "permuted"].d)]


def wide(transfer: pd.DataFrame) -> pd.DataFrame:
    """The rows at d = D."""
    return transfer[transfer.d == transfer.D]


def n95(runs: pd.DataFrame, level: float) -> tuple[float, str]:
    """N95 of runs that differ in samples and draw alone, and how it is known."""
    reached = runs.groupby("samples").accuracy.quantile(1 - level)
    enough = np.flatnonzero(reached >= ENOUGH)
    if len(enough) == 0:
        return np.nan, NOT_REACHED
    first = int(enough[0])
    if first == 0:
        smallest = float(reached.index[0])
        return smallest, KNOWN if smallest == 1 else AT_MOST
    below, above = reached.iloc[first - 1 : first + 1]
    if not below < ENOUGH:  # NaN: nothing to interpolate from
        return np.nan, NOT_REACHED
    n_below, n_above = reached.index[first - 1 : first + 1]
    share = (ENOUGH - below) / (above - below)
    return float(n_below * (n_above / n_below) ** share), KNOWN


def by_seed(transfer: pd.DataFrame, level: float) -> pd.DataFrame:
    """N95 of each seed: columns D, d, seed, attention, optimiser, level, n95, known."""
    keys = ["D", "d", "seed", "attention", "optimiser"]
    rows = [(*key, level, *n95(runs, level)) for key, runs in standard(transfer).groupby(keys)]
    return pd.DataFrame(rows, columns=[*keys, "level", "n95", "known"])


def exponent(points: pd.DataFrame) -> Slope | None:
    """The slope of log N95 on log D over seeds and sizes, with its Student interval.

    None unless there are three sizes and every N95 is known: a bound is no value.
    """
    if points.D.nunique() < 3 or not (points.known == KNOWN).all():
        return None
    return log_log_slope(points.D, points.n95)
