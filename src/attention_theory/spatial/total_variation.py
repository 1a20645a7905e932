"""How well a planted set can be detected: total variation distances, exact in law (no sampling).

D_1: m patches, each +1 with probability r = q/2, -1 with r, else 0. D_2: the same, but C patches,
a uniform set, are +1. A pattern z with k patches +1 has likelihood ratio D_2 / D_1

    binom(k, C) / (binom(m, C) r^C),

the share of sets that agree over its mean. So k is sufficient: it is Bin(m, r) under D_1 and
C + Bin(m - C, r) under D_2.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import binom

GRID = 2e-3  # step of the grid of log likelihood ratios
NEGLIGIBLE = 1e-20  # outcomes rarer than that are left out


class Distance(NamedTuple):
    """A total variation distance and a bound on its error."""

    tv: float
    error: float


def log_ratio(k: np.ndarray | int, m: int, C: int, r: float) -> np.ndarray:
    """log of the likelihood ratio D_2 / D_1 at counts k; -inf where k < C.

    As a product of C factors ((k - j) / (m - j)) / r it loses no digits, however large m.
    """
    j = np.arange(C)
    factors = np.maximum(np.subtract.outer(np.asarray(k), j), 0) / ((m - j) * r)
    with np.errstate(divide="ignore"):
        return np.log(factors).sum(axis=-1)


def planted(m: int, C: int, r: float) -> float:
    """TV(Bin(m, r), C + Bin(m - C, r)): one sample, set unknown; to rounding, for any m.

    The likelihood ratio grows with k, so the best test is a threshold on k, found by bisection.
    """
    low, high = C - 1, m  # the ratio is at most 1 at low, and above 1 at high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if log_ratio(middle, m, C, r) > 0 else (middle, high)
    return float(binom.cdf(low, m, r) - binom.cdf(low - C, m - C, r))


def asymptotic(m: int, C: int, q: float) -> float:
    """C / sqrt(pi q m): a shift by C of a normal law of variance q m / 2, when it is small."""
    return C / np.sqrt(np.pi * q * m)


def own(m: int, C: int, r: float, n: int) -> Distance:
    """n samples, each with a set of its own that is not known."""
    if n == 1:
        return Distance(planted(m, C, r), 0.0)
    k = np.arange(m + 1)
    return repeated(binom.pmf(k, m, r), log_ratio(k, m, C, r), n)


def common(m: int, C: int, r: float, n: int) -> Distance:
    """n samples with one set in common that is not known.

    Only the patches that are +1 in all samples count: one patch is with probability r^n.
    """
    return Distance(planted(m, C, r**n), 0.0)


def known(m: int, C: int, r: float, n: int) -> Distance:
    """n samples, each with a set of its own out of the m / C sets of a known partition.

    J, the number of sets of the partition that are all +1, is sufficient: Bin(L, s) against
    1 + Bin(L - 1, s), s = r^C, with ratio J / (L s): a planted set of size 1 among L.
    """
    return own(m // C, 1, r**C, n)


def repeated(p: np.ndarray, log_ratios: np.ndarray, n: int) -> Distance:
    """The distance of n independent repetitions, from the outcomes' probabilities under D_1 and
    their log likelihood ratios.

    The sum of log ratios is put on a grid, by a split of each outcome between two neighbours that
    keeps its probability under both laws: a more informative experiment, so an upper bound, off by
    about n GRID^2 / 8 times a density. The error given is the change from a grid twice as coarse.
    """
    alive = (p > NEGLIGIBLE) & np.isfinite(log_ratios)
    certain = 1 - p[np.isfinite(log_ratios)].sum() ** n  # an outcome that D_2 excludes
    fine, coarse = (_on_grid(p[alive], log_ratios[alive], n, step) for step in (GRID, 2 * GRID))
    return Distance(float(certain + fine), float(abs(coarse - fine)))


def _on_grid(p: np.ndarray, log_ratios: np.ndarray, n: int, step: float) -> float:
    """E_1[(1 - exp(sum of n log ratios))_+] over outcomes that both laws allow."""
    place = np.floor(log_ratios / step).astype(int)
    upper = p * np.expm1(log_ratios - place * step) / np.expm1(step)
    first = place.min()
    law = np.zeros(place.max() - first + 2)
    np.add.at(law, place - first, p - upper)
    np.add.at(law, place - first + 1, upper)
    length = n * (len(law) - 1) + 1
    size = 1 << (length - 1).bit_length()
    total = np.fft.irfft(np.fft.rfft(law, size) ** n, size)[:length]
    sums = (np.arange(length) + n * first) * step
    below = sums < 0
    return float(-(total[below] * np.expm1(sums[below])).sum())
