"""The figures of transfer: functions from its table to (figure, table of what is shown)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attention_theory import style
from attention_theory.spatial import transfer_scaling as scaling
from attention_theory.statistics import Slope

Drawn = tuple[Figure, pd.DataFrame]

_KINDS = {  # name in the table: label, marker, colour
    "learned": ("learned", "o", style.PALETTE[0]),
    "permuted": ("learned, then permuted", "s", style.PALETTE[1]),
    "zero": ("zero off the diagonal", "^", style.PALETTE[2]),
    "scratch": ("trained from scratch", "D", style.PALETTE[3]),
}
_OPTIMISERS = {"gd": "gradient descent", "one_step": "one normalised step"}
LOW, HIGH = 0.1, 0.9  # the quantiles of the bands


def transfer(transfer: pd.DataFrame) -> Drawn:
    """Accuracy against N~ by kind of attention: a row an optimiser, a column a D."""
    table = _quantiles(scaling.standard(scaling.fixed(transfer)), "samples")
    sizes = sorted(table.D.unique())
    figure, axes = plt.subplots(
        2, len(sizes), figsize=(style.PAGE, 4.3), sharex=True, sharey=True, squeeze=False
    )
    for row, (optimiser, name) in zip(axes, _OPTIMISERS.items(), strict=True):
        for axis, D in zip(row, sizes, strict=True):
            shown = table[(table.D == D) & (table.optimiser == optimiser)]
            _draw_kinds(axis, shown, "samples")
        row[0].set_ylabel(f"test accuracy\n{name}")
    axes[0, 0].set_xscale("log", base=2)
    # Below one half lie the draws that learned the feature's sign wrong.
    axes[0, 0].set_ylim(0.47, 1.01)
    ticks = [1, 16, 256, 4096]
    ticks = [tick for tick in ticks if tick <= table.samples.max()]
    axes[0, 0].set_xticks(ticks, [f"{tick}" for tick in ticks])
    for axis, D in zip(axes[0], sizes, strict=True):
        axis.set_title(f"$D = {D}$, $d = {table[table.D == D].d.iloc[0]}$")
    for axis in axes[1]:
        axis.set_xlabel("downstream samples $\\tilde N$")
    _legend_below(figure, axes[0, 0])
    return figure, table


def one_step(transfer: pd.DataFrame) -> Drawn:
    """Accuracy against the length of the one normalised step, by kind of attention."""
    steps = transfer[transfer.optimiser == "one_step"]
    scanned = steps.merge(steps[steps.scan.astype(bool)][["D", "d", "samples"]].drop_duplicates())
    scanned = scanned.assign(length=(scanned.step_size * scanned.D).round(9))
    table = _quantiles(scanned, "length")
    sizes = sorted(table.D.unique())
    width = style.PAGE if len(sizes) > 1 else style.COLUMN
    figure, axes = plt.subplots(
        1, len(sizes), figsize=(width, 2.7), sharex=True, sharey=True, squeeze=False
    )
    for axis, D in zip(axes[0], sizes, strict=True):
        shown = table[table.D == D]
        _draw_kinds(axis, shown, "length")
        samples = scanned[scanned.D == D].samples.iloc[0]
        title = f"$D = {D}$, $d = {shown.d.iloc[0]}$, $\\tilde N = {samples}$"
        axis.set(xscale="log", xlabel="step length $\\times\\, D$", title=title)
    axes[0, 0].set_ylabel("test accuracy")
    _legend_below(figure, axes[0, 0])
    return figure, table


def _quantiles(runs: pd.DataFrame, x: str) -> pd.DataFrame:
    """Median and band over draws and seeds of each kind, against the column `x`."""
    groups = runs.groupby(["D", "d", "attention", "optimiser", x]).accuracy
    table = groups.quantile([LOW, 0.5, HIGH]).unstack()
    table.columns = ["low", "median", "high"]
    return table.assign(draws=groups.size()).reset_index()


def _draw_kinds(axis: Axes, table: pd.DataFrame, x: str) -> None:
    for kind, (label, marker, colour) in _KINDS.items():
        curve = table[table.attention == kind]
        look = {"marker": marker, "color": colour, "markersize": 3.5, "linewidth": 1.2}
        axis.plot(curve[x], curve["median"], label=label, **look)
        axis.fill_between(curve[x], curve.low, curve.high, color=colour, alpha=0.2, linewidth=0)
    axis.axhline(scaling.ENOUGH, color="0.5", linewidth=0.8, linestyle=":")


def _legend_below(figure: Figure, axis: Axes) -> None:
    """One legend for all panels, of the kinds that have a curve in one of them."""
    found = {}
    for panel in figure.axes:
        for line, label in zip(*panel.get_legend_handles_labels(), strict=True):
            if len(line.get_xdata()):
                found.setdefault(label, line)
    figure.legend(found.values(), found, loc="outside lower center", ncols=len(found))


_SERIES = (  # attention, optimiser, level, label, marker, colour
    ("scratch", "gd", scaling.HALF, "from scratch, median", "D", style.PALETTE[3]),
    ("learned", "one_step", scaling.MOST, "learned, one step, 9 in 10", "v", style.PALETTE[4]),
    ("learned", "gd", scaling.MOST, "learned, GD, 9 in 10", "o", style.PALETTE[0]),
    ("learned", "gd", scaling.HALF, "learned, GD, median", "s", style.PALETTE[9]),
)


def transfer_scaling(transfer: pd.DataFrame) -> Drawn:
    """N95 against D at d = D and at fixed d, a point a seed, with fitted exponents."""
    fixed = scaling.fixed(transfer)
    dimensions = ", ".join(f"{d}" for d in sorted(fixed.d.unique()))
    panels = {"$d = D$": scaling.wide(transfer), f"$d = {dimensions}$": fixed}
    figure, axes = plt.subplots(1, 2, figsize=(style.PAGE, 4.0), sharey=True)
    shown = [
        _draw_scaling(axis, runs).assign(panel=title.strip("$"))
        for axis, (title, runs) in zip(axes, panels.items(), strict=True)
    ]
    sizes = sorted(transfer.D.unique())
    for axis, title in zip(axes, panels, strict=True):
        axis.set(xscale="log", yscale="log", xlabel="number of patches $D$", title=title)
        axis.set_xticks(sizes, [f"{D}" for D in sizes])
        axis.minorticks_off()
        axis.set(xlim=(sizes[0] / 1.15, sizes[-1] * 1.15), ylim=(0.7, None))
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2)}
        axis.legend(title="exponent in $D$", alignment="left", **place)
    axes[0].set_ylabel("samples to accuracy .95, $N_{95}$")
    return figure, pd.concat(shown, ignore_index=True)


def _draw_scaling(axis: Axes, runs: pd.DataFrame) -> pd.DataFrame:
    """Every series of one panel; returns its points, each with its series' exponent."""
    shown = []
    for attention, optimiser, level, label, marker, colour in _SERIES:
        chosen = runs[(runs.attention == attention) & (runs.optimiser == optimiser)]
        points = scaling.by_seed(chosen, level)
        slope = scaling.exponent(points)
        said = f"{label}: {_exponent(points, slope)}"
        _draw_points(axis, points, said, marker, colour, fitted=slope is not None)
        value, error = (np.nan, np.nan) if slope is None else (slope.slope, slope.error)
        shown.append(points.assign(exponent=value, error=error))
    return pd.concat(shown, ignore_index=True)


def _exponent(points: pd.DataFrame, slope: Slope | None) -> str:
    """The exponent with its standard error, or why there is none."""
    if slope is not None:
        return f"${slope.slope + 0.0:.2f} \\pm {slope.error:.2f}$"
    missing = int((points.known == scaling.NOT_REACHED).sum())
    return f"{missing} of {len(points)} not reached" if missing else "not fitted"


def _draw_points(
    axis: Axes, points: pd.DataFrame, label: str, marker: str, colour: tuple, fitted: bool
) -> None:
    """A point a seed (beside each other; hollow: a bound), and the fitted power through them."""
    shift = 1 + 0.03 * (points.seed - points.seed.mean())
    known = points.known == scaling.KNOWN
    look = {"marker": marker, "color": colour, "markersize": 4.5, "markeredgewidth": 0.6}
    axis.plot(points.D[known] * shift[known], points.n95[known], linestyle="none", **look)
    hollow = look | {"linestyle": "none", "fillstyle": "none"}
    axis.plot(points.D[~known] * shift[~known], points.n95[~known], **hollow)
    if fitted:
        D = np.array([points.D.min(), points.D.max()], dtype=float)
        slope, offset = np.polyfit(np.log(points.D), np.log(points.n95), 1)
        axis.plot(D, np.exp(offset) * D**slope, color=colour, linewidth=1.2)
    full = "full" if fitted else "none"
    line = "-" if fitted else "none"
    axis.plot([], [], label=label, linestyle=line, fillstyle=full, linewidth=1.2, **look)


FIGURES = {"transfer": transfer, "transfer_scaling": transfer_scaling, "one_step": one_step}
