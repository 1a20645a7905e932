"""The figures of the study `spatial`: functions from tables to (figure, table of what it shows)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import CenteredNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from attention_theory import figures, style
from attention_theory.spatial import (
    beyond_figures,
    coupling_figures,
    distribution,
    gaussian_figures,
    population_figures,
    transfer_figures,
)
from attention_theory.spatial.inputs import INPUTS
from attention_theory.spatial.settings import Distribution
from attention_theory.spatial.sweep_figures import cost, sweeps
from attention_theory.statistics import t_interval
from attention_theory.streams import stream

Drawn = tuple[Figure, pd.DataFrame]

# The sketch's data point is small enough to read: 6 x 6 patches in sets of four.
SKETCH = Distribution(D=36, C=4, d=2, q=0.35)


def data() -> Drawn:
    """A data point, and a contiguous and a scattered partition of its patches."""
    rng = stream(0, "spatial.figures.data")
    side = int(np.sqrt(SKETCH.D))
    rows, columns = np.divmod(np.arange(SKETCH.D), side)
    # Contiguous sets are blocks of 2 x 2 neighbours, as a convolution would see them.
    blocks = rows // 2 * (side // 2) + columns // 2
    scattered = distribution.draw_partition("scattered", SKETCH, rng)
    table = pd.DataFrame({"row": rows, "column": columns})
    for kind, partition in (("contiguous", blocks), ("scattered", scattered)):
        patterns = distribution.sample_patterns(SKETCH, partition, 1, rng)
        table[f"set_{kind}"] = partition
        table[f"z_{kind}"] = patterns.z[0] * patterns.y[0]  # shown for the label +1
        table[f"signal_{kind}"] = partition == patterns.signal[0]
    figure, axes = plt.subplots(2, 2, figsize=(style.PAGE * 0.72, style.PAGE * 0.75))
    for column, kind in enumerate(("contiguous", "scattered")):
        partition, signal = table[f"set_{kind}"], table[f"signal_{kind}"]
        _draw_partition(axes[0, column], partition.to_numpy().reshape(side, side))
        axes[0, column].set_title(f"{kind} sets")
        z = table[f"z_{kind}"].to_numpy().reshape(side, side)
        _draw_pattern(axes[1, column], z, signal.to_numpy().reshape(side, side))
    axes[0, 0].set_ylabel("partition\n(number and colour: set)")
    axes[1, 0].set_ylabel("a data point, y = +1\n(outlined: signal set)")
    handles = [
        Rectangle((0, 0), 1, 1, facecolor=color, edgecolor="0.8")
        for color in (*_PATTERN_COLOURS, "none")
    ]
    handles[3].set(edgecolor="black", linewidth=1.8)
    labels = ["feature $-w^*$", "noise only", "feature $+w^*$", "signal set"]
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure, table


_PATTERN_COLOURS = [style.PALETTE[1], (1, 1, 1), style.PALETTE[0]]


def _draw_partition(axes: Axes, partition: np.ndarray) -> None:
    colours = sns.color_palette("pastel", 10)[: partition.max() + 1]
    axes.imshow(partition, cmap=ListedColormap(colours), vmin=0, vmax=partition.max())
    for (row, column), index in np.ndenumerate(partition):
        axes.text(column, row, str(index + 1), ha="center", va="center", fontsize=8)
    _draw_grid(axes, len(partition))


def _draw_pattern(axes: Axes, z: np.ndarray, signal: np.ndarray) -> None:
    axes.imshow(z, cmap=ListedColormap(_PATTERN_COLOURS), vmin=-1, vmax=1)
    for (row, column), value in np.ndenumerate(z):
        if value:
            colour = "white" if value > 0 else "black"
            sign = "+" if value > 0 else "\N{MINUS SIGN}"
            axes.text(column, row, sign, ha="center", va="center", color=colour)
    _draw_grid(axes, len(z))
    for row, column in np.argwhere(signal):
        corner = (column - 0.46, row - 0.46)
        axes.add_patch(Rectangle(corner, 0.92, 0.92, fill=False, edgecolor="black", linewidth=1.8))


def _draw_grid(axes: Axes, side: int) -> None:
    axes.set(xticks=[], yticks=[])
    for line in np.arange(0.5, side - 1):
        axes.axhline(line, color="0.75", linewidth=0.5)
        axes.axvline(line, color="0.75", linewidth=0.5)


def attention(model: dict[str, np.ndarray]) -> Drawn:
    """The off-diagonal entries of A at start and end: patches as drawn, and ordered by set."""
    partition = model["partition"]
    order = np.argsort(partition, kind="stable")
    states = {"start": model["A_initial"], "end": model["A"]}
    figure, axes = plt.subplots(2, 2, figsize=(style.PAGE * 0.8, style.PAGE * 0.75))
    for row, (state, A) in zip(axes, states.items(), strict=True):
        shown = A.copy()
        np.fill_diagonal(shown, np.nan)
        # Each state has a scale of its own: the entries grow a thousandfold.
        norm = CenteredNorm(halfrange=np.nanmax(np.abs(shown)))
        for axis, view in zip(row, (shown, shown[np.ix_(order, order)]), strict=True):
            image = axis.imshow(view, cmap=style.DIFFERENCE_MAP, norm=norm)
            axis.spines[["top", "right"]].set_visible(True)
            axis.set(xticks=[], yticks=[])
            axis.set_facecolor("0.85")
        row[0].set_ylabel(f"{state} of training\nquery patch $i$")
        figure.colorbar(image, ax=row, shrink=0.85, label="$A_{ij}$, $i \\neq j$")
    for axis, title in zip(axes[0], ("patches as drawn", "patches ordered by set"), strict=True):
        axis.set_title(title)
    for axis in axes[1]:
        axis.set_xlabel("key patch $j$")
    i, j = map(np.ravel, np.indices(model["A"].shape))
    table = pd.DataFrame({"i": i, "j": j, "set_i": partition[i], "set_j": partition[j]})
    return figure, table.assign(**{state: A.ravel() for state, A in states.items()})


def training(trajectory: pd.DataFrame) -> Drawn:
    """Accuracy, patch association and the means of A over training, bands over seeds."""
    runs = trajectory[trajectory.sweep == "main"]
    measures = "validation_accuracy patch_association gamma rho".split()
    steps = sorted(runs.step.unique())
    # A seed that has stopped keeps its last value, so that every step averages over all seeds.
    held = {
        seed: rows.set_index("step")[measures].reindex(steps).ffill()
        for seed, rows in runs.groupby("seed")
    }
    rows = []
    for measure in measures:
        for step in steps:
            interval = t_interval([values.loc[step, measure] for values in held.values()])
            running = int((runs[runs.step == step].seed).nunique())
            rows.append((measure, step, *interval, running))
    table = pd.DataFrame(rows, columns="measure step mean ci_low ci_high n running".split())
    figure, axes = plt.subplots(1, 3, figsize=(style.PAGE, 2.3))
    panels = (
        ("validation accuracy", {"validation_accuracy": "accuracy"}),
        ("patch association", {"patch_association": "share of patches"}),
        ("mean of $A$", {"gamma": "within sets, $\\gamma$", "rho": "across sets, $\\rho$"}),
    )
    for axis, (label, curves) in zip(axes, panels, strict=True):
        for colour, (measure, name) in zip(style.PALETTE, curves.items(), strict=False):
            curve = table[table.measure == measure]
            axis.plot(curve.step, curve["mean"], color=colour, label=name)
            low, high = curve.ci_low, curve.ci_high
            if measure not in ("gamma", "rho"):  # shares: a band beyond [0, 1] would say nothing
                low, high = low.clip(0, 1), high.clip(0, 1)
            axis.fill_between(curve.step, low, high, color=colour, alpha=0.25)
        axis.set(xlabel="step of gradient descent", ylabel=label)
        axis.set_xscale("symlog", linthresh=10)
        axis.set_xticks([0, 10, 100], ["0", "10", "100"])
    axes[0].axhline(1, color="0.6", linewidth=0.8, linestyle=":")
    axes[1].axhline(1, color="0.6", linewidth=0.8, linestyle=":")
    axes[1].set_ylim(-0.05, 1.05)
    axes[2].axhline(0, color="0.6", linewidth=0.8, linestyle=":")
    axes[2].legend()
    return figure, table


_CLASSIFIERS = {  # name in the tables: label, marker, colour
    "logistic regression": ("logistic regression", "o", style.PALETTE[0]),
    "logistic regression on the sum": ("logistic regression, sum", "s", style.PALETTE[1]),
    "network on the sum": ("network on the sum", "^", style.PALETTE[2]),
    "equal weights": ("equal weights (exact)", "D", style.PALETTE[3]),
    "perturbed weights": ("perturbed weights (exact)", "v", style.PALETTE[4]),
    "simplified ViT": ("simplified ViT (trained)", "*", "black"),
    "labelling function": ("labelling function $f^*$ (exact)", "X", "0.55"),
}


def linear(linear: pd.DataFrame, pretraining: pd.DataFrame) -> Drawn:
    """The test error of linear models against the ViT's and the labelling function's own."""
    runs = pretraining[pretraining.sweep.isin(["main", "q"]) & pretraining.q.isin(linear.q)]
    vit = runs.assign(classifier="simplified ViT", error=1 - runs.accuracy)
    errors = pd.concat([linear, vit[list(linear.columns)]], ignore_index=True)
    rows = [
        (classifier, D, q, round(q * D, 9), *t_interval(group.error))
        for (classifier, D, q), group in errors.groupby(["classifier", "D", "q"], sort=False)
    ]
    shown = "classifier D q q_D error ci_low ci_high n".split()
    table = pd.DataFrame(rows, columns=shown)
    figure, axes = plt.subplots(1, 2, figsize=(style.PAGE, 3.4))
    for axis in axes:
        _draw_errors(axis, table)
    handles, labels = axes[0].get_legend_handles_labels()
    axes[0].set(yscale="log", title="all classifiers")
    models = table[~table.classifier.isin(["simplified ViT", "labelling function"])]
    margin = 0.1 * (models.error.max() - models.error.min())
    limits = (min(models.error.min(), 1 / 8) - margin, max(models.error.max(), 1 / 8) + margin)
    axes[1].set(title="linear models, enlarged", ylim=limits)
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure, table


def _draw_errors(axis: Axes, table: pd.DataFrame) -> None:
    """Every classifier's error beside each other, a group a value of q D, and the bound 1/8."""
    settings = sorted(table.q_D.unique())
    width = 0.8 / len(_CLASSIFIERS)
    for number, (classifier, (label, marker, colour)) in enumerate(_CLASSIFIERS.items()):
        shown = table[table.classifier == classifier]
        offset = (number - (len(_CLASSIFIERS) - 1) / 2) * width
        x = [settings.index(value) + offset for value in shown.q_D]
        half = np.nan_to_num(shown.ci_high - shown.error)
        look = {"marker": marker, "color": colour, "markersize": 5, "linestyle": "none"}
        axis.errorbar(x, shown.error, half, capsize=2, label=label, **look)
    axis.axhline(1 / 8, color="0.3", linewidth=0.9, linestyle="--")
    axis.text(len(settings) - 0.48, 1 / 8, "1/8", ha="left", va="center", color="0.3")
    axis.set(
        xticks=range(len(settings)),
        xticklabels=[f"{value:g}" for value in settings],
        xlim=(-0.5, len(settings) - 0.5),
        xlabel="expected number of spurious features, $q\\,D$",
        ylabel="test error",
    )


FIGURES = {
    "data": data,
    "attention": attention,
    "training": training,
    "linear": linear,
    "sweeps": sweeps,
    "cost": cost,
    **transfer_figures.FIGURES,
    **gaussian_figures.FIGURES,
    **beyond_figures.FIGURES,
    **population_figures.FIGURES,
    **coupling_figures.FIGURES,
}

if __name__ == "__main__":
    figures.run("spatial", FIGURES, INPUTS)
