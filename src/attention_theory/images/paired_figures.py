"""Figures of paired differences: what permuting costs, and what positional attention gains."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from attention_theory import style
from attention_theory.images import pairs
from attention_theory.images.margins import MARGIN, SUFFERS, SURVIVES
from attention_theory.images.names import PERMUTATIONS, label
from attention_theory.statistics import t_interval

DROP = "dataset patch model attention permutation".split()
MARKERS = {"patch": "s", "pixel": "D"}


def drops(accuracy: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Paired drop of accuracy under a permutation, by model: means, t intervals, every seed."""
    table = _drops(accuracy)
    groups = list(table.groupby(["dataset", "patch"], sort=False))
    size = (style.COLUMN * max(1, len(groups)), 2.8)
    figure, axes = plt.subplots(1, max(1, len(groups)), figsize=size, squeeze=False)
    for ax, ((dataset, patch), rows) in zip(axes[0], groups, strict=False):
        models = list(dict.fromkeys(zip(rows.model, rows.attention, strict=True)))
        ax.axhline(0, color="0.4", lw=0.6)
        ax.axhline(SURVIVES, color="0.4", lw=0.8, ls="--", label=f"survives below {SURVIVES}")
        ax.axhline(SUFFERS, color="0.4", lw=0.8, ls=":", label=f"suffers above {SUFFERS}")
        for index, (kind, marker) in enumerate(MARKERS.items()):
            name = PERMUTATIONS[kind]
            for place, (model, attention) in enumerate(models):
                own = rows[(rows.model == model) & (rows.attention == attention)]
                own = own[own.permutation == kind]
                x = place + 0.3 * (index - 0.5)
                _draw(ax, x, own, "drop", style.PALETTE[index + 1], marker, name)
                name = None if len(own) else name  # once in the legend
        ax.set_xticks(range(len(models)), [label(*model) for model in models])
        ax.set_xlim(-0.5, len(models) - 0.5)
        ax.set_title(f"{dataset}, patches of {patch} × {patch} pixels")
    axes[0, 0].set_ylabel("accuracy, original - permuted")
    _legend(figure, axes[0, 0])
    return figure, table


def _drops(accuracy: pd.DataFrame) -> pd.DataFrame:
    parts = []
    for (dataset, patch), rows in accuracy.groupby(["dataset", "patch"], sort=False):
        for model, attention in dict.fromkeys(zip(rows.model, rows.attention, strict=True)):
            for permutation in MARKERS:
                found = pairs.drop(rows, model, attention, permutation)
                place = (dataset, patch, model, attention, permutation)
                parts.append(_with_interval(found, "drop", DROP, place))
    return _joined(parts)


def competition(accuracy: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Positional minus vanilla accuracy on every data set and patch size, with the margin."""
    parts = [
        _with_interval(pairs.gain(rows), "gain", ["dataset", "patch"], place)
        for place, rows in accuracy.groupby(["dataset", "patch"], sort=False)
    ]
    table = _joined(parts)
    places = list(table.groupby(["dataset", "patch"], sort=False))
    figure, ax = plt.subplots(figsize=(style.COLUMN, 1.4 + 0.35 * len(places)))
    ax.axvspan(-MARGIN, MARGIN, color="0.9", label=f"equivalent within {MARGIN}")
    ax.axvline(0, color="0.4", lw=0.6)
    for place, (_, rows) in enumerate(places):
        name = "mean, 95 % interval" if place == 0 else None
        _draw(ax, place, rows, "gain", style.PALETTE[0], "o", name, upright=False)
    ax.set_yticks(
        range(len(places)),
        [f"{dataset}\n{patch} × {patch} pixels" for (dataset, patch), _ in places],
    )
    ax.set_ylim(len(places) - 0.5, -0.5)
    ax.set_xlabel("accuracy, positional - vanilla ViT")
    _legend(figure, ax)
    return figure, table


def _joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Tables below each other; empty ones would make the columns those of any object."""
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)


def _with_interval(
    differences: pd.Series, name: str, keys: list[str], place: tuple
) -> pd.DataFrame:
    """A row a seed: its place, its difference, and the mean, interval and n of all; or no row."""
    columns = [*keys, "seed", name, "mean", "ci_low", "ci_high", "n"]
    if differences.empty:
        return pd.DataFrame(columns=columns)
    interval = t_interval(differences)
    found = pd.DataFrame({"seed": differences.index, name: differences.to_numpy()})
    found = found.assign(**dict(zip(keys, place, strict=True)))
    found = found.assign(**dict(zip(columns[-4:], interval, strict=True)))
    return found[columns]


def _draw(
    ax: plt.Axes,
    place: float,
    rows: pd.DataFrame,
    name: str,
    colour: tuple,
    marker: str,
    words: str | None,
    upright: bool = True,
) -> None:
    """Mean and interval at a place, every seed beside it."""
    if rows.empty:
        return
    first = rows.iloc[0]
    limits = [[first["mean"] - first.ci_low], [first.ci_high - first["mean"]]]
    beside = np.full(len(rows), place + 0.12)
    mean = (place, first["mean"]) if upright else (first["mean"], place)
    seeds = (beside, rows[name]) if upright else (rows[name], beside)
    style_of_mean = {"fmt": marker, "color": colour, "ms": 4.5, "capsize": 3, "label": words}
    ax.errorbar(*mean, **{"yerr" if upright else "xerr": limits}, **style_of_mean)
    ax.plot(*seeds, ".", color=colour, alpha=0.5, ms=4)


def _legend(figure: Figure, ax: plt.Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    columns = 2 if len(handles) > 2 else 1
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
