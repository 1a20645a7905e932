"""The law of the sets given Z, tilted so that Z is likely; Chernoff's bounds from it.

Given Z, the m = L - 1 other sets are independent but for their sum j = Z - C. Weighting every +1 by
exp(tau) and every -1 by exp(-tau) leaves the patches independent,

    P(event; Z) = mass P~(event; Z),   mass = (1 - q + q cosh tau)^(m C) exp(-tau j),

and with the tau that gives the sets the mean sum j, mass is Chernoff's bound for P(Z) and near it.
So the law far out in Z has as many digits as at its centre. Arrays are by Z (Z,), or by Z and the
type of a set (Z, T).
"""

from typing import NamedTuple

import numpy as np

from attention_theory.spatial import reduced
from attention_theory.spatial.population_settings import Point, Sets
from attention_theory.spatial.reduced import Types
from attention_theory.spatial.settings import Architecture

LARGEST = 1e150  # of a term of F or of a derivative: sums of them are finite
SMALLEST = 1e-290  # of a scale: 1 over it is finite
STEEPEST = 40.0  # largest |tau|: exp(-40) is below rounding


class Tilts(NamedTuple):
    """A tilt for every Z: `log_mass` (Z,), `law` P~ of a set's type (Z, T) and its log.

    `likely` (Z,) is about P(Z), by the local limit theorem; `variance` (Z,) is that of the sum of
    the sets under P~, and `digits` (Z,) the sum of the absolute terms that log_mass is made of.
    """

    log_mass: np.ndarray
    log_law: np.ndarray
    law: np.ndarray
    likely: np.ndarray
    variance: np.ndarray
    digits: np.ndarray


def tilts(sets: Sets, types: Types, j: np.ndarray) -> Tilts:
    """The tilts for Z = C + j."""
    patches, q = sets.others * sets.C, sets.q
    mean = np.abs(j) / patches
    none = mean * (1 - q)
    with np.errstate(divide="ignore"):
        ratio = (none + np.sqrt(none**2 + q**2 * (1 - mean**2))) / (q * (1 - mean))
        tau = np.sign(j) * np.minimum(np.log(ratio), STEEPEST)
    log_norm = np.log1p(2 * q * np.sinh(tau / 2) ** 2)
    log_mass = patches * log_norm - tau * j
    log_law = types.log_probability + tau[:, None] * types.s - sets.C * log_norm[:, None]
    law = np.exp(log_law)
    variance = sets.others * (law @ types.s**2 - (law @ types.s) ** 2)
    likely = np.exp(log_mass) / np.sqrt(1 + 2 * np.pi * variance)
    return Tilts(log_mass, log_law, law, likely, variance, patches * log_norm + np.abs(tau * j))


class Window(NamedTuple):
    """What is known at a point without integrating, for every Z = C + j of a window.

    Columns are (F, alpha, gamma, rho): `sets` (Z, T, 4) is what a set of each type adds to them,
    `own` (Z, 4) what the signal set and F's linear part add, `absolute` (Z, 4) its absolute terms
    with 1 more for F (the loss is at most 1 + |F|). `mean` (Z, 4) is the tilted mean of all
    absolute terms, and `scales` (4,) about their mean over all patterns. Measured in the scales,
    the largest of the four: `weights` (Z, T) a set's absolute terms, `own_weight` (Z,) the
    signal's, and `log_share` (Z,) a bound for the mean of all, from that Z.
    """

    types: Types
    m: int
    scales: np.ndarray
    j: np.ndarray
    tilts: Tilts
    sets: np.ndarray
    own: np.ndarray
    absolute: np.ndarray
    mean: np.ndarray
    weights: np.ndarray
    own_weight: np.ndarray
    log_share: np.ndarray

    def some(self, rows: np.ndarray) -> "Window":
        """The same at some of its Z."""
        types, m, scales, j, tilts, *arrays = self
        tilts = Tilts(*(each[rows] for each in tilts))
        return Window(types, m, scales, j[rows], tilts, *(each[rows] for each in arrays))

    def log_tail(self, a: np.ndarray | float, b: np.ndarray | float) -> np.ndarray:
        """log E[W exp(a F + b (j' - j))] (Z,), W the weight, j' the sum of sets free of Z: a bound.

        The bound of W's mean where a F + b (j' - j) > R is this less R, for every a and b.
        """
        a, b = np.reshape(a, (-1, 1)), np.reshape(b, (-1, 1))
        tilted = self.tilts.log_law + a * self.sets[:, :, 0] + b * self.types.s
        top = tilted.max(axis=1)
        law = np.exp(tilted - top[:, None])
        g = law.sum(axis=1)
        with np.errstate(divide="ignore"):
            weight = np.log(self.own_weight + self.m * (law * self.weights).sum(axis=1) / g)
        exponent = a[:, 0] * self.own[:, 0] - b[:, 0] * self.j + self.m * (np.log(g) + top)
        return self.tilts.log_mass + exponent + weight

    def edge(
        self, log_allowed: np.ndarray | float, exponents: np.ndarray, a: int = 0, b: int = 0
    ) -> np.ndarray:
        """R (Z,) such that exp(-x R) E[W exp(x (a F + b (j' - j)))] is allowed for some exponent x.

        Without the exponential, what is allowed is W's mean over Z at most.
        """
        tails = [self.log_tail(a * x, b * x) for x in exponents]
        return ((np.maximum(tails, self.log_share) - log_allowed) / exponents).min(axis=0)


def look(
    sets: Sets, architecture: Architecture, types: Types, point: Point, j: np.ndarray
) -> Window | None:
    """The window of Z = C + j, or None if F overflows there."""
    Z, m = j + sets.C, sets.others
    own_tilts = tilts(sets, types, j)
    of_sets = np.stack(reduced.terms(sets, architecture, point, types, Z), axis=2)
    if not np.abs(of_sets).max() < LARGEST:
        return None
    linear = architecture.nu * sets.D * Z
    linear = np.stack([point.alpha * linear, linear, 0 * linear, 0 * linear], axis=1)
    own = of_sets[:, -1] + linear
    absolute = np.abs(of_sets[:, -1]) + np.abs(linear) + [1, 0, 0, 0]
    mean = absolute + m * np.einsum("zt,ztc->zc", own_tilts.law, np.abs(of_sets))
    scales = own_tilts.likely @ mean
    unit = np.divide(1, scales, out=np.zeros(4), where=scales > SMALLEST)
    weights, own_weight = (np.abs(of_sets) * unit).max(axis=2), (absolute * unit).max(axis=1)
    window = Window(
        types, m, scales, j, own_tilts, of_sets, own, absolute, mean, weights, own_weight, 0 * j
    )
    return window._replace(log_share=window.log_tail(0.0, 0.0))
