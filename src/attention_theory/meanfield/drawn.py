"""What the study's figures share: root mean squares and means over seeds with their intervals."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from attention_theory.statistics import Interval, t_interval

Drawn = tuple[Figure, pd.DataFrame]
COLUMNS = ["mean", "ci_low", "ci_high", "n"]


def root_mean_square(values: np.ndarray) -> Interval:
    """The root mean square over seeds, with Student's interval of the squares' mean, in logarithms.

    (The error of a logarithm is the relative one, so that the lower limit stays positive.)
    """
    found = t_interval(np.asarray(values, dtype=float) ** 2)
    if found.estimate == 0:
        return Interval(0.0, np.nan, np.nan, found.n)
    half = np.exp((found.high - found.estimate) / found.estimate / 2)
    middle = np.sqrt(found.estimate)
    return Interval(middle, middle / half, middle * half, found.n)


def geometric_mean(values: np.ndarray) -> Interval:
    """The geometric mean over seeds; the interval is Student's of the logarithms' mean."""
    found = t_interval(np.log(values))
    return Interval(*(float(np.exp(value)) for value in found[:3]), found.n)


def by(rows: pd.DataFrame, keys: list[str], measure: str, mean: object) -> pd.DataFrame:
    """A row a group: the mean over seeds of a measure, with its interval."""
    found = [(*key, *mean(own)) for key, own in rows.groupby(keys)[measure]]
    return pd.DataFrame(found, columns=[*keys, *COLUMNS]).assign(measure=measure)


def points(axis: Axes, x: object, shown: pd.DataFrame, **look: object) -> None:
    """Means with their intervals as bars."""
    limits = np.nan_to_num([shown["mean"] - shown.ci_low, shown.ci_high - shown["mean"]])
    look = {"markersize": 3.5, "linewidth": 1, "elinewidth": 0.8, "capsize": 1.5} | look
    axis.errorbar(x, shown["mean"], limits, **look)


def band(axis: Axes, x: object, shown: pd.DataFrame, **look: object) -> None:
    """A line through means, with a band."""
    axis.plot(x, shown["mean"], linewidth=1.2, **look)
    axis.fill_between(x, shown.ci_low, shown.ci_high, color=look["color"], alpha=0.2, lw=0)


def laid_out(figure: Figure) -> Figure:
    """The figure with its layout settled: PDF and PNG would each compute it, at half their cost."""
    for axis in figure.axes:
        axis.minorticks_off()  # dozens on logarithmic axes, and as costly as the others
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def sizes_on(axis: Axes, values: object) -> None:
    """A logarithmic horizontal axis whose ticks are the sizes themselves."""
    values = sorted(set(values))
    axis.set_xscale("log", base=2)
    axis.set_xticks(values, [f"{value:g}" for value in values])
    axis.xaxis.set_minor_locator(NullLocator())
