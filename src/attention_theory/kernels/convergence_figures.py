"""Figures of experiment A1: functions from tables to (figure, table of what it shows)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attention_theory import style
from attention_theory.kernels.drawing import COLOURS, KERNELS, bands, draw_band, logarithmic

Drawn = tuple[Figure, pd.DataFrame]

TRAININGS = {"values": "$W_V$ alone", "all": "all weights"}
LOWEST = 1e-16  # of a relative loss that is drawn
SMALLEST = 1e-9  # condition that is drawn
SHOWN = 2  # times N n: the D of the loss curves, if it was run


def convergence(convergence: pd.DataFrame) -> Drawn:
    """The loss at the end against H D / (N n) by H; a panel a kernel and a way to train."""
    relative = (convergence.loss / convergence.loss_0).clip(lower=LOWEST)
    ratio = convergence.H * convergence.D / (convergence.N * convergence.n)
    runs = convergence.assign(measure=relative, ratio=ratio)
    table = bands(runs, ["training", "kernel", "H", "ratio"])
    figure, axes = plt.subplots(2, 2, figsize=(style.PAGE, 4.4), sharex=True, sharey="row")
    for row, (training, how) in zip(axes, TRAININGS.items(), strict=True):
        steps = runs.steps[runs.training == training].max()
        for axis, (kernel, (name, _, marker)) in zip(row, KERNELS.items(), strict=True):
            own = table[(table.training == training) & (table.kernel == kernel)]
            for colour, (H, points) in zip(style.PALETTE, own.groupby("H"), strict=False):
                look = {"color": colour, "marker": marker, "markersize": 3.5}
                draw_band(axis, points, "ratio", label=f"$H = {H}$", **look)
            axis.axvline(1, color="0.6", linewidth=0.8, linestyle=":")
            logarithmic(axis)
            axis.set_title(f"{name}, {how}, at most {steps} steps", fontsize=8)
        row[0].set_ylabel("loss at the end / first loss")
    for axis in axes[1]:
        axis.set_xlabel("$H D / (N n)$")
    axes[0, 0].legend(fontsize=7)
    return figure, table


def rates(convergence: pd.DataFrame, curves: pd.DataFrame) -> Drawn:
    """Loss curves with the fitted linear rates; the rates against lambda_min / lambda_max."""
    outputs = convergence.N * convergence.n
    dimensions = convergence.D.unique()
    D = dimensions[np.abs(np.log(dimensions / (SHOWN * outputs.iloc[0]))).argmin()]
    first = convergence[(convergence.D == D) & (convergence.seed == convergence.seed.min())]
    figure, axes = plt.subplots(1, 3, figsize=(style.PAGE, 2.7))
    shown = []
    for axis, (training, how) in zip(axes, TRAININGS.items(), strict=False):
        for run in first[first.training == training].itertuples():
            own = curves[curves.training.eq(training) & curves.kernel.eq(run.kernel)]
            own = own[own.H.eq(run.H) & own.D.eq(D) & own.seed.eq(run.seed)]
            _draw_run(axis, own, run, style.PALETTE[list(first.H.unique()).index(run.H)])
            shown.append(own.rename(columns={"loss": "mean"}))
        axis.set(xlabel="step", ylabel="loss / first loss")
        axis.set_title(f"{how}, $D = {D}$, one seed", fontsize=8)
        logarithmic(axis, "y")
    axes[0].legend(fontsize=6.5, handlelength=2.2)
    shown.append(_draw_rates(axes[2], convergence[convergence.training == "values"]))
    return figure, pd.concat(shown, ignore_index=True)


def _draw_run(axis: Axes, curve: pd.DataFrame, run: tuple, colour: tuple) -> None:
    """A run's losses, and the line of its fitted rate over the second half (dotted)."""
    name, line, _ = KERNELS[run.kernel]
    label = f"{name}, $H = {run.H}$"
    loss = curve.loss.clip(lower=LOWEST)
    axis.plot(curve.step, loss, line, color=colour, linewidth=1.2, label=label)
    x = np.array([run.steps // 2, run.steps])
    fit = run.loss_half / run.loss_0 * np.exp(-run.rate * (x - x[0]))
    axis.plot(x, fit, color="black", linewidth=1, linestyle=(0, (1, 1.5)))


def _draw_rates(axis: Axes, values: pd.DataFrame) -> pd.DataFrame:
    """Fitted rates of W_V-only training by run, beside the closed form's rate in the limit."""
    runs = values[(values.condition > 0) & (values.rate > 0)]
    for kernel, points in runs.groupby("kernel", sort=False):
        name, _, marker = KERNELS[kernel]
        look = {"color": COLOURS[kernel], "markersize": 2.5, "alpha": 0.4, "markeredgewidth": 0}
        axis.plot(points.condition, points.rate, marker, label=name, **look)
    if len(runs):
        x = np.geomspace(max(runs.condition.min(), SMALLEST), runs.condition.max(), 50)
        axis.plot(x, -2 * np.log1p(-x), color="black", linewidth=1, label="in the limit")
        axis.set(xlim=(x[0], None))
        logarithmic(axis)
    axis.set(xlabel="$\\lambda_{\\min} / \\lambda_{\\max}$ of $K$", ylabel="fitted rate a step")
    axis.set_title("$W_V$ alone, late rates", fontsize=8)
    axis.legend(fontsize=6.5)
    columns = ["training", "kernel", "H", "D", "seed", "condition", "rate"]
    return runs[columns].rename(columns={"rate": "mean"})
