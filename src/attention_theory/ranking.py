"""Precision at k with ties: how many of a row's k largest entries are the right ones."""

import numpy as np

TOLERANCE = 1e-6  # times the largest |entry|: entries closer than that are tied


def slack(M: np.ndarray) -> float:
    """The distance below which entries of M count as tied; infinite entries have no say."""
    return TOLERANCE * float(np.abs(M[np.isfinite(M)]).max(initial=0.0))


def shares(M: np.ndarray, k: int) -> np.ndarray:
    """How surely each entry of M (n, m) is among its row's k largest, (n, m): 1, 0, or, for tied
    entries, the share expected if ties were broken at random.

    Entries that may not be chosen are -inf.
    """
    cutoff = np.sort(M, axis=1)[:, -k, None]
    above = M > cutoff + slack(M)
    tied = ~above & (M >= cutoff - slack(M))
    share = (k - above.sum(axis=1, keepdims=True)) / tied.sum(axis=1, keepdims=True)
    return above + share * tied


def expected_hits(M: np.ndarray, right: np.ndarray, k: int) -> np.ndarray:
    """Of each row's k largest entries of M (n, m), the number that are `right` (n, m), shape (n,),
    with ties as in `shares`."""
    return (shares(M, k) * right).sum(axis=1)
