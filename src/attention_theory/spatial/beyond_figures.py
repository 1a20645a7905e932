"""Figures of experiment 8: functions from tables to (figure, table of what it shows)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attention_theory import style
from attention_theory.spatial.verdicts import ACCURACY

Drawn = tuple[Figure, pd.DataFrame]

DARK = 0.98  # accuracies up to here share the darkest colour: those that matter lie above

_KINDS = {  # of a constructed model: label, marker
    "pairs": ("in pairs", "o"),
    "wrong": ("one patch wrong", "s"),
}
_KNOWLEDGE = {
    "known": "own set, partition known",
    "common": "common set, unknown",
    "own": "own set, unknown",
}


def unassociated(unassociated: pd.DataFrame) -> Drawn:
    """Association and accuracy over (beta, g_0), and the accuracy of constructed models."""
    trained = unassociated[unassociated.kind == "trained"]
    measures = ["patch_association", "accuracy"]
    cells = trained.groupby(["beta", "g_0"])[measures].mean().reset_index()
    written = unassociated[unassociated.kind != "trained"].assign(error=lambda t: 1 - t.accuracy)
    figure, axes = plt.subplots(1, 3, figsize=(style.PAGE, 2.6), width_ratios=(1, 1, 0.85))
    looks = (("patch association", 0, 2), ("test accuracy", DARK, 3))
    for axis, measure, look in zip(axes, measures, looks, strict=False):
        grid = cells.pivot(index="g_0", columns="beta", values=measure)
        _draw_balance(axis, grid, int(trained.C.iloc[0]))
        _draw_map(axis, grid, *look)
    _draw_constructed(axes[2], written)
    shown = ["kind", "D", "beta", "g_0", "alpha_D", "patch_association", "accuracy"]
    D = int(trained.D.iloc[0])
    return figure, pd.concat([cells.assign(kind="trained", D=D), written])[shown]


def _draw_map(axis: Axes, grid: pd.DataFrame, label: str, lowest: float, digits: int) -> None:
    """A number a cell, beta across and g_0 upwards; colours from `lowest` to 1."""
    values = grid.to_numpy()
    look = {"origin": "lower", "aspect": "auto", "cmap": style.SIMILARITY_MAP}
    image = axis.imshow(values, vmin=lowest, vmax=1, **look)
    for (row, column), value in np.ndenumerate(values):
        text = f"{value:.{digits}f}".removeprefix("0")
        colour = "white" if image.norm(value) < 0.6 else "black"
        axis.text(column, row, text, ha="center", va="center", fontsize=7, color=colour)
    axis.set(
        title=label,
        xlabel="diagonal $\\beta$",
        ylabel="attention at the start, $g_0$",
        xticks=range(grid.shape[1]),
        xticklabels=[f"{value:g}" for value in grid.columns],
        yticks=range(grid.shape[0]),
        yticklabels=[f"{value:g}" for value in grid.index],
    )
    axis.spines[["top", "right"]].set_visible(True)


def _draw_balance(axis: Axes, grid: pd.DataFrame, C: int) -> None:
    """Where C patches at g_0 weigh as much above the background as the diagonal: equal pulls."""
    betas, g_0s = grid.columns.to_numpy(), grid.index.to_numpy()
    beta = np.linspace(max(betas.min(), 0), betas.max(), 200)
    g_0 = np.log1p(np.expm1(beta) / C)
    beta, g_0 = beta[g_0 <= g_0s.max()], g_0[g_0 <= g_0s.max()]
    # Cells stand at 0, 1, 2, ... whatever the steps of beta and g_0.
    x, y = np.interp(beta, betas, range(len(betas))), np.interp(g_0, g_0s, range(len(g_0s)))
    axis.plot(x, y, color=style.PALETTE[3], linewidth=1.5, linestyle=(0, (4, 2)), alpha=0.8)


def _draw_constructed(axis: Axes, written: pd.DataFrame) -> None:
    """The test error of each kind of constructed model, a point a D (its best alpha D)."""
    for colour, (kind, (label, marker)) in zip(style.PALETTE, _KINDS.items(), strict=False):
        best = written[written.kind == kind].groupby("D").error.min()
        # No error among the test samples says only that it is below about one in their number.
        floor = 1 / written.test.min()
        axis.plot(best.index, best.clip(lower=floor), color=colour, marker=marker, label=label)
        for D in best.index[best < floor]:
            arrow = {"arrowstyle": "->", "color": colour}
            axis.annotate("", (D, floor / 3), (D, floor), arrowprops=arrow)
    axis.axhline(1 - ACCURACY, color="0.4", linewidth=0.9, linestyle=":")
    axis.set(xscale="log", yscale="log", xlabel="number of patches $D$", ylabel="test error")
    axis.set(title="association 0, by construction", ylim=(floor / 4, None))
    axis.title.set_fontsize(8)
    sizes = sorted(written.D.unique())
    axis.set_xticks(sizes, [f"{D}" for D in sizes])
    axis.minorticks_off()
    axis.legend(loc="lower left", fontsize=7)


def planted(planted: pd.DataFrame) -> Drawn:
    """TV(D_1, D_2) against q m / C^2, a line a C; and against n by what is known of the set."""
    ratio = planted[planted.curve == "ratio"].assign(ratio=lambda t: t.q * t.m / t.C**2)
    samples = planted[planted.curve == "samples"]
    figure, axes = plt.subplots(1, 2, figsize=(style.PAGE, 2.9))
    _draw_scaling(axes[0], ratio)
    _draw_samples(axes[1], samples)
    columns = ["curve", "C", "q", "m", "ratio", "knowledge", "n", "tv", "error"]
    return figure, pd.concat([ratio, samples])[columns]


def _draw_scaling(axis: Axes, ratio: pd.DataFrame) -> None:
    sizes = sorted(ratio.C.unique())
    colours = sns.color_palette(style.SIMILARITY_MAP, len(sizes))
    # The curves lie on one another: larger C in smaller circles, so that all can be seen.
    widths = np.linspace(9, 2.5, len(sizes))
    for colour, C, width in zip(colours, sizes, widths, strict=True):
        one = ratio[ratio.C == C].sort_values("ratio")
        look = {"marker": "o", "markersize": width, "color": colour, "markeredgewidth": 0}
        axis.plot(one.ratio, one.tv, linestyle="none", label=f"$C = {C}$", **look)
    x = np.geomspace(max(ratio.ratio.min(), 1 / np.pi), ratio.ratio.max(), 100)
    label = "$C / \\sqrt{\\pi q m}$"
    axis.plot(x, 1 / np.sqrt(np.pi * x), color="black", linestyle="--", linewidth=1, label=label)
    axis.set(xscale="log", yscale="log", xlabel="$q\\,m / C^2$", ylabel="total variation")
    axis.set_title("one sample, set unknown")
    axis.legend(fontsize=7, ncols=2, columnspacing=1, loc="lower left")


def _draw_samples(axis: Axes, samples: pd.DataFrame) -> None:
    C, q = samples.C.iloc[0], samples.q.iloc[0]
    sizes = dict(zip(sorted(samples.m.unique()), ("-", "--", ":", "-."), strict=False))
    expected = {"own": lambda m: q * m / C**2, "common": lambda m: np.log(m) / np.log(2 / q)}
    for colour, (knowledge, name) in zip(style.PALETTE, _KNOWLEDGE.items(), strict=False):
        axis.plot([], [], color=colour, label=name)
        for m, line in sizes.items():
            one = samples[(samples.knowledge == knowledge) & (samples.m == m)].sort_values("n")
            look = {"marker": ".", "color": colour, "linestyle": line}
            axis.plot(one.n, one.tv, **look)
            n = expected.get(knowledge, lambda _: 0)(m)
            if n >= 1:
                star = {"marker": "*", "color": "black", "markersize": 8, "linestyle": "none"}
                axis.plot(n, np.interp(np.log(n), np.log(one.n), one.tv), zorder=3, **star)
    for m, line in sizes.items():
        axis.plot([], [], color="0.3", linestyle=line, label=f"$m = {m}$")
    axis.legend(fontsize=7, loc="lower right")
    axis.set(xscale="log", xlabel="number of samples $n$", ylabel="total variation")
    axis.set(title=f"$n$ samples, $C = {C}$, $q = {q:g}$", ylim=(0, 1.03))


def encodings(encodings: pd.DataFrame) -> Drawn:
    """Association and accuracy where P is trained, a point a seed, by how P starts."""
    names = {}
    for kind in encodings[["parametrisation", "diagonal", "m"]].drop_duplicates().itertuples():
        names[kind[1:]] = f"{kind.parametrisation}\n{kind.diagonal}, $m = {kind.m}$"
    keys = zip(encodings.parametrisation, encodings.diagonal, encodings.m, strict=True)
    place = encodings.assign(kind=[list(names).index(key) for key in keys])
    figure, axes = plt.subplots(1, 2, figsize=(style.PAGE, 2.6))
    width = 0.5 / max(place.seed.max(), 1)
    x = place.kind + (place.seed - place.seed.max() / 2) * width
    colours = [style.PALETTE[kind] for kind in place.kind]
    highest = {"facecolors": "none", "edgecolors": colours, "s": 40}
    axes[0].scatter(x, place.patch_association_max, label="highest while training", **highest)
    axes[0].scatter(x, place.patch_association, c=colours, s=12, label="at the end")
    axes[1].scatter(x, place.accuracy, c=colours, s=12)
    axes[0].set_ylabel("patch association")
    axes[0].legend(loc="lower right", fontsize=7)
    axes[1].set_ylabel("test accuracy")
    axes[1].axhline(ACCURACY, color="0.4", linewidth=0.9, linestyle=":")
    for axis in axes:
        axis.set_xticks(range(len(names)), names.values(), fontsize=7)
        axis.set(xlim=(-0.5, len(names) - 0.5), xlabel="start of $P$ and diagonal of $A = P^TP$")
    columns = "parametrisation diagonal m seed patch_association_max patch_association accuracy"
    return figure, encodings[columns.split()]


FIGURES = {"unassociated": unassociated, "planted": planted, "encodings": encodings}
