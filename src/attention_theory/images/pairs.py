"""Paired differences between runs of one seed: they share test images, order and shifts.

Runs of one model share the initial weights too.
"""

import pandas as pd


def drop(accuracy: pd.DataFrame, model: str, attention: str, permutation: str) -> pd.Series:
    """A model's accuracy on original images minus that on permuted ones, by seed; it may be empty.

    `accuracy` holds the rows of one data set and patch size.
    """
    chosen = accuracy[(accuracy.model == model) & (accuracy.attention == attention)]
    return _difference(chosen, "permutation", "none", permutation)


def gain(accuracy: pd.DataFrame) -> pd.Series:
    """Positional minus vanilla ViT's accuracy on original images, by seed; it may be empty."""
    chosen = accuracy[(accuracy.model == "vit") & (accuracy.permutation == "none")]
    return _difference(chosen, "attention", "positional", "self")


def _difference(rows: pd.DataFrame, column: str, first: str, second: str) -> pd.Series:
    pairs = rows.pivot(index="seed", columns=column, values="accuracy")
    if not {first, second} <= set(pairs.columns):
        return pd.Series(dtype=float)
    return (pairs[first] - pairs[second]).dropna()
