"""Figures of experiment A2: functions from tables to (figure, table of what it shows)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attention_theory import style
from attention_theory.kernels.drawing import COLOURS, KERNELS, logarithmic, ticks
from attention_theory.statistics import wilson_interval

Drawn = tuple[Figure, pd.DataFrame]

LOWEST = 1e-4  # of a relative loss that is drawn: floors of 0 stand there
CASE = ["case", "target", "size", "eps", "H", "n"]


def stuck(stuck: pd.DataFrame) -> Drawn:
    """Share of stuck runs against eps, and the final loss against the floor."""
    swept = _swept(stuck)
    signs = [sign for sign in (1, -1) if (np.sign(swept["size"]) == sign).any()]
    panels = len(signs) + 1
    size = (style.PAGE * panels / 3, 2.7)
    figure, axes = plt.subplots(1, panels, figsize=size, squeeze=False)
    shares = _shares(swept)
    for axis, sign in zip(axes[0], signs, strict=False):
        own = shares[np.sign(shares["size"]) == sign]
        for kernel, points in own.groupby("kernel", sort=False):
            _draw_shares(axis, points.sort_values("eps"), kernel, "eps")
        axis.set(xlabel="spread of the values, eps", ylim=(-0.04, 1.04))
        ticks(axis, sorted(own.eps.unique()))
        axis.set_title(f"target ${own['size'].iloc[0]:g}\\,\\bar v$, $H = {own.H.iloc[0]}$",
                       fontsize=8)  # fmt: skip
        axis.set_ylabel("share of runs that are stuck")
    if signs:
        axes[0, 0].legend(fontsize=7)
    shown = _draw_floors(axes[0, -1], swept[swept.kernel == "softmax"])
    return figure, pd.concat([shares, shown], ignore_index=True)


def _swept(stuck: pd.DataFrame) -> pd.DataFrame:
    """The common targets at the number of heads that most of them have."""
    common = stuck[(stuck.target == "common") & (stuck.n > 1)]
    return common[common.H == common.H.mode().iloc[0]] if len(common) else common


def _draw_floors(axis: Axes, runs: pd.DataFrame) -> pd.DataFrame:
    """Final loss against the floor, softmax, a point a run, both relative to the first loss."""
    relative = runs.assign(
        mean=(runs.loss / runs.loss_0).clip(lower=LOWEST),
        floor=(runs.floor / runs.loss_0).clip(lower=LOWEST),
    )
    colours = plt.get_cmap(style.SIMILARITY_MAP)(np.linspace(0, 0.85, relative.eps.nunique()))
    for colour, (eps, points) in zip(colours, relative.groupby("eps"), strict=True):
        axis.plot(points.floor, points["mean"], ".", color=colour, alpha=0.6, ms=4,
                  label=f"eps = {eps:g}")  # fmt: skip
    axis.plot([LOWEST, 1], [LOWEST, 1], color="0.4", linewidth=0.8)
    if len(runs):
        axis.axhline(runs.threshold.iloc[0], color="0.6", linewidth=0.8, linestyle=":")
        axis.legend(fontsize=6.5)
    axis.set(xlabel="floor / first loss", ylabel="loss / first loss")
    logarithmic(axis)
    axis.set_title("softmax, where it ends", fontsize=8)
    return relative[[*CASE, "kernel", "seed", "floor", "mean"]]


def targets(stuck: pd.DataFrame, budgets: pd.DataFrame) -> Drawn:
    """Share of stuck runs by case, also where the floor is no excuse; and by budget of steps."""
    figure, axes = plt.subplots(1, 2, figsize=(style.PAGE, 3.4), width_ratios=[1.6, 1])
    attainable = stuck[stuck.floor <= stuck.threshold * stuck.loss_0]
    trapped = _stuck(attainable).groupby([attainable.case, attainable.kernel]).sum()
    shares = _shares(stuck)
    keys = zip(shares.case, shares.kernel, strict=True)
    shares["trapped"] = [trapped.get(key, 0) for key in keys] / shares.runs
    cases = list(dict.fromkeys(shares.case))[::-1]
    for offset, (kernel, points) in zip((0.15, -0.15), shares.groupby("kernel", sort=False),
                                        strict=False):  # fmt: skip
        y = np.array([cases.index(case) for case in points.case]) + offset
        limits = [points["mean"] - points.ci_low, points.ci_high - points["mean"]]
        name, _, marker = KERNELS[kernel]
        look = {"color": COLOURS[kernel], "capsize": 2, "ms": 4, "linewidth": 0.9}
        axes[0].errorbar(points["mean"], y, xerr=limits, fmt=marker, label=name, **look)
        axes[0].plot(points.trapped, y, "|", color=COLOURS[kernel], ms=7)
    axes[0].plot([], [], "|", color="0.3", ms=7, label="floor below threshold")
    axes[0].set_yticks(range(len(cases)), cases, fontsize=7)
    axes[0].set(xlabel="share of runs that are stuck", xlim=(-0.04, 1.04))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=3,
                  fontsize=7)  # fmt: skip
    shown = _draw_budgets(axes[1], budgets)
    return figure, pd.concat([shares, shown], ignore_index=True)


def _draw_budgets(axis: Axes, budgets: pd.DataFrame) -> pd.DataFrame:
    """Stuck shares against steps, of all cases together, with the range over cases."""
    rows = budgets.assign(stuck=_stuck(budgets))
    by_case = rows.groupby(["kernel", "step", "case"], sort=False).stuck.mean()
    table = by_case.groupby(["kernel", "step"], sort=False).mean().rename("mean").reset_index()
    pooled = [
        wilson_interval(int(own.sum()), len(own))
        for _, own in rows.groupby(["kernel", "step"], sort=False).stuck
    ]
    table = table.assign(ci_low=[one.low for one in pooled], ci_high=[one.high for one in pooled],
                         )  # fmt: skip
    for kernel, points in table.groupby("kernel", sort=False):
        _draw_shares(axis, points, kernel, "step")
    axis.set(xlabel="budget, steps", ylabel="share of all runs that are stuck", ylim=(-0.04, 1.04))
    ticks(axis, sorted(table.step.unique()))
    return table


def _stuck(rows: pd.DataFrame) -> pd.Series:
    return rows.loss > rows.threshold * rows.loss_0


def _shares(stuck: pd.DataFrame) -> pd.DataFrame:
    """The share of stuck runs by case and kernel, with Wilson's interval."""
    rows = []
    for key, answers in _stuck(stuck).groupby([stuck[name] for name in [*CASE, "kernel"]],
                                              sort=False):  # fmt: skip
        rows.append((*key, *wilson_interval(int(answers.sum()), len(answers))))
    return pd.DataFrame(rows, columns=[*CASE, "kernel", "mean", "ci_low", "ci_high", "runs"])


def _draw_shares(axis: Axes, points: pd.DataFrame, kernel: str, x: str) -> None:
    name, _, marker = KERNELS[kernel]
    limits = [points["mean"] - points.ci_low, points.ci_high - points["mean"]]
    look = {"color": COLOURS[kernel], "capsize": 2, "ms": 4, "linewidth": 1}
    axis.errorbar(points[x], points["mean"], yerr=limits, fmt=f"{marker}-", label=name, **look)
