"""Similarity maps as the source draws them (Figs. 1a, 3 and 4), from a matrix of all tokens.

A tile is a query token, a pixel of it a key token at its place on the true grid; a frame marks the
query itself. M (tokens, tokens) has its tokens at their true places.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure, SubFigure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from attention_theory import style
from attention_theory.images.locality import Locality, Precision

THRESHOLD = 0.55  # Fig. 1a's, of values that are scaled to [-1, 1]
ABOVE = ListedColormap(["white", "black"])


def scaled(M: np.ndarray) -> np.ndarray:
    """M with its least value at -1 and its largest at 1 (Fig. 1a); 0 if all are equal."""
    low, high = M.min(), M.max()
    return np.zeros(M.shape) if high == low else 2 * (M - low) / (high - low) - 1


def few(side: int) -> dict[str, int]:
    """Four query tokens of a square grid, by what to call them."""
    middle = side // 2
    places = {
        "corner": (0, 0),
        "edge": (0, middle),
        "middle": (middle, middle),
        "far corner": (side - 1, side - 1),
    }
    return {name: row * side + column for name, (row, column) in places.items()}


def draw_all(panel: Figure | SubFigure, M: np.ndarray, **colours: object) -> AxesImage:
    """All tiles of M in a panel, each query's at its place on the grid."""
    side = round(len(M) ** 0.5)
    axes = panel.subplots(side, side, gridspec_kw={"wspace": 0.06, "hspace": 0.06}, squeeze=False)
    for query, ax in enumerate(axes.flat):
        image = draw_tile(ax, M[query].reshape(side, side), query, **colours)
    return image


def draw_tile(ax: plt.Axes, tile: np.ndarray, query: int, **colours: object) -> AxesImage:
    """One query's similarities on the true grid; a frame marks the query itself."""
    image = ax.imshow(tile, **colours)
    row, column = divmod(query, len(tile))
    ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, ec="tab:red", lw=0.9))
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set(visible=True, linewidth=0.4, color="0.6")
    return image


def draw_few(panel: Figure | SubFigure, rows: dict[str, np.ndarray], **colours: object):
    """A few tiles of each matrix: a row its scaled values, a row where they pass the threshold."""
    side = round(len(next(iter(rows.values()))) ** 0.5)
    axes = panel.subplots(2 * len(rows), 4, squeeze=False)
    for (name, M), pair in zip(rows.items(), axes.reshape(len(rows), 2, 4), strict=True):
        for column, (place, query) in enumerate(few(side).items()):
            tile = scaled(M)[query].reshape(side, side)
            image = draw_tile(pair[0, column], tile, query, **colours)
            draw_tile(pair[1, column], tile > THRESHOLD, query, cmap=ABOVE, vmin=0, vmax=1)
            if pair[0, 0] is axes[0, 0]:
                axes[0, column].set_title(place, fontsize="small")
        pair[0, 0].set_ylabel(f"{name}\nscaled", fontsize="small")
        pair[1, 0].set_ylabel(f"{name}\n> {THRESHOLD}", fontsize="small")
    return image


def colour_bar(figure: Figure | SubFigure, image: AxesImage, label: str) -> None:
    """A horizontal colour bar in a strip of its own."""
    ax = figure.add_axes((0.25, 0.75, 0.5, 0.14))
    figure.colorbar(image, cax=ax, orientation="horizontal", label=label)


def merits(found: Precision | Locality) -> str:
    """Precision@4 between chance and ceiling, in words."""
    precision, chance, ceiling = found[:3]
    return f"precision@4 {precision:.2f} (chance {chance:.2f}, ceiling {ceiling:.2f})"


def page(M: np.ndarray, name: str, found: Locality) -> tuple[Figure, pd.DataFrame]:
    """The page of one matrix M (tokens, tokens) of cosines: all tokens, and a few."""
    figure = plt.figure(figsize=(style.PAGE, 4.4), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=(5, 1))
    left, right = upper.subfigures(1, 2, wspace=0.04)
    colours = {"cmap": style.DIFFERENCE_MAP, "vmin": -1, "vmax": 1}
    left.suptitle(f"{name}\n{merits(found)}", fontsize="small")
    image = draw_all(left, M, **colours)
    right.suptitle("a few, scaled to [-1, 1]", fontsize="small")
    draw_few(right, {"cosine": M}, **colours)
    colour_bar(lower, image, "cosine similarity (left); scaled (right)")
    return figure, table({("final",): M}, ("state",), "cosine")


def table(maps: dict[tuple, np.ndarray], keys: tuple[str, ...], value: str) -> pd.DataFrame:
    """A row a pixel of a tile: `keys` of its map, where query and key stand on the true grid, and
    the `value`."""
    side = round(len(next(iter(maps.values()))) ** 0.5)
    query, key = np.divmod(np.arange(side**4), side**2)
    place = {"query_row": query // side, "query_column": query % side}
    place |= {"key_row": key // side, "key_column": key % side}
    parts = [
        pd.DataFrame(dict(zip(keys, names, strict=True)) | place | {value: M.reshape(-1)})
        for names, M in maps.items()
    ]
    return pd.concat(parts, ignore_index=True)
