"""The figures of the study, from its tables and snapshots (no torch)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from attention_theory import figures, style
from attention_theory.images import (
    columns,
    cost_figures,
    map_figures,
    paired_figures,
    recovery_figures,
    transfer_columns,
    transfer_figures,
)
from attention_theory.images.names import PERMUTATIONS, label
from attention_theory.statistics import t_interval

MARKERS = "o", "s", "D", "^", "v"


def accuracy(accuracy: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Test accuracy by model on original and permuted images: means, t intervals, every seed.

    A panel a data set and patch size that was permuted, or, if none was, a panel each.
    """
    table = _with_intervals(accuracy)
    groups = [rows for _, rows in table.groupby(["dataset", "patch"], sort=False)]
    permuted = [rows for rows in groups if (rows.permutation != "none").any()]
    panels = [((rows.dataset.iloc[0], rows.patch.iloc[0]), rows) for rows in permuted or groups]
    size = (style.COLUMN * len(panels), 2.8)
    figure, axes = plt.subplots(1, len(panels), figsize=size, squeeze=False)
    for ax, ((dataset, patch), rows) in zip(axes[0], panels, strict=True):
        _draw_accuracy(ax, rows)
        ax.set_title(f"{dataset}, patches of {patch} × {patch} pixels")
    axes[0, 0].set_ylabel("test accuracy")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    columns = min(len(handles), 2 * len(panels))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    return figure, table


def _with_intervals(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Every seed's accuracy beside the mean of its setting, its interval and n."""
    setting = "dataset model attention patch permutation".split()
    rows = []
    for _, seeds in accuracy.groupby(setting, sort=False):
        mean, low, high, n = t_interval(seeds.accuracy)
        found = seeds[[*setting, "seed", "accuracy"]]
        rows.append(found.assign(mean=mean, ci_low=low, ci_high=high, n=n))
    return pd.concat(rows, ignore_index=True)


def _draw_accuracy(ax: plt.Axes, rows: pd.DataFrame) -> None:
    """Models side by side, a colour and a marker a permutation."""
    models = list(dict.fromkeys(zip(rows.model, rows.attention, strict=True)))
    kinds = [name for name in PERMUTATIONS if name in set(rows.permutation)]
    for index, kind in enumerate(kinds):
        offset = 0.27 * (index - (len(kinds) - 1) / 2) - 0.06
        colour = style.PALETTE[index]
        name = PERMUTATIONS[kind]
        for place, (model, attention) in enumerate(models):
            found = rows[
                (rows.model == model) & (rows.attention == attention) & (rows.permutation == kind)
            ]
            if found.empty:
                continue
            x, first = place + offset, found.iloc[0]
            spread = np.linspace(-0.05, 0.05, len(found)) if len(found) > 1 else np.zeros(1)
            ax.plot(x + 0.12 + spread, found.accuracy, ".", color=colour, alpha=0.5, ms=4)
            limits = [[first["mean"] - first.ci_low], [first.ci_high - first["mean"]]]
            ax.errorbar(
                x,
                first["mean"],
                yerr=limits,
                fmt=MARKERS[index],
                color=colour,
                ms=4.5,
                capsize=3,
                label=name,
            )
            name = None  # once in the legend
    ax.set_xticks(range(len(models)), [label(*model) for model in models])
    ax.set_xlim(-0.5, len(models) - 0.5)
    top = min(1.0, ax.get_ylim()[1])
    ax.set_ylim(top=max(top, rows.accuracy.max()) + 0.002)
    ax.yaxis.grid(True, lw=0.4)


FIGURES = {
    "accuracy": accuracy,
    "drops": paired_figures.drops,
    "cost": cost_figures.cost,
    "competition": paired_figures.competition,
    "similarity_maps": map_figures.similarity_maps,
    "similarity_tiles": map_figures.similarity_tiles,
    "attention_maps": map_figures.attention_maps,
    "attention_layers": map_figures.attention_layers,
    "recovery": recovery_figures.recovery,
    "pretrained": map_figures.pretrained_maps,
    **transfer_figures.FIGURES,
}

if __name__ == "__main__":
    figures.run("images", FIGURES, columns.INPUTS | transfer_columns.INPUTS)
