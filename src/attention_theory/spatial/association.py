"""Patch association (Definition 2.2): does each row of a similarity matrix find its set?"""

from typing import NamedTuple

import numpy as np


class Association(NamedTuple):
    """The share of rows whose top C is their set, and the mean share of the top C in the set."""

    patch_association: float
    precision_at_c: float


def associate(M: np.ndarray, partition: np.ndarray, tolerance: float = 1e-6) -> Association:
    """Patch association of a similarity matrix M (D, D) with a partition (set index a patch).

    Top_C of row i are its C largest entries, i's own included (i belongs to its set). Entries
    closer than `tolerance` times the largest |entry| are tied. A row whose set is not separated
    from the rest by more than that is not associated; precision takes tied entries at their
    expected share, as if ties were broken at random. Sets must be of one size (ValueError).
    """
    sizes = np.bincount(partition)
    if M.shape != (len(partition), len(partition)) or (sizes != sizes[0]).any():
        raise ValueError("M must be (D, D) and the partition's sets of one size")
    C = int(sizes[0])
    M = np.asarray(M, dtype=float)
    same = partition[:, None] == partition[None, :]
    slack = tolerance * np.abs(M).max()
    weakest_own = np.where(same, M, np.inf).min(axis=1)
    strongest_other = np.where(same, -np.inf, M).max(axis=1, initial=-np.inf)
    rows = weakest_own > strongest_other + slack
    return Association(float(rows.mean()), float(_expected_precision(M, same, C, slack)))


def _expected_precision(M: np.ndarray, same: np.ndarray, C: int, slack: float) -> float:
    """Mean over rows of the expected share of own-set entries among the top C."""
    cutoff = np.sort(M, axis=1)[:, -C, None]
    above = M > cutoff + slack
    tied = ~above & (M >= cutoff - slack)
    places = C - above.sum(axis=1)
    share = places / tied.sum(axis=1)
    hits = (above & same).sum(axis=1) + share * (tied & same).sum(axis=1)
    return (hits / C).mean()
