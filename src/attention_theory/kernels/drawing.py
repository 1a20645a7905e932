"""What the study's figures share: names, bands and axes."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from attention_theory import style
from attention_theory.statistics import t_interval

KERNELS = {"softmax": ("softmax", "-", "o"), "gaussian": ("Gaussian", "--", "s")}
COLOURS = dict(zip(KERNELS, style.PALETTE, strict=False))


def bands(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Geometric mean and 95 % Student interval (of logarithms) of `measure` over seeds."""
    rows = [
        (*key, *map(float, np.exp(t_interval(np.log(values))[:3])), len(values))
        for key, values in table.groupby(by, sort=False).measure
    ]
    return pd.DataFrame(rows, columns=[*by, "mean", "ci_low", "ci_high", "n"])


def draw_band(axis: Axes, band: pd.DataFrame, x: str, **look: object) -> None:
    """A line with its band."""
    axis.plot(band[x], band["mean"], linewidth=1.2, **look)
    axis.fill_between(band[x], band.ci_low, band.ci_high, color=look["color"], alpha=0.2, lw=0)


def logarithmic(axis: Axes, which: str = "xy") -> None:
    """Logarithmic axes with few and plain ticks: a figure's time goes into placing its labels."""
    for name in which:
        part = axis.xaxis if name == "x" else axis.yaxis
        axis.set(**{f"{name}scale": "log"})
        low, high = part.get_view_interval()
        wide = high / low > 100
        part.set_major_locator(LogLocator(subs=(1,) if wide else (1, 2, 5)))
        part.set_minor_locator(NullLocator())
        part.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def ticks(axis: Axes, values: list) -> None:
    """A logarithmic x axis whose ticks are the settings that were run."""
    axis.set_xscale("log")
    axis.set_xticks(values, [f"{value:g}" for value in values], fontsize=6.5)
    axis.xaxis.set_minor_locator(NullLocator())
