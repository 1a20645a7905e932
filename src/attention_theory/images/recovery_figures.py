"""The figure of recovery: how locality grows in the course of training (no torch)."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from attention_theory import style
from attention_theory.images.names import PERMUTATIONS, label
from attention_theory.statistics import t_interval

MEASURES = {"positions": ("positional encodings", "-"), "attention": ("attention matrices", "--")}
SHOWN = {"precision_at_4": "precision@4", "spearman": "Spearman"}
MARKERS = {"none": "o", "patch": "s", "pixel": "D"}
KEYS = "dataset patch model attention permutation measure epoch merit".split()


def recovery(similarity: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Precision@4 and Spearman against epochs, means with t intervals over seeds.

    A row of panels a measure of locality, a column a ViT; the first data set and patch size.
    """
    table = _with_intervals(similarity)
    first = table.iloc[:1]
    shown = table.merge(first[["dataset", "patch"]], on=["dataset", "patch"])
    models = list(dict.fromkeys(zip(shown.model, shown.attention, strict=True)))
    size = (style.COLUMN * len(models), 4.8)
    figure, axes = plt.subplots(
        len(SHOWN), len(models), figsize=size, sharex=True, sharey="row", squeeze=False
    )
    for column, (model, attention) in enumerate(models):
        own = shown[(shown.model == model) & (shown.attention == attention)]
        for ax, merit in zip(axes[:, column], SHOWN, strict=True):
            _draw(ax, own[own.merit == merit])
        _draw_limits(axes[0, column], similarity.merge(first[["dataset", "patch"]]))
        axes[1, column].axhline(0, color="0.4", lw=0.6)
        axes[1, column].set_xlabel("epochs")
        axes[0, column].set_title(f"{label(model, attention)}, {first.dataset.iloc[0]}")
    for ax, words in zip(axes[:, 0], SHOWN.values(), strict=True):
        ax.set_ylabel(words)
    handles = {}
    for ax in axes.flat:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=2)
    return figure, table


def _draw(ax: plt.Axes, rows: pd.DataFrame) -> None:
    """A line a permutation and matrix; the start, epoch 0, stands left of 1 on a log axis."""
    ax.set_xscale("symlog", linthresh=1, base=2)
    for index, (permutation, marker) in enumerate(MARKERS.items()):
        for measure, (words, dashes) in MEASURES.items():
            line = rows[(rows.permutation == permutation) & (rows.measure == measure)]
            if line["mean"].notna().any():
                limits = [line["mean"] - line.ci_low, line.ci_high - line["mean"]]
                name = f"{words}, {PERMUTATIONS[permutation]}"
                ax.errorbar(
                    line.epoch,
                    line["mean"],
                    yerr=[part.fillna(0).clip(lower=0) for part in limits],
                    ls=dashes,
                    marker=marker,
                    color=style.PALETTE[index],
                    mfc="white" if dashes == "--" else None,
                    ms=4,
                    lw=1,
                    capsize=2,
                    label=name,
                )
    epochs = sorted(rows.epoch.unique())
    ax.set_xticks(epochs, [str(epoch) for epoch in epochs])
    ax.minorticks_off()


def _draw_limits(ax: plt.Axes, similarity: pd.DataFrame) -> None:
    """What precision is by chance, and at most."""
    for name, dots in (("chance", ":"), ("ceiling", "-.")):
        ax.axhline(similarity[name].mean(), color="0.4", lw=0.8, ls=dots, label=name)


def _with_intervals(similarity: pd.DataFrame) -> pd.DataFrame:
    long = similarity.melt(
        id_vars=[*KEYS[:-1], "seed"], value_vars=list(SHOWN), var_name="merit", value_name="value"
    )
    rows = []
    for place, seeds in long.groupby(KEYS, sort=False):
        found = dict(zip(KEYS, place, strict=True))
        names = ("mean", "ci_low", "ci_high", "n")
        rows.append(found | dict(zip(names, t_interval(seeds.value), strict=True)))
    return pd.DataFrame(rows)
