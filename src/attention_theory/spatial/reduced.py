"""The simplified ViT on the idealised process's three scalars, as a function of set types.

By symmetry (Lemmas 4.1, 4.2) v = alpha w*, and A is beta on the diagonal, gamma within a set and
rho across sets. The noise is orthogonal to w*, so F sees the pattern z alone, and F is odd in the
data: y = +1 without loss of generality. A set with a entries +1 and b entries -1 has the *type*
(a, b) and the sum s = a - b; Z is the sum over all sets. A patch of value z in such a set sees

    x = D [Lambda z + Gamma (s - z) + Xi (Z - s)],        F = sum over patches of act(alpha x),

with Lambda, Gamma, Xi the softmax of (beta, gamma, rho) over a row. The columns of S sum to one, so
the x sum to D Z whatever gamma and rho: F's linear part is nu alpha D Z exactly. It is kept apart,
and its derivative in gamma and rho is zero rather than a difference of large numbers.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from attention_theory.spatial.population_settings import Point, Sets
from attention_theory.spatial.settings import Architecture


class Types:
    """The types (a, b) of a set of size C and their law; the last one is the signal set's, (C, 0).

    Arrays of shape (T,), T = (C + 1)(C + 2) / 2: `a`, `b`, `s` = a - b, `log_probability`. By the
    value of a patch, 1, -1 and 0: `z` (3, 1, 1), its `patches` in a set (3, 1, T), and the sum
    `near` over the rest of its set (3, 1, T).
    """

    def __init__(self, sets: Sets) -> None:
        C, q = sets.C, sets.q
        a, b = np.divmod(np.arange((C + 1) ** 2), C + 1)
        fits = a + b <= C
        self.a, self.b = a[fits], b[fits]
        self.s = self.a - self.b
        zeros = C - self.a - self.b
        self.z = np.array([1, -1, 0])[:, None, None]
        self.patches = np.stack([self.a, self.b, zeros])[:, None]
        self.near = self.s - self.z
        log_factorial = log_factorials(C)
        self.log_probability = (
            log_factorial[C]
            - log_factorial[self.a]
            - log_factorial[self.b]
            - log_factorial[zeros]
            + (self.a + self.b) * np.log(q / 2)
            + zeros * np.log1p(-q)
        )

    @cached_property
    def probability(self) -> np.ndarray:
        """The probability of each type (T,)."""
        return np.exp(self.log_probability)


class Softmax(NamedTuple):
    """A row of S: Lambda on the diagonal, Gamma within the set, Xi across; and D times each."""

    Lambda: float
    Gamma: float
    Xi: float


def softmax(sets: Sets, architecture: Architecture, point: Point) -> Softmax:
    """Lambda, Gamma, Xi of the D entries of a row, without overflow at any beta, gamma, rho."""
    logits = np.array([architecture.beta, point.gamma, point.rho])
    counts = np.array([1, sets.C - 1, sets.D - sets.C])
    weights = np.exp(logits - logits[counts > 0].max(), where=counts > 0, out=np.zeros(3))
    return Softmax(*map(float, weights / (counts @ weights)))


class Terms(NamedTuple):
    """What a set of each type adds to F without its linear part, and to F's derivatives.

    Arrays (len(Z), T).
    """

    F: np.ndarray
    alpha: np.ndarray
    gamma: np.ndarray
    rho: np.ndarray


def terms(
    sets: Sets, architecture: Architecture, point: Point, types: Types, Z: np.ndarray
) -> Terms:
    """The sum of (alpha x)^p over a set's patches, and its derivatives, by Z and type.

    Overflow gives infinite entries, which callers refuse.
    """
    D, C, p, alpha = sets.D, sets.C, architecture.p, point.alpha
    Lambda, Gamma, Xi = softmax(sets, architecture, point)
    z, count, near = types.z, types.patches, types.near
    far = Xi * (np.asarray(Z)[:, None] - types.s)  # of the other sets' sum
    inside = Lambda * z + Gamma * near
    x = D * (inside + far)
    # 1 - (C - 1) Gamma and 1 - (D - C) Xi written as what they are: sums of weights.
    x_gamma = D * Gamma * (near * (Lambda + (D - C) * Xi) - (C - 1) * (Lambda * z + far))
    x_rho = D * ((Lambda + (C - 1) * Gamma) * far - (D - C) * Xi * inside)
    with np.errstate(over="ignore", invalid="ignore"):
        power = count * (alpha * x) ** (p - 1)
        slope = p * alpha * power
        found = power * (alpha * x), power * (p * x), slope * x_gamma, slope * x_rho
        return Terms(*(each.sum(axis=0) for each in found))


def log_factorials(n: int) -> np.ndarray:
    """log k! for k = 0 .. n, each to its own rounding."""
    return gammaln(np.arange(1.0, n + 2))


class Gradient(NamedTuple):
    """The population risk E log(1 + e^-F) and its derivatives, with their absolute errors.

    `d_alpha` is the derivative in alpha. `d_gamma` and `d_rho` are *per entry*: the derivative in
    one entry of A within a set or across sets, the reduced derivative divided by the number of such
    entries, D (C - 1) or D (D - C); 0 where there are none (C = 1). `errors` are absolute, in the
    same order: rounding for an enumeration, a bound for a quadrature, a standard error for a
    sample. `scales` are the sums of absolute terms that errors may be held against: of the loss and
    of sigmoid(-F) dF, by set (enumeration) or pattern (sample); of 1 + |F| and of dF (quadrature).
    """

    risk: float
    d_alpha: float
    d_gamma: float
    d_rho: float
    errors: tuple[float, float, float, float]
    scales: tuple[float, float, float, float]


def per_entry(sets: Sets, values: np.ndarray) -> tuple[float, float, float, float]:
    """(risk, alpha, gamma, rho) with the last two divided by their number of entries."""
    within, across = sets.D * (sets.C - 1), sets.D * (sets.D - sets.C)
    risk, alpha, gamma, rho = map(float, values)
    return risk, alpha, gamma / within if within else 0.0, rho / across
