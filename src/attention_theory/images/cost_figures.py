"""The figure of accuracy against cost: the study's only one with times, drawn from costs.csv."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from attention_theory import style
from attention_theory.images.names import label
from attention_theory.statistics import t_interval

MARKERS = "o", "s", "D", "^", "v"
PLACE = "dataset patch attention".split()


def cost(accuracy: pd.DataFrame, costs: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Accuracy of both ViTs on original images against the images trained on a second.

    A marker a data set and patch size, a colour an attention, a line between the two.
    """
    table = _table(accuracy, costs)
    figure, ax = plt.subplots(figsize=(style.COLUMN, 3.2))
    colours = dict(zip(("self", "positional"), style.PALETTE, strict=False))
    for marker, ((dataset, patch), rows) in zip(
        MARKERS * len(table), table.groupby(["dataset", "patch"], sort=False), strict=False
    ):
        ax.plot(rows.images_per_second, rows["mean"], color="0.7", lw=0.8, zorder=0)
        for row in rows.itertuples():
            limits = [[row.mean - row.ci_low], [row.ci_high - row.mean]]
            ax.errorbar(
                row.images_per_second,
                row.mean,
                yerr=limits,
                fmt=marker,
                color=colours[row.attention],
                ms=4.5,
                capsize=3,
                label=f"{label('vit', row.attention)}, {dataset}, patch {patch}",
            )
    ax.set_xscale("log")
    ax.set_xlabel("images trained on a second")
    ax.set_ylabel("test accuracy")
    figure.legend(loc="outside lower center", ncols=1)
    return figure, table


def _table(accuracy: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """A row a ViT on original images: accuracy, parameters, and what its job took."""
    jobs = costs[(costs.study == "images") & (costs.step == "training")].set_index("setting")
    vits = accuracy[(accuracy.model == "vit") & (accuracy.permutation == "none")]
    vits = vits[vits.attention.isin(["self", "positional"])]
    rows = []
    for place, seeds in vits.groupby(PLACE, sort=False):
        job = jobs.loc[seeds.setting.iloc[0]]
        mean, low, high, n = t_interval(seeds.accuracy)
        row = dict(zip(PLACE, place, strict=True))
        row |= {"mean": mean, "ci_low": low, "ci_high": high, "n": n}
        row |= {"parameters": seeds.parameters.iloc[0], "seconds": job.seconds / n}
        rows.append(row | {"images_per_second": job.images_per_second})
    return pd.DataFrame(rows)
