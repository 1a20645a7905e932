"""The figure of experiment 7: a function from tables to (figure, table of what it shows)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import CenteredNorm
from matplotlib.figure import Figure

from attention_theory import style
from attention_theory.spatial.gaussian_settings import PHIS

Drawn = tuple[Figure, pd.DataFrame]

_ACCURACIES = {  # column: label, marker, filled
    "train_accuracy": ("training", "^", False),
    "accuracy": ("test", "o", True),
    "linear_accuracy": ("linear rule", "_", True),
}


def gaussian(gaussian: pd.DataFrame, gaussian_attention: dict[str, np.ndarray]) -> Drawn:
    """The mean A by phi; gamma and rho; what the first step says of them; accuracies."""
    phis = list(gaussian.phi.unique())
    figure = plt.figure(figsize=(style.PAGE, 4.5))
    above, below = figure.subfigures(2, 1, height_ratios=(0.95, 1))
    maps = _draw_maps(above, gaussian, gaussian_attention)
    axes = below.subplots(1, 3, width_ratios=(1, 0.95, 1))
    _draw_means(axes[0], gaussian, phis)
    _draw_contrast(axes[1], gaussian, phis)
    _draw_accuracies(axes[2], gaussian, phis)
    measures = "patch_association gamma rho contrast train_accuracy accuracy linear_accuracy"
    shown = gaussian[["phi", "seed", *measures.split()]]
    return figure, pd.concat([shown, maps], ignore_index=True)


def _draw_maps(
    figure: Figure, gaussian: pd.DataFrame, attention: dict[str, np.ndarray]
) -> pd.DataFrame:
    """A map a phi, each with a scale of its own; the entries shown, with their phi."""
    associated = gaussian.groupby("phi").patch_association.mean()
    axes = figure.subplots(1, len(attention["phi"]), squeeze=False)[0]
    tables = []
    for axis, phi, A in zip(axes, attention["phi"], attention["A"], strict=True):
        shown = A.copy()
        np.fill_diagonal(shown, np.nan)
        norm = CenteredNorm(halfrange=np.nanmax(np.abs(shown)))
        image = axis.imshow(shown, cmap=style.DIFFERENCE_MAP, norm=norm)
        axis.spines[["top", "right"]].set_visible(True)
        axis.set(xticks=[], yticks=[], facecolor="0.85")
        name = _label(phi)
        axis.set_title(f"{name}: association {associated[phi]:.2f}", fontsize=8)
        bar = figure.colorbar(image, ax=axis, location="bottom", shrink=0.8, pad=0.03)
        bar.ax.tick_params(labelsize=7)
        i, j = map(np.ravel, np.indices(A.shape))
        tables.append(pd.DataFrame({"phi": phi, "i": i, "j": j, "A": shown.ravel()}))
    axes[0].set_ylabel("$A_{ij}$, by set")
    return pd.concat(tables, ignore_index=True)


def _draw_means(axis: Axes, gaussian: pd.DataFrame, phis: list[str]) -> None:
    x, colours = _places(gaussian, phis)
    axis.axhline(0, color="0.6", linewidth=0.8)
    axis.scatter(x - 0.12, gaussian.gamma, c=colours, s=12)
    axis.scatter(x + 0.12, gaussian.rho, facecolors="none", edgecolors=colours, s=14)
    look = {"marker": "o", "linestyle": "none", "color": "0.3", "markersize": 3.5}
    axis.plot([], [], label="within sets, $\\gamma$", **look)
    axis.plot([], [], label="across sets, $\\rho$", markerfacecolor="none", **look)
    axis.legend(fontsize=7, loc="upper right", handletextpad=0.1, borderpad=0)
    axis.set(ylabel="mean of $A$ after training")
    _name_phis(axis, phis)


def _draw_contrast(axis: Axes, gaussian: pd.DataFrame, phis: list[str]) -> None:
    """gamma - rho at the end against what the labels say of the first step, a point a seed."""
    _, colours = _places(gaussian, phis)
    for line in (axis.axhline, axis.axvline):
        line(0, color="0.6", linewidth=0.8)
    axis.scatter(1e3 * gaussian.contrast, gaussian.gamma - gaussian.rho, c=colours, s=12)
    for number, phi in enumerate(phis):
        look = {"marker": "o", "linestyle": "none", "markersize": 3.5}
        axis.plot([], [], color=style.PALETTE[number], label=_label(phi), **look)
    axis.legend(fontsize=7, loc="upper left")
    axis.set(xlabel="contrast of the labels, $\\times 10^3$", ylabel="$\\gamma - \\rho$ at the end")


def _draw_accuracies(axis: Axes, gaussian: pd.DataFrame, phis: list[str]) -> None:
    x, colours = _places(gaussian, phis)
    for number, (column, (label, marker, filled)) in enumerate(_ACCURACIES.items()):
        place = x + 0.22 * (number - 1)
        look = {"c": colours} if filled else {"facecolors": "none", "edgecolors": colours}
        axis.scatter(place, gaussian[column], marker=marker, s=14, **look)
        look = {"marker": marker, "linestyle": "none", "color": "0.3", "markersize": 3.5}
        axis.plot([], [], label=label, markerfacecolor=None if filled else "none", **look)
    axis.legend(fontsize=7, loc="upper left")
    axis.set(ylabel="accuracy")
    _name_phis(axis, phis)


def _places(gaussian: pd.DataFrame, phis: list[str]) -> tuple[pd.Series, list]:
    """Where a row's phi stands, and its colour."""
    numbers = gaussian.phi.map(phis.index)
    return numbers, [style.PALETTE[number] for number in numbers]


def _label(phi: str) -> str:
    """What the figure calls a phi."""
    return PHIS[phi].label if phi in PHIS else phi


def _name_phis(axis: Axes, phis: list[str]) -> None:
    names = [_label(phi) for phi in phis]
    axis.set_xticks(range(len(phis)), names, fontsize=7)
    axis.set(xlim=(-0.5, len(phis) - 0.5), xlabel="$\\phi$ of the labelling function")


FIGURES = {"gaussian": gaussian}
