"""Precision at k with ties: how many of a row's k largest entries are the right ones."""

import numpy as np

TOLERANCE = 1e-6  # times the largest |entry|: entries closer than that are tied


def slack(M: np.ndarray) -> float:
    """The distance below which entries of M count as tied; infinite entries have no say."""
    return TOLERANCE * float(np.abs(M[np.isfinite(M)]).max(initial=0.0))


def expected_hits(M: np.ndarray, right: np.ndarray, k: int) -> np.ndarray:
    """Of each row's k largest entries of M (n, m), the number that are `right` (n, m), shape (n,).

    Tied entries count at the share expected if ties were broken at random. Entries that may not
    be chosen are -inf.
    """
    cutoff = np.sort(M, axis=1)[:, -k, None]
    above = M > cutoff + slack(M)
    tied = ~above & (M >= cutoff - slack(M))
    share = (k - above.sum(axis=1)) / tied.sum(axis=1)
    return (above & right).sum(axis=1) + share * (tied & right).sum(axis=1)
