"""Figures of the audit: functions from tables to (figure, table of what it shows)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from attention_theory import style
from attention_theory.meanfield.bounds import INEQUALITY

Drawn = tuple[Figure, pd.DataFrame]

_MARKERS = {"random": ("random draws", "o"), "ascent": ("gradient ascent", "^")}
_VERDICTS = {"True": "no violation found", "False": "fails", "": "in doubt"}
_COLOURS = dict(zip(_VERDICTS, (style.PALETTE[0], style.PALETTE[3], "0.5"), strict=True))
CEILING = 1e4  # ratios above it are drawn there: an unbounded one has no value of its own


def bounds(bounds: pd.DataFrame, bounds_searches: pd.DataFrame) -> Drawn:
    """The largest ratio of every inequality, by search; beside it the corrections'."""
    shown = bounds[bounds.form == INEQUALITY]
    verdicts = {row.bound: str(row.holds) for row in shown.itertuples()}
    verdicts = {name: text if text in _VERDICTS else "" for name, text in verdicts.items()}
    tops = bounds_searches[bounds_searches.bound.isin(verdicts)]
    tops = tops.groupby(["bound", "search"], sort=False).sup_ratio.max().reset_index()
    table = tops.merge(shown[["bound", "stated", "holds"]], on="bound")
    figure, axes = plt.subplots(1, 2, figsize=(style.PAGE, 5.2), width_ratios=(1.35, 1))
    for axis, stated in zip(axes, (True, False), strict=True):
        names = list(shown[shown.stated == stated].bound)
        _draw_ratios(axis, table[table.stated == stated], names, verdicts)
        axis.set_title("as stated" if stated else "corrected")
    handles = [Line2D([], [], color="0.3", marker=marker, linestyle="none", label=label)
               for label, marker in _MARKERS.values()]  # fmt: skip
    handles += [Line2D([], [], color=_COLOURS[key], marker="s", linestyle="none", label=label)
                for key, label in _VERDICTS.items() if key in verdicts.values()]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure, table


def _draw_ratios(axis: Axes, table: pd.DataFrame, names: list[str], verdicts: dict) -> None:
    for row in table.itertuples():
        look = {"color": _COLOURS[verdicts[row.bound]], "marker": _MARKERS[row.search][1]}
        aside = -0.16 if row.search == "random" else 0.16
        x = min(row.sup_ratio, CEILING)
        axis.plot(x, names.index(row.bound) + aside, markersize=4.5, linestyle="none", **look)
    axis.axvline(1, color="0.3", linewidth=0.9, linestyle="--")
    axis.set(
        xlabel="largest left side / right side",
        yticks=range(len(names)),
        ylim=(len(names) - 0.4, -0.6),
    )
    axis.set_yticklabels([name.removesuffix("-corrected") for name in names], fontsize=7)
    axis.grid(axis="y", color="0.92", linewidth=0.6)
    if (table.sup_ratio > 1.5).any():
        axis.set_xscale("log")
        ticks = [0.1, 1, 10, 100, 1000, CEILING]
        powers = range(-1, 4)
        axis.set_xticks(ticks, [f"$10^{{{power}}}$" for power in powers] + ["$\\geq 10^4$"])
        axis.set_xlim(0.15, 2 * CEILING)
    else:
        axis.set_xlim(0, 1.1)


def lipschitz(lipschitz: pd.DataFrame) -> Drawn:
    """sup |J| of softmax attention against |T|_F, and sqrt(D) sup |J| of l2 against N."""
    figure, axes = plt.subplots(1, 2, figsize=(style.PAGE, 3.0))
    softmax = lipschitz[lipschitz.attention == "softmax"]
    softmax = _tops(softmax, "norm")
    l2 = _tops(lipschitz[lipschitz.attention == "l2"], "N").assign(
        J=lambda table: table.J * np.sqrt(table.D)
    )
    searches = {"ascent": ("gradient ascent", "o"), "family": ("explicit family", "x")}
    for colour, (D, own) in zip(style.PALETTE, softmax.groupby("D"), strict=False):
        for search, (label, marker) in searches.items():
            rows = own[own.search == search]
            look = {"marker": marker, "color": colour, "linestyle": "none", "markersize": 5}
            axes[0].plot(rows.x, rows.J, label=f"$D = {D}$, {label}", **look)
        x = np.array([own.x.min(), own.x.max()])
        line = {"color": colour, "linewidth": 1}
        axes[0].plot(x, x**2 / (2 * np.sqrt(D)), label=f"$|T|_F^2 / (2\\sqrt{{{D}}})$", **line)
    axes[0].set(
        xscale="log",
        yscale="log",
        xlabel="norm of the tokens, $|T|_F$",
        ylabel="largest $|J|_2$ found",
        title="softmax attention",
    )
    # In these units l2 attention is the same for every D on a line; of the rest the best is shown.
    for colour, (search, (label, marker)) in zip(style.PALETTE[2:], searches.items(), strict=False):
        rows = l2[l2.search == search].groupby("x").J.max()
        look = {"marker": marker, "color": colour, "linestyle": "none", "markersize": 5}
        axes[1].plot(rows.index, rows, label=label, **look)
    if len(l2):
        N = np.geomspace(max(l2.x.min(), 2), l2.x.max(), 100)
        axes[1].plot(N, np.log(N), color="0.3", linewidth=1, label="$\\log N$")
        line = {"color": "0.3", "linewidth": 1, "linestyle": "--"}
        axes[1].plot(N, np.sqrt(N * np.log(N)), label="$\\sqrt{N \\log N}$", **line)
        axes[1].set_ylim(0, 1.6 * l2.J.max())
    axes[1].set(
        xscale="log",
        xlabel="number of tokens, $N$",
        ylabel="largest $\\sqrt{D}\\,|J|_2$ found",
        title="$\\ell_2$ attention",
    )
    ticks = [n for n in (2, 4, 16, 64, 256, 1024, 4096) if n <= max(l2.x.max(), 2)]
    axes[1].set_xticks(ticks, [str(n) for n in ticks])
    axes[1].xaxis.set_minor_locator(NullLocator())
    for axis in axes:
        axis.legend(fontsize=6.5)
    return figure, pd.concat([softmax, l2], ignore_index=True)


def _tops(rows: pd.DataFrame, x: str) -> pd.DataFrame:
    """The largest |J| by attention, D, search and the variable x, over seeds and the rest."""
    found = rows.groupby(["attention", "D", "search", x]).J.max().reset_index()
    return found.rename(columns={x: "x"}).assign(variable=x)


FIGURES = {"bounds": bounds, "lipschitz": lipschitz}
