"""The study's figures of similarity maps, from snapshots of one model (no torch)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from attention_theory import style
from attention_theory.errors import BadInput
from attention_theory.images import maps
from attention_theory.images import measuring as measures
from attention_theory.images import permutation as permutations
from attention_theory.images.locality import grid_distances, precision_at_k

COSINES = {"cmap": style.DIFFERENCE_MAP, "vmin": -1, "vmax": 1}
Arrays = dict[str, np.ndarray]


def similarity_maps(snapshot: Arrays, permutation: Arrays) -> tuple[Figure, pd.DataFrame]:
    """Cosine similarity of all positional encodings before and after training, un-permuted."""
    found = _first_and_last(snapshot, permutation, "positions")
    figure = _before_and_after(found, "cosine similarity of positional encodings", COSINES)
    return figure, maps.table(found, ("state", "epoch"), "cosine")


def similarity_tiles(snapshot: Arrays, permutation: Arrays) -> tuple[Figure, pd.DataFrame]:
    """The same for a few tokens: scaled to [-1, 1], and where that exceeds .55 (Figs. 1a, 3)."""
    found = _first_and_last(snapshot, permutation, "positions")
    return few_tiles({state: M for (state, _), M in found.items()})


def few_tiles(found: dict[str, np.ndarray]) -> tuple[Figure, pd.DataFrame]:
    """A few tiles of matrices of cosines by state, and the table of all their scaled values."""
    figure = plt.figure(figsize=(style.COLUMN, 4.8), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=(6, 1))
    image = maps.draw_few(upper, found, **COSINES)
    maps.colour_bar(lower, image, "cosine similarity, scaled")
    rows = {(state,): maps.scaled(M) for state, M in found.items()}
    return figure, maps.table(rows, ("state",), "scaled_cosine")


def attention_maps(
    attention_snapshot: Arrays, attention_permutation: Arrays
) -> tuple[Figure, pd.DataFrame]:
    """Attention of all tokens, mean over heads, layers and images, before and after training."""
    found = _first_and_last(attention_snapshot, attention_permutation, "attention")
    figure = _before_and_after(found, "attention", _attention_colours(found.values()))
    return figure, maps.table(found, ("state", "epoch"), "attention")


def attention_layers(
    attention_snapshot: Arrays, attention_permutation: Arrays
) -> tuple[Figure, pd.DataFrame]:
    """Attention of all tokens after training, mean over heads and images, a panel a layer."""
    order = _own_permutation(attention_snapshot, attention_permutation)
    last = attention_snapshot["attention_matrices"][-1].astype(float)
    layers = measures.in_place(last, order)
    columns = min(3, len(layers))
    rows = -(-len(layers) // columns)
    width = style.PAGE / 3
    figure = plt.figure(figsize=(columns * width, rows * width * 1.1 + 0.7), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=(rows * width * 1.1, 0.7))
    panels = np.ravel(upper.subfigures(rows, columns, wspace=0.05, squeeze=False))
    distances = grid_distances(round(len(layers[0]) ** 0.5))
    colours = _attention_colours(layers)
    for layer, (panel, M) in enumerate(zip(panels, layers, strict=False), 1):
        precision = precision_at_k(M, distances).precision
        panel.suptitle(f"layer {layer}: precision@4 {precision:.2f}", fontsize="medium")
        image = maps.draw_all(panel, M, **colours)
    maps.colour_bar(lower, image, "attention, mean over heads and images")
    return figure, maps.table(
        {(layer,): M for layer, M in enumerate(layers, 1)}, ("layer",), "attention"
    )


def pretrained_maps(pretrained_maps: Arrays) -> tuple[Figure, pd.DataFrame]:
    """Fig. 1a: a few tokens of a ViT trained on ImageNet, beside encodings as they start."""
    if not pretrained_maps:
        figure, ax = plt.subplots(figsize=(style.COLUMN, 1))
        ax.text(0.5, 0.5, "not run: see the table `pretrained`", ha="center", va="center")
        ax.axis("off")
        return figure, pd.DataFrame({"state": []})
    return few_tiles({state: pretrained_maps[state] for state in ("initial", "final")})


def _before_and_after(found: dict[tuple, np.ndarray], label: str, colours: dict) -> Figure:
    """All tiles of the maps side by side, with their precision, on one colour scale."""
    figure = plt.figure(figsize=(style.PAGE, 4.8), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=(6.4, 1))
    panels = upper.subfigures(1, len(found), wspace=0.04, squeeze=False)[0]
    for panel, ((state, epoch), M) in zip(panels, found.items(), strict=True):
        merit = precision_at_k(M, grid_distances(round(len(M) ** 0.5)))
        words = maps.merits(merit).replace(" (", "\n(")
        panel.suptitle(f"{state} (epoch {epoch}): {words}", fontsize="medium")
        image = maps.draw_all(panel, M, **colours)
    maps.colour_bar(lower, image, label)
    return figure


def _first_and_last(
    snapshot: Arrays, permutation: Arrays, measure: str
) -> dict[tuple[str, int], np.ndarray]:
    """The un-permuted matrices of a measure by (state, epoch), before and after training."""
    order = _own_permutation(snapshot, permutation)
    return {
        (state, epoch): M
        for name, epoch, state, M in measures.matrices(snapshot, order)
        if name == measure and state in ("initial", "final")
    }


def _own_permutation(snapshot: Arrays, permutation: Arrays) -> permutations.Permutation:
    """The permutation that a model was trained under. Raises BadInput if another is given."""
    order = permutations.from_arrays(permutation)
    if measures.check_tokens(snapshot, "snapshot") != order.sha256:
        raise BadInput("snapshot: trained under another permutation than the one given")
    measures.check_grid(order, "permutation")
    return order


def _attention_colours(matrices) -> dict:
    """From no attention to the largest of any token to another: to itself may be more."""
    largest = max(float(M[~np.eye(len(M), dtype=bool)].max()) for M in matrices)
    return {"cmap": style.SIMILARITY_MAP, "vmin": 0, "vmax": largest}
