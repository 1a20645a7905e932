"""The figures of the study, from its tables and snapshots (no torch)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from attention_theory import figures, style
from attention_theory.errors import BadInput
from attention_theory.images import columns, transfer_columns, transfer_figures
from attention_theory.images import permutation as permutations
from attention_theory.images import similarity as measures
from attention_theory.statistics import t_interval

NAMES = {
    ("vit", "self"): "ViT",
    ("vit", "positional"): "positional ViT",
    ("cnn", "none"): "CNN",
    ("resnet18", "none"): "ResNet-18",
    ("vgg19_bn", "none"): "VGG-19-BN",
}
PERMUTATIONS = {"none": "original", "patch": "patches permuted", "pixel": "pixels permuted"}
MARKERS = "o", "s", "D", "^", "v"


def accuracy(accuracy: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Test accuracy by model on original and permuted images: means, t intervals, every seed.

    A panel a data set and patch size.
    """
    table = _with_intervals(accuracy)
    panels = list(table.groupby(["dataset", "patch"], sort=False))
    size = (style.COLUMN * len(panels), 2.8)
    figure, axes = plt.subplots(1, len(panels), figsize=size, squeeze=False)
    for ax, ((dataset, patch), rows) in zip(axes[0], panels, strict=True):
        _draw_accuracy(ax, rows)
        ax.set_title(f"{dataset}, patches of {patch} × {patch} pixels")
    axes[0, 0].set_ylabel("test accuracy")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(handles))
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
        offset = 0.36 * (index - (len(kinds) - 1) / 2)
        colour = style.PALETTE[index]
        for place, (model, attention) in enumerate(models):
            found = rows[
                (rows.model == model) & (rows.attention == attention) & (rows.permutation == kind)
            ]
            if found.empty:
                continue
            x, first = place + offset, found.iloc[0]
            spread = np.linspace(-0.05, 0.05, len(found)) if len(found) > 1 else np.zeros(1)
            ax.plot(x + 0.1 + spread, found.accuracy, ".", color=colour, alpha=0.5, ms=4)
            limits = [[first["mean"] - first.ci_low], [first.ci_high - first["mean"]]]
            ax.errorbar(
                x,
                first["mean"],
                yerr=limits,
                fmt=MARKERS[index],
                color=colour,
                ms=4.5,
                capsize=3,
                label=PERMUTATIONS[kind] if place == 0 else None,
            )
    ax.set_xticks(range(len(models)), [_label(*model) for model in models])
    ax.set_xlim(-0.5, len(models) - 0.5)
    top = min(1.0, ax.get_ylim()[1])
    ax.set_ylim(top=max(top, rows.accuracy.max()) + 0.002)
    ax.yaxis.grid(True, lw=0.4)


def _label(model: str, attention: str) -> str:
    """A model in words; one of the user's own by its class."""
    own = attention if model == "vit" else model
    return NAMES.get((model, attention), own.rpartition(":")[2])


def similarity_maps(
    snapshot: dict[str, np.ndarray], permutation: dict[str, np.ndarray]
) -> tuple[Figure, pd.DataFrame]:
    """Cosine similarity of all positional encodings before and after training, un-permuted.

    A tile is a query patch at its place in the true image, a pixel of it a key patch at its own.
    """
    order = permutations.from_arrays(permutation)
    if measures.check_tokens(snapshot, "snapshot") != order.sha256:
        raise BadInput("snapshot: trained under another permutation than the one given")
    measures.check_grid(order, "permutation")
    maps = {
        (state, epoch): M
        for measure, epoch, state, M in measures.matrices(snapshot, order)
        if measure == "positions" and state in ("initial", "final")
    }
    side = order.size // order.patch
    figure = plt.figure(figsize=(style.PAGE, 4.8), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=(6.4, 1))
    panels = upper.subfigures(1, len(maps), wspace=0.04, squeeze=False)[0]
    for panel, ((state, epoch), M) in zip(panels, maps.items(), strict=True):
        found = measures.precision_at_k(M, measures.grid_distances(side))
        panel.suptitle(
            f"{state} (epoch {epoch}): precision@4 {found.precision:.2f}\n"
            f"(chance {found.chance:.2f}, ceiling {found.ceiling:.2f})",
            fontsize="medium",
        )
        axes = panel.subplots(side, side, gridspec_kw={"wspace": 0.06, "hspace": 0.06})
        for query, ax in enumerate(axes.flat):
            image = _draw_tile(ax, M[query].reshape(side, side), query)
    lower.colorbar(
        image,
        cax=lower.add_axes((0.25, 0.75, 0.5, 0.16)),
        orientation="horizontal",
        label="cosine similarity of positional encodings",
    )
    return figure, _maps_table(maps, side)


def _draw_tile(ax: plt.Axes, tile: np.ndarray, query: int):
    """One query's similarities on the true grid; a frame marks the query itself."""
    image = ax.imshow(tile, cmap=style.DIFFERENCE_MAP, vmin=-1, vmax=1)
    row, column = divmod(query, len(tile))
    ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, ec="black", lw=0.9))
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set(visible=True, linewidth=0.4, color="0.6")
    return image


def _maps_table(maps: dict[tuple[str, int], np.ndarray], side: int) -> pd.DataFrame:
    """A row a pixel of a tile: where query and key stand on the true grid, and their cosine."""
    query, key = np.divmod(np.arange(side**4), side**2)
    parts = [
        pd.DataFrame(
            {
                "state": state,
                "epoch": epoch,
                "query_row": query // side,
                "query_column": query % side,
                "key_row": key // side,
                "key_column": key % side,
                "cosine": M.reshape(-1),
            }
        )
        for (state, epoch), M in maps.items()
    ]
    return pd.concat(parts, ignore_index=True)


FIGURES = {
    "accuracy": accuracy,
    "similarity_maps": similarity_maps,
    **transfer_figures.FIGURES,
}

if __name__ == "__main__":
    figures.run("images", FIGURES, columns.INPUTS | transfer_columns.INPUTS)
