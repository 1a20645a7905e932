"""Exact errors of classifiers that see the pattern z only through weighted sums (no sampling).

Without loss of generality y = +1. The noise is orthogonal to w*, so weights along w* see z alone.
A tie (score 0) counts one half. D patches in L sets of size C, feature probability q.
"""

import numpy as np

from attention_theory.spatial.distribution import THRESHOLD
from attention_theory.spatial.settings import Distribution


def weighted_error(distribution: Distribution, set_weights: np.ndarray) -> float:
    """The error of sign(sum_j w_j z_j) with one positive integer weight a set, shape (L,).

    The score's law is a convolution over sets: one set, each in turn with probability 1/L, adds
    C times its weight; every other adds its weight times the sum of C symmetric steps.
    """
    weights = np.asarray(set_weights, dtype=int)
    C, q = distribution.C, distribution.q
    if len(weights) != distribution.L or (weights < 1).any():
        raise ValueError(f"{distribution.L} positive weights are needed, one a set")
    laws = {w: _set_law(C, q, w) for w in set(weights.tolist())}
    error = 0.0
    # Sets of equal weight are exchangeable: condition on the signal set's weight only.
    for signal_weight in laws:
        others = sorted(weights.tolist())
        others.remove(signal_weight)
        law = np.ones(1)
        for w in others:
            law = np.convolve(law, laws[w])
        centre = len(law) // 2
        scores = np.arange(len(law)) - centre + C * signal_weight
        wrong = law[scores < 0].sum() + law[scores == 0].sum() / 2
        error += np.mean(weights == signal_weight) * wrong
    return float(error)


def equal_weights_error(distribution: Distribution) -> float:
    """The error of the majority of signs, sign(sum_j z_j)."""
    return weighted_error(distribution, np.ones(distribution.L, dtype=int))


def perturbed_weights_error(distribution: Distribution, lower: int = 19, upper: int = 20) -> float:
    """The lowest error when k sets, k = 0..L, get the weight `lower`/`upper` instead of 1.

    An upper bound on the error of the best linear classifier: unequal weights break the majority's
    ties in the right direction more often than not.
    """
    L = distribution.L
    return min(
        weighted_error(distribution, np.where(np.arange(L) < k, lower, upper)) for k in range(L + 1)
    )


def labelling_function_error(distribution: Distribution) -> float:
    """The error of sign f*: only sets whose C patches all agree count (|s| > 0.9 C).

    With y = +1, f* = C + C (P - M) for P and M other sets that reach +C and -C; for C > 10 sums
    short of C can pass the threshold too, so the set sum's thresholded law is convolved.
    """
    C = distribution.C
    sums = np.arange(-C, C + 1)
    law = _set_law(C, distribution.q, 1)
    counted = np.abs(sums) > THRESHOLD * C
    thresholded = np.where(counted, law, 0)
    thresholded[C] += law[~counted].sum()
    total = np.ones(1)
    for _ in range(distribution.L - 1):
        total = np.convolve(total, thresholded)
    scores = np.arange(len(total)) - len(total) // 2 + C
    return float(total[scores < 0].sum() + total[scores == 0].sum() / 2)


def _set_law(C: int, q: float, weight: int) -> np.ndarray:
    """The law of weight times the sum of C steps in {-1, 0, 1}, on -weight C .. weight C."""
    step = np.array([q / 2, 1 - q, q / 2])
    law = np.ones(1)
    for _ in range(C):
        law = np.convolve(law, step)
    spread = np.zeros(2 * weight * C + 1)
    spread[::weight] = law
    return spread
