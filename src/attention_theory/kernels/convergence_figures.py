"""Figures of experiment A1: functions from tables to (figure, table of what it shows)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attention_theory import style
from attention_theory.statistics import t_interval

Drawn = tuple[Figure, pd.DataFrame]

KERNELS = {"softmax": ("softmax", "-", "o"), "gaussian": ("Gaussian", "--", "s")}
TRAININGS = {"values": "$W_V$ alone", "all": "all weights"}
LOWEST = 1e-16  # of a relative loss that is drawn
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
            axis.set(xscale="log", yscale="log")
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
    figure, axes = plt.subplots(1, 3, figsize=(style.PAGE, 2.7))
    shown = []
    for axis, (training, how) in zip(axes, TRAININGS.items(), strict=False):
        own = curves[(curves.training == training) & (curves.D == D)]
        table = bands(own.assign(measure=own.loss.clip(lower=LOWEST)), ["kernel", "H", "step"])
        fits = convergence[(convergence.training == training) & (convergence.D == D)]
        _draw_curves(axis, table, fits)
        axis.set(yscale="log", xlabel="step", ylabel="loss / first loss")
        axis.set_title(f"{how}, $D = {D}$", fontsize=8)
        shown.append(table.assign(training=training, D=D))
    axes[0].legend(fontsize=6.5, handlelength=2.2)
    shown.append(_draw_rates(axes[2], convergence[convergence.training == "values"]))
    return figure, pd.concat(shown, ignore_index=True)


def _draw_curves(axis: Axes, table: pd.DataFrame, fits: pd.DataFrame) -> None:
    """Curves by kernel and H, each with the mean fitted rate over its second half (dotted)."""
    colours = dict(zip(sorted(table.H.unique()), style.PALETTE, strict=False))
    for (kernel, H), points in table.groupby(["kernel", "H"], sort=False):
        name, line, _ = KERNELS[kernel]
        look = {"color": colours[H], "linestyle": line}
        draw_band(axis, points, "step", label=f"{name}, $H = {H}$", **look)
        own = fits[(fits.kernel == kernel) & (fits.H == H)]
        half, rate = own.steps.mean() / 2, own.rate.mean()
        at_half = np.exp(np.log(own.loss_half / own.loss_0).mean())
        x = np.array([half, own.steps.mean()])
        fit = at_half * np.exp(-rate * (x - half))
        axis.plot(x, fit, color="black", linewidth=1, linestyle=(0, (1, 1.5)))


def _draw_rates(axis: Axes, values: pd.DataFrame) -> pd.DataFrame:
    """Fitted rates of W_V-only training by run, beside the closed form's rate in the limit."""
    runs = values[(values.condition > 0) & (values.rate > 0)]
    for colour, (kernel, points) in zip(style.PALETTE, runs.groupby("kernel", sort=False),
                                        strict=False):  # fmt: skip
        name, _, marker = KERNELS[kernel]
        look = {"color": colour, "markersize": 2.5, "alpha": 0.4, "markeredgewidth": 0}
        axis.plot(points.condition, points.rate, marker, label=name, **look)
    x = np.geomspace(max(runs.condition.min(), 1e-9), runs.condition.max(), 50)
    axis.plot(x, -2 * np.log1p(-x), color="black", linewidth=1, label="in the limit")
    axis.set(xscale="log", yscale="log", xlabel="$\\lambda_{\\min} / \\lambda_{\\max}$ of $K$")
    axis.set(ylabel="fitted rate a step", xlim=(x[0], None))
    axis.set_title("$W_V$ alone, late rates", fontsize=8)
    axis.legend(fontsize=6.5)
    columns = ["training", "kernel", "H", "D", "seed", "condition", "rate"]
    return runs[columns].rename(columns={"rate": "mean"})


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
