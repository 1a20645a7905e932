"""Figures of experiments 3 and 4: functions from tables to (figure, table of what it shows)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from attention_theory import style
from attention_theory.spatial.population_settings import Point, Sets
from attention_theory.spatial.reduced import softmax
from attention_theory.spatial.settings import Architecture
from attention_theory.statistics import log_log_slope, t_interval

Drawn = tuple[Figure, pd.DataFrame]

_LINES = {"-": "within sets", "--": "across sets"}  # entries of A
_X = {"N": "number of samples $N$", "step": "step"}
_STARTS = {"gaussian": ("Gaussian start", "o"), "symmetric": ("symmetric start", "s")}
_SOFTMAX = {
    "D_Lambda": "$D\\,\\Lambda$, itself",
    "D_Gamma": "$D\\,\\Gamma$, its set",
    "D_Xi": "$D\\,\\Xi$, others",
    "denominator": "denominator$\\,/\\,D$",
}
_PROCESSES = {  # of the panels that show several: label, line
    "idealised": ("idealised", "-"),
    "semi-idealised": ("semi-idealised", "--"),
    "gaussian": ("realistic", ":"),
}


def invariance(invariance: pd.DataFrame, coupling: pd.DataFrame) -> Drawn:
    """What a finite sample does to A (above) and v (below): to one gradient, and in training."""
    runs = coupling[(coupling.process == "symmetric") & (coupling.step > 0)]
    runs = runs.assign(ratio=runs.v_orthogonal / runs.alpha.abs())
    steps = np.array(sorted(runs.step.unique()))
    late = runs[runs.step.isin(steps[np.array([1, 2, 4]) * len(steps) // 4 - 1])]
    gaps = invariance.groupby("step")[["d_gamma", "d_rho"]].transform("mean")
    gap = (gaps.d_gamma - gaps.d_rho).abs()
    spreads = ["d_gamma_spread", "d_rho_spread"]
    gradients = invariance.assign(**{name: invariance[name] / gap for name in spreads})
    panels = (
        (gradients, spreads, "N", "gradient's spread\nwithin classes / their gap"),
        (late, ["gamma_spread", "rho_spread"], "N", "spread of $A$ within classes"),
        (runs, ["gamma_spread"], "step", "spread of $A$ within sets"),
        (gradients, ["d_orthogonal"], "N", "gradient of $v$ across $w^*$"),
        (late, ["ratio"], "N", "$|v_\\perp| \\,/\\, |\\alpha|$"),
        (runs, ["ratio"], "step", "$|v_\\perp| \\,/\\, |\\alpha|$"),
    )
    figure, axes = plt.subplots(2, 3, figsize=(style.PAGE, 4.3))
    shown = []
    for axis, (table, measures, x, label) in zip(axes.flat, panels, strict=True):
        for measure, line in zip(measures, _LINES, strict=False):
            band = _bands(table, ["step", "N"], measure, logarithmic=True)
            colours = "N" if x == "step" else "step"
            _draw_bands(axis, band, x, colours, line=line, named=line == "-")
            shown.append(band.assign(panel="gradient" if table is gradients else "training"))
        axis.set(ylabel=label)
        if measures == spreads:
            for line, name in _LINES.items():
                axis.plot([], [], color="0.3", linestyle=line, label=name)
        _scale(axis, x, table.N)
        axis.legend(fontsize=6.5, handlelength=1.3, ncols=2, loc="lower center", columnspacing=1)
    titles = ("one gradient, from symmetry", "training from symmetry", "training from symmetry")
    for axis, title in zip(axes[0], titles, strict=True):
        axis.set_title(title, fontsize=8)
    return figure, pd.concat(shown, ignore_index=True)


def idealised_realistic(coupling: pd.DataFrame) -> Drawn:
    """alpha, gamma and rho of both processes over training; their distance at the end by N."""
    realistic = coupling[coupling.process == "gaussian"]
    idealised = coupling[coupling.process == "idealised"].sort_values("step")
    figure, axes = plt.subplots(2, 2, figsize=(style.PAGE, 4.6))
    names = {"alpha": "$\\alpha$", "gamma": "$\\gamma$", "rho": "$\\rho$"}
    shown = [idealised[["step", *names]].melt("step", var_name="measure", value_name="mean")]
    for axis, (name, label) in zip(axes.flat, names.items(), strict=False):
        band = _bands(realistic, ["step", "N"], name)
        _draw_bands(axis, band, "step", "N")
        axis.plot(idealised.step, idealised[name], color="black", linewidth=1.5, label="idealised")
        axis.set(xlabel=_X["step"], ylabel=label)
        shown.append(band)
    axes[0, 0].legend(fontsize=7, ncols=2)
    shown.append(_draw_distances(axes[1, 1], coupling))
    return figure, pd.concat(shown, ignore_index=True)


def _draw_distances(axis: Axes, coupling: pd.DataFrame) -> pd.DataFrame:
    """The distance at the last step, a point a seed, with the fitted powers of N."""
    ended = coupling[coupling.step == coupling.step.max()]
    for colour, (process, (label, marker)) in zip(style.PALETTE, _STARTS.items(), strict=False):
        runs = ended[ended.process == process]
        look = {"marker": marker, "markersize": 4, "linestyle": "none", "color": colour}
        # Side by side: the two starts on one sample end nearly at the same distance.
        aside = 1.04 if process == "gaussian" else 1 / 1.04
        if runs.N.nunique() >= 3:
            slope = log_log_slope(runs.N, runs.distance)
            centre = np.log(runs.distance).mean() - slope.slope * np.log(runs.N).mean()
            x = np.array([runs.N.min(), runs.N.max()])
            axis.plot(x, np.exp(centre) * x**slope.slope, color=colour, linewidth=1)
            label += f": $N^{{{slope.slope:.2f} \\pm {slope.error:.2f}}}$"
        axis.plot(runs.N * aside, runs.distance, label=label, alpha=0.8, **look)
    axis.set(ylabel="distance at the end")
    _scale(axis, "N", ended.N.dropna())
    axis.legend(fontsize=7, loc="lower left")
    runs = ended[ended.process.isin(_STARTS)]
    points = runs[["process", "N", "seed", "step", "distance"]]
    return points.rename(columns={"distance": "mean"}).assign(measure="distance")


def induction(coupling: pd.DataFrame) -> Drawn:
    """The ranges of the induction hypothesis, and the semi-idealised process, along training."""
    semi = coupling[coupling.process == "semi-idealised"]
    N = semi.N.max()
    of_N = coupling[coupling.process.isin(_PROCESSES) & (coupling.N.isna() | (coupling.N == N))]
    of_N = pd.concat([of_N, _softmaxes(of_N)], axis=1)
    realistic = of_N[of_N.process == "gaussian"]
    figure, axes = plt.subplots(1, 3, figsize=(style.PAGE, 2.7))
    shown = []
    curves = (
        (axes[0], list(_SOFTMAX), _SOFTMAX),
        (axes[1], ["gamma", "rho"], {"gamma": "$\\gamma$", "rho": "$\\rho$"}),
    )
    for axis, measures, labels in curves:
        for colour, measure in zip(style.PALETTE, measures, strict=False):
            axis.plot([], [], color=colour, label=labels[measure])
            for process, (_, line) in _PROCESSES.items():
                band = _bands(of_N[of_N.process == process], ["step"], measure)
                _draw_band(axis, band, "step", color=colour, linestyle=line)
                shown.append(band.assign(process=process))
    for label, line in _PROCESSES.values():
        axes[1].plot([], [], color="0.3", linestyle=line, label=label)
    gaps = (
        (semi[semi.N == N], "delta_A", "$\\Delta_A$"),
        (realistic, "v_orthogonal", "$\\varepsilon_v = |\\hat v_\\perp|$"),
    )
    for colour, (table, measure, label) in zip(style.PALETTE, gaps, strict=False):
        band = _bands(table, ["step"], measure, logarithmic=True)
        _draw_band(axes[2], band, "step", color=colour, label=label)
        shown.append(band)
    axes[0].set(ylabel="softmax of a row, times $D$")
    axes[1].set(ylabel="entries of $A$", xlabel=_X["step"])
    axes[2].set(ylabel="off the semi-idealised process")
    for axis in (axes[0], axes[2]):
        _scale(axis, "step", of_N.N)
    for axis in axes:
        axis.legend(fontsize=6.5)
    axes[0].legend(fontsize=6.5, ncols=2, loc="lower center", columnspacing=0.7, handlelength=1)
    figure.suptitle(f"realistic: $N = {N:.0f}$", fontsize=8)
    return figure, pd.concat(shown, ignore_index=True)


def _softmaxes(rows: pd.DataFrame) -> pd.DataFrame:
    """D times the softmax of a row of A, and its denominator over D, from beta, gamma and rho."""
    found = []
    for row in rows.itertuples():
        sets, architecture = Sets(row.D, row.C, row.q), Architecture(row.p, row.nu, row.beta)
        S = softmax(sets, architecture, Point(row.alpha, row.gamma, row.rho))
        found.append([row.D * weight for weight in S] + [np.exp(row.beta) / S.Lambda / row.D])
    return pd.DataFrame(found, columns=list(_SOFTMAX), index=rows.index)


def _bands(
    table: pd.DataFrame, by: list[str], measure: str, logarithmic: bool = False
) -> pd.DataFrame:
    """Mean and 95 % Student interval over seeds (of logarithms: a geometric mean) by group."""
    there, back = (np.log, np.exp) if logarithmic else (np.asarray, np.asarray)
    rows = [
        (*key, *map(float, back(t_interval(there(values))[:3])), len(values))
        for key, values in table.groupby(by)[measure]
    ]
    columns = [*by, "mean", "ci_low", "ci_high", "n"]
    return pd.DataFrame(rows, columns=columns).assign(measure=measure)


def _draw_bands(
    axis: Axes, bands: pd.DataFrame, x: str, colours: str, line: str = "-", named: bool = True
) -> None:
    """A line with its band for each value of the column `colours`, dark to light."""
    values = sorted(bands[colours].unique())
    palette = sns.color_palette(style.SIMILARITY_MAP, len(values) + 1)[: len(values)]
    for colour, value in zip(palette, values, strict=True):
        name = f"$N = {value:.0f}$" if colours == "N" else f"step {value:.0f}"
        look = {"color": colour, "linestyle": line, "label": name if named else None}
        _draw_band(axis, bands[bands[colours] == value], x, **look)


def _draw_band(axis: Axes, band: pd.DataFrame, x: str, **look: object) -> None:
    axis.plot(band[x], band["mean"], linewidth=1.2, **look)
    axis.fill_between(band[x], band.ci_low, band.ci_high, color=look["color"], alpha=0.2, lw=0)


def _scale(axis: Axes, x: str, samples: pd.Series) -> None:
    """Logarithmic axes with few, plain ticks and room for a legend below; 1 / sqrt(N) against N."""
    axis.set(yscale="log", xlabel=_X[x])
    if x == "N":
        sizes = sorted(samples.unique())
        y = max(line.get_ydata().max() for line in axis.get_lines() if len(line.get_ydata()))
        root = y * np.sqrt(sizes[0] / np.array([sizes[0], sizes[-1]]))
        look = {"color": "0.4", "linestyle": (0, (1, 1.5)), "linewidth": 1.3, "zorder": 0}
        axis.plot([sizes[0], sizes[-1]], root, label="$1/\\sqrt{N}$", **look)
        axis.set_xscale("log")
        axis.set_xticks(sizes[::2], [f"{size:.0f}" for size in sizes[::2]])
        axis.xaxis.set_minor_locator(NullLocator())
    low, high = axis.get_ylim()
    axis.set_ylim(low * (low / high) ** 0.4, high)
    wide = high / low > 100
    axis.yaxis.set_major_locator(LogLocator(subs=(1,) if wide else (1, 2, 5)))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


FIGURES = {
    "invariance": invariance,
    "idealised_realistic": idealised_realistic,
    "induction": induction,
}
