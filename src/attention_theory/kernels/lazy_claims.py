"""The claims judged on the runs of experiment A3: K3, K3b.

Rules and margins are fixed here; docs/kernels.md says what was known when they were.
"""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from attention_theory.claims import (
    CONTRADICTED,
    INCONCLUSIVE,
    SUPPORTED,
    Judgement,
    not_run,
)
from attention_theory.statistics import Interval, log_log_slope, t_interval

FALLS = -0.25  # half the exponent of a constant movement over a norm that grows as sqrt D
FIXED = 0.1  # a tangent kernel that changes by less, relative to its size, stays as it is


def judge_movement(lazy: pd.DataFrame) -> Judgement:
    """K3: does the relative movement of the weights fall with D?"""
    slopes = _slopes(lazy, "D", "movement")
    if not slopes:
        return not_run("fewer than three dimensions D in lazy.csv")
    ended = lazy[lazy.sweep == "D"]
    output = np.exp(np.log(ended.movement_O).groupby(ended.D).mean())
    measured = (
        f"|W(t) - W(0)| / |W(0)| goes as D^{_each(slopes)} from D = {ended.D.min()} to "
        f"{ended.D.max()} (falls below {FALLS:g}); W_O alone, which starts small, moves by "
        f"{output.iloc[0]:.0f} to {output.iloc[-1]:.0f} times its start"
    )
    return _falling(slopes, measured)


def judge_kernel(lazy: pd.DataFrame) -> Judgement:
    """K3b: does the empirical tangent kernel stay as it is, or change less and less, as D grows?

    By the exponent of its relative change, as K3; and a change that is surely below FIXED at the
    largest D counts as none, whatever its exponent, while only one surely above contradicts.
    """
    slopes = _slopes(lazy, "D", "ntk_change")
    if not slopes:
        return not_run("fewer than three dimensions D in lazy.csv")
    ended = _ended(lazy, "D")
    widest = ended[ended.D == ended.D.max()]
    by_kernel = np.log(widest.ntk_change).groupby(widest.kernel)
    logs = {kernel: t_interval(own) for kernel, own in by_kernel}
    heads = _slopes(lazy, "H", "ntk_change")
    change = ", ".join(
        f"{math.exp(logs[kernel].estimate):.2g} ({kernel})" for kernel in slopes if kernel in logs
    )
    measured = (
        f"the tangent kernel's relative change goes as D^{_each(slopes)} (falls below {FALLS:g}); "
        f"at D = {widest.D.iloc[0]} it is {change} (none below {FIXED:g})"
        + (f"; in the number of heads it goes as H^{_each(heads)}" if heads else "")
    )
    fixed = [kernel for kernel, log in logs.items() if log.high < math.log(FIXED)]
    judged = {kernel: slope for kernel, slope in slopes.items() if kernel not in fixed}
    if not judged:
        return Judgement(SUPPORTED, max(slopes.values(), key=lambda slope: slope.high), measured)
    found = _falling(judged, measured)
    changes = any(
        slope.low > FALLS and kernel in logs and logs[kernel].low > math.log(FIXED)
        for kernel, slope in judged.items()
    )
    if found.verdict == CONTRADICTED and not changes:
        return Judgement(INCONCLUSIVE, found.interval, measured)
    return found


def _ended(lazy: pd.DataFrame, sweep: str) -> pd.DataFrame:
    """The runs of a sweep that reached their goal."""
    return lazy[(lazy.sweep == sweep) & (lazy.loss <= lazy.goal * lazy.loss_0)]


def _slopes(lazy: pd.DataFrame, sweep: str, measure: str) -> dict[str, Interval]:
    """The exponent of a measure in D or H by kernel, of the runs that reached their goal."""
    found = {}
    for kernel, rows in _ended(lazy, sweep).groupby("kernel", sort=False):
        if rows[sweep].nunique() >= 3:
            slope = log_log_slope(rows[sweep], rows[measure])
            found[kernel] = Interval(slope.slope, slope.low, slope.high, slope.n)
    return found


def _falling(slopes: Mapping[str, Interval], measured: str) -> Judgement:
    """Supported if every exponent is surely below FALLS, contradicted if one is surely above."""
    decides = max(slopes.values(), key=lambda slope: slope.high)
    if any(slope.low > FALLS for slope in slopes.values()):
        found = CONTRADICTED
    else:
        found = SUPPORTED if decides.high < FALLS else INCONCLUSIVE
    return Judgement(found, decides, measured)


def in_words(interval: Interval) -> str:
    """`-0.50 [-0.55, -0.45]`, or that there is no interval."""
    if math.isnan(interval.low):
        return f"{interval.estimate:.2f} (no interval)"
    return f"{interval.estimate:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def _each(slopes: Mapping[str, Interval]) -> str:
    return ", ".join(f"{in_words(slope)} ({kernel})" for kernel, slope in slopes.items())
