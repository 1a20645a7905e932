"""Expectations over explicit patterns: how many of the other sets have each type.

A pattern is a row of counts (T,), the numbers of sets of each type among the m = L - 1 besides the
signal set; the order of the sets does not matter. `Enumeration` lists every such histogram with its
probability; `MonteCarlo` draws some once and for all (common random numbers).
"""

from decimal import Decimal
from math import comb

import numpy as np

from attention_theory.errors import BadInput
from attention_theory.spatial import reduced
from attention_theory.spatial.population_settings import Point, Sets
from attention_theory.spatial.reduced import Gradient, Types
from attention_theory.spatial.settings import Architecture

MOST_STATES = 1_000_000
MOST_COUNTS = 100_000_000  # of a sample: 0.8 GB, and as much again to sort them
LARGEST = 1e150  # of a term: sums of them, and their squares, are finite
ROUNDING = 50.0  # of a sum of states, in units of the machine's
TIE = 1e-12  # |F| below this share of its mean absolute terms is a tie


class Histograms:
    """Histograms (n, T) with weights (n,); sorted by Z, for each Z is one product.

    In that order are `counts` (T, n), the signal set among the sets of its type, `weights` (n,)
    and `linear` (n,), the derivative in alpha of F's linear part.
    """

    def __init__(
        self, sets: Sets, architecture: Architecture, counts: np.ndarray, weights: np.ndarray
    ) -> None:
        self.sets, self.architecture, self.types = sets, architecture, Types(sets)
        Z = sets.C + counts @ self.types.s.astype(counts.dtype)
        order = np.argsort(Z, kind="stable")
        self.counts = np.ascontiguousarray(counts[order].T, dtype=float)
        self.counts[-1] += 1
        self.weights = weights[order]
        self.linear = architecture.nu * sets.D * Z[order]
        self.Z, starts = np.unique(Z[order], return_index=True)
        self.bounds = [*starts.tolist(), len(order)]

    def evaluate(self, point: Point) -> np.ndarray:
        """F, and its derivatives in alpha, gamma, rho, (4, n). Raises BadInput on overflow."""
        found = self._sum(self._terms(point))
        found[0] += point.alpha * self.linear
        found[1] += self.linear
        return found

    def absolute(self, point: Point) -> np.ndarray:
        """The sums of the absolute terms of F and its derivatives, every set a term, (4, n)."""
        found = self._sum(np.abs(self._terms(point)))
        found[0] += np.abs(point.alpha * self.linear)
        found[1] += np.abs(self.linear)
        return found

    def error(self, point: Point) -> float:
        """The probability that sign F is not y, a tie counting half."""
        F = self.evaluate(point)[0]
        tie = np.abs(F) <= TIE * (self.weights @ self.absolute(point)[0])
        return float(self.weights @ np.where(tie, 0.5, F < 0))

    def _terms(self, point: Point) -> np.ndarray:
        """What a set adds to F and to its derivatives, (Z, 4, T)."""
        terms = reduced.terms(self.sets, self.architecture, point, self.types, self.Z)
        stacked = np.stack(terms, axis=1)
        if not np.abs(stacked).max() < LARGEST:
            raise BadInput("alpha, gamma, rho: F overflows; lower |alpha|")
        return stacked

    def _sum(self, terms: np.ndarray) -> np.ndarray:
        """The sums of terms (Z, 4, T) over the sets of every histogram, (4, n)."""
        found = np.empty((4, len(self.weights)))
        for of_Z, start, stop in zip(terms, self.bounds, self.bounds[1:], strict=False):
            np.matmul(of_Z, self.counts[:, start:stop], out=found[:, start:stop])
        return found


def loss_and_sigmoid(F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log(1 + exp(-F)) and sigmoid(-F), without overflow, from one exponential."""
    small = np.exp(-np.abs(F))
    return np.maximum(-F, 0) + np.log1p(small), np.where(F < 0, 1, small) / (1 + small)


class Enumeration(Histograms):
    """Every histogram with its multinomial probability: exact up to rounding."""

    def __init__(self, sets: Sets, architecture: Architecture) -> None:
        """Raises BadInput, with their number, above `MOST_STATES` histograms."""
        check_states(sets)
        types = Types(sets)
        counts = compositions(sets.others, len(types.s))
        log_factorial = reduced.log_factorials(sets.others)
        log_weights = log_factorial[-1] + sum(
            k * log_p - log_factorial[k]
            for k, log_p in zip(counts.T, types.log_probability, strict=True)
        )
        weights = np.exp(log_weights)
        super().__init__(sets, architecture, counts, weights / weights.sum())
        # Probabilities are exponentials of differences of logs as large as log m!.
        self.rounding = np.finfo(float).eps * (ROUNDING + log_factorial[-1])

    def gradient(self, point: Point) -> Gradient:
        """The population gradient at a point."""
        F, *derivatives = self.evaluate(point)
        loss, sigmoid = loss_and_sigmoid(F)
        risk, weights = loss @ self.weights, sigmoid * self.weights
        scales = np.append(risk, self.absolute(point)[1:] @ weights)
        return Gradient(
            *reduced.per_entry(self.sets, np.append(risk, -np.stack(derivatives) @ weights)),
            reduced.per_entry(self.sets, self.rounding * scales),
            reduced.per_entry(self.sets, scales),
        )


class MonteCarlo(Histograms):
    """A common sample of histograms: the same for every point of a trajectory.

    Histograms that were drawn twice are kept once.
    """

    def __init__(
        self, sets: Sets, architecture: Architecture, samples: int, rng: np.random.Generator
    ) -> None:
        probability = Types(sets).probability
        size = samples * len(probability)
        if size > MOST_COUNTS:
            raise BadInput(
                f"method: monte-carlo is beyond its reach with {samples} samples at C = {sets.C}, "
                f"{size:.3g} counts of set types, above {MOST_COUNTS:.0e}"
            )
        drawn = rng.multinomial(sets.others, probability / probability.sum(), size=samples)
        counts, times = np.unique(drawn, axis=0, return_counts=True)
        super().__init__(sets, architecture, counts, times / samples)
        self.samples = samples

    def patterns(self) -> np.ndarray:
        """The patterns z (samples, D) that were drawn: the signal set first, the others by type."""
        C, types = self.sets.C, self.types
        places = np.arange(C)
        of_type = (places < types.a[:, None]).astype(np.float32)
        of_type -= (places >= C - types.b[:, None]).astype(np.float32)
        times = np.rint(self.weights * self.samples).astype(int)
        counts = np.repeat(self.counts.T.astype(int), times, axis=0)
        counts[:, -1] -= 1  # the signal set comes first
        n = len(counts)
        kinds = np.repeat(np.tile(np.arange(len(types.a)), n), counts.ravel())
        signal = np.ones((n, C), np.float32)
        return np.concatenate([signal, of_type[kinds].reshape(n, -1)], axis=1)

    def gradient(self, point: Point) -> Gradient:
        """The sample's mean gradient at a point, with standard errors."""
        values = self.evaluate(point)
        values[0], sigmoid = loss_and_sigmoid(values[0])
        values[1:] *= -sigmoid
        mean = values @ self.weights
        variance = np.square(values - mean[:, None]) @ self.weights
        return Gradient(
            *reduced.per_entry(self.sets, mean),
            reduced.per_entry(self.sets, np.sqrt(variance / (self.samples - 1))),
            reduced.per_entry(self.sets, np.abs(values) @ self.weights),
        )


def check_states(sets: Sets) -> None:
    """Raise BadInput, naming the other methods, if there are too many histograms to enumerate."""
    states = number_of_states(sets)
    if states > MOST_STATES:
        raise BadInput(
            f"method: exact is beyond its reach at D = {sets.D}, C = {sets.C}, with "
            f"{Decimal(states):.3g} states, above {MOST_STATES:.0e}; use fourier or monte-carlo"
        )


def number_of_states(sets: Sets) -> int:
    """The number of multisets of m set types."""
    types = (sets.C + 1) * (sets.C + 2) // 2
    return comb(sets.others + types - 1, types - 1)


def compositions(m: int, parts: int) -> np.ndarray:
    """Every way to write m as an ordered sum of `parts` counts, (number, parts), each once."""
    left = np.array([m])
    columns: list[np.ndarray] = []
    for _ in range(parts - 1):
        choices = left + 1
        parent = np.repeat(np.arange(len(left)), choices)
        starts = np.repeat(np.cumsum(choices) - choices, choices)
        count = np.arange(len(parent)) - starts
        columns = [column[parent] for column in columns] + [count]
        left = left[parent] - count
    return np.stack([*columns, left], axis=1)
