"""Patch association (Definition 2.2): does each row of a similarity matrix find its set?"""

from typing import NamedTuple

import numpy as np

from attention_theory import ranking


class Association(NamedTuple):
    """The share of rows whose top C is their set, and the mean share of the top C in the set."""

    patch_association: float
    precision_at_c: float


def associate(M: np.ndarray, partition: np.ndarray) -> Association:
    """Patch association of a similarity matrix M (D, D) with a partition (set index a patch).

    Top_C of row i are its C largest entries, i's own included (i belongs to its set). A row whose
    set is not separated from the rest by more than rounding (`ranking.TOLERANCE`) is not
    associated; precision takes tied entries at their expected share. Sets must be of one size
    (ValueError).
    """
    sizes = np.bincount(partition)
    if M.shape != (len(partition), len(partition)) or (sizes != sizes[0]).any():
        raise ValueError("M must be (D, D) and the partition's sets of one size")
    C = int(sizes[0])
    M = np.asarray(M, dtype=float)
    same = partition[:, None] == partition[None, :]
    weakest_own = np.where(same, M, np.inf).min(axis=1)
    strongest_other = np.where(same, -np.inf, M).max(axis=1)
    rows = weakest_own > strongest_other + ranking.slack(M)
    precision = ranking.expected_hits(M, same, C).mean() / C
    return Association(float(rows.mean()), float(precision))
