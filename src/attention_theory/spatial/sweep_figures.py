"""Figures of the sweeps of experiment 1: what association and accuracy depend on, and the cost."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attention_theory import style

SWEEPS = {  # sweep: label and scale of its axis
    "beta": ("diagonal, $\\beta$", "linear"),
    "N": ("training samples, $N$", "log"),
    "omega": ("initial scale, $\\omega$", "log"),
    "D": ("patches, $D$", "log"),
}
MEASURES = {  # column: panel row, label, marker, colour
    "patch_association": (0, "at the end", "o", style.PALETTE[0]),
    "patch_association_max": (0, "highest", "^", style.PALETTE[1]),
    "accuracy": (1, "test accuracy", "o", style.PALETTE[0]),
}


def sweeps(pretraining: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Patch association and accuracy against beta, N, omega and D; the main setting in each."""
    shown = [name for name in SWEEPS if name in set(pretraining.sweep)]
    rows = [_points(pretraining, sweep) for sweep in shown]
    table = pd.concat(rows, ignore_index=True)
    figure, axes = plt.subplots(
        2, len(shown), figsize=(style.PAGE, 3.4), sharey="row", sharex="col", squeeze=False
    )
    for column, sweep in enumerate(shown):
        label, scale = SWEEPS[sweep]
        for measure, (row, *look) in MEASURES.items():
            points = table[(table.sweep == sweep) & (table.measure == measure)]
            _draw(axes[row, column], points, *look)
        values = sorted(points.value.unique())
        axes[1, column].set(xlabel=label, xscale=scale)
        axes[1, column].set_xticks(values, [f"{value:g}" for value in values], fontsize=7)
        axes[1, column].minorticks_off()
    axes[0, 0].set_ylabel("patch association")
    axes[0, 0].set_ylim(-0.05, 1.05)
    axes[1, 0].set_ylabel("test accuracy")
    axes[0, 0].legend(loc="lower right", fontsize=7)
    return figure, table


def _points(pretraining: pd.DataFrame, sweep: str) -> pd.DataFrame:
    """A row a seed and measure of one sweep, the main setting included."""
    runs = pretraining[pretraining.sweep.isin([sweep, "main"])]
    long = runs.melt(["seed", sweep, "steps"], list(MEASURES), "measure", "result")
    return long.rename(columns={sweep: "value"}).assign(sweep=sweep)


def _draw(axis: Axes, points: pd.DataFrame, label: str, marker: str, colour: tuple) -> None:
    """Every seed as a dot, the mean over seeds as a line."""
    mean = points.groupby("value").result.mean()
    axis.plot(points.value, points.result, marker, color=colour, alpha=0.35, markersize=3)
    axis.plot(mean.index, mean, marker + "-", color=colour, markersize=4, label=label)


def cost(costs: pd.DataFrame, pretraining: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """CPU seconds of pretraining against D: a seed, and a step and sample; imports left out.

    From times: the one figure of the study whose bytes differ between runs.
    """
    work = (costs.cpu_seconds - costs.startup_cpu_seconds).to_numpy()
    seconds = dict(zip(costs.setting, work, strict=True))
    runs = pretraining[pretraining.sweep.isin(["main", "D"])]
    rows = [
        (D, N, d, setting, len(seeds), seconds[setting] / len(seeds))
        + (1e6 * seconds[setting] / seeds.steps.sum() / N,)
        for (D, N, d, setting), seeds in runs.groupby(["D", "N", "d", "setting"])
    ]
    table = pd.DataFrame(rows, columns="D N d setting seeds seconds_a_seed microseconds".split())
    figure, axes = plt.subplots(1, 2, figsize=(style.PAGE * 0.8, 2.4))
    labels = ("CPU seconds a seed", "CPU microseconds\na step and sample")
    for axis, column, label in zip(axes, table.columns[-2:], labels, strict=True):
        axis.plot(table.D, table[column], "o-", color=style.PALETTE[0])
        axis.set(xlabel="patches, $D$", ylabel=label)
        axis.set_ylim(bottom=0)
        axis.set_xticks(table.D, [str(D) for D in table.D])
    return figure, table
