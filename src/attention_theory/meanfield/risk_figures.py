"""Figures of what training reaches (experiments B2, B4)."""

from math import log

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from attention_theory import style
from attention_theory.meanfield import drawn
from attention_theory.meanfield.drawn import Drawn
from attention_theory.meanfield.vit_settings import CLASSES


def risk(risk: pd.DataFrame) -> Drawn:
    """The risk over training by size, and what the decay does at one size."""
    figure, axes = plt.subplots(1, 3, figsize=(style.PAGE, 2.8))
    keys = ["L", "M", "decay", "tau"]
    measures = ("risk", "fresh_risk", "norm")
    shown = risk[(risk.decay == 0) | (risk.tau == risk.tau.max())]
    tables = {name: drawn.by(shown, keys, name, drawn.geometric_mean) for name in measures}
    over_time = tables["risk"][tables["risk"].decay == 0]
    sizes = list(over_time[["L", "M"]].drop_duplicates().itertuples(index=False, name=None))
    for colour, (L, M) in zip(style.PALETTE, sizes, strict=False):
        for name, line in (("risk", "-"), ("fresh_risk", ":")):
            table = tables[name]
            own = table[(table.decay == 0) & (table.L == L) & (table.M == M)]
            label = f"$L = {L:g}$, $M = {M:g}$" if line == "-" else None
            drawn.band(axes[0], own.tau, own, color=colour, linestyle=line, label=label)
    axes[0].plot([], [], color="0.3", linestyle=":", label="on fresh prompts")
    axes[0].set(xlabel="time $\\tau$", ylabel="risk, $\\lambda = 0$", yscale="log")
    axes[0].legend(fontsize=6)

    ends = {name: table[table.tau == table.tau.max()] for name, table in tables.items()}
    counts = ends["risk"].groupby(["L", "M"]).decay.nunique()
    L, M = counts.idxmax()
    swept = {
        name: table[(table.L == L) & (table.M == M) & (table.decay > 0)]
        for name, table in ends.items()
    }
    for colour, (name, label) in zip(
        style.PALETTE, {"risk": "training", "fresh_risk": "fresh prompts"}.items(), strict=False
    ):
        own = swept[name]
        drawn.points(axes[1], own.decay, own, color=colour, marker="o", label=label)
    decays = np.sort(swept["risk"].decay.unique())
    axes[1].plot(decays, decays, color="0.3", linestyle=":", label="risk $= \\lambda$")
    axes[1].set(xscale="log", yscale="log", xlabel="decay $\\lambda$", ylabel="risk at the end")
    axes[1].legend(fontsize=6)
    drawn.points(axes[2], decays, swept["norm"], color=style.PALETTE[2], marker="o")
    axes[2].set(xscale="log", xlabel="decay $\\lambda$", ylabel="root mean square $|(\\theta, w)|$")
    axes[2].set_ylim(bottom=0)
    for axis in axes[1:]:
        axis.set_title(f"$L = {L:g}$, $M = {M:g}$, $\\tau = {risk.tau.max():g}$", fontsize=8)
    return drawn.laid_out(figure), pd.concat(tables.values(), ignore_index=True)


def digits(digits: pd.DataFrame) -> Drawn:
    """Loss and accuracies of the ViT over its steps, a line a seed."""
    figure, axes = plt.subplots(1, 2, figsize=(style.PAGE * 0.8, 2.5))
    for colour, (seed, own) in zip(style.PALETTE, digits.groupby("seed"), strict=False):
        axes[0].plot(own.step, own.loss, color=colour, linewidth=1.2, label=f"seed {seed}")
        axes[1].plot(own.step, own.accuracy, color=colour, linewidth=1.2)
        axes[1].plot(own.step, own.test_accuracy, color=colour, linewidth=1.2, linestyle=":")
    axes[0].axhline(log(CLASSES), color="0.3", linewidth=0.8, linestyle="--", label="guessing")
    axes[0].axhline(
        log(CLASSES) / 100, color="0.3", linewidth=0.8, linestyle=":", label="1 % of it"
    )
    axes[0].set(xlabel="step", ylabel="training cross-entropy", yscale="log")
    axes[0].legend(fontsize=6)
    for line, name in (("-", "training"), (":", "held out")):
        axes[1].plot([], [], color="0.3", linestyle=line, label=name)
    axes[1].set(xlabel="step", ylabel="accuracy", ylim=(0, 1.02))
    axes[1].legend(fontsize=7)
    return drawn.laid_out(figure), digits[
        ["seed", "step", "loss", "accuracy", "test_accuracy"]
    ].copy()


FIGURES = {"risk": risk, "digits": digits}
