"""Expectations over explicit patterns: how many of the other sets have each type.

A pattern is a row of counts (T,), the numbers of sets of each type among the m = L - 1 besides the
signal set; the order of the sets does not matter. `Enumeration` lists every such histogram with its
probability; `MonteCarlo` draws some once and for all (common random numbers).
"""

from decimal import Decimal
from math import comb
from typing import NamedTuple

import numpy as np

from attention_theory.errors import BadInput
from attention_theory.spatial import reduced
from attention_theory.spatial.population_settings import Point, Sets
from attention_theory.spatial.reduced import Gradient, Types
from attention_theory.spatial.settings import Architecture

MOST_STATES = 1_000_000
LARGEST = 1e150  # of a term: sums of them, and their squares, are finite
ROUNDING = 50.0  # of a sum of states, in units of the machine's
TIE = 1e-12  # |F| below this share of its mean absolute terms is a tie


class Evaluated(NamedTuple):
    """F (n,), its derivatives (3, n) and the sums of their absolute terms (4, n)."""

    F: np.ndarray
    derivatives: np.ndarray
    absolute: np.ndarray


class Histograms:
    """Weighted histograms `counts` (n, T), `weights` (n,); sorted by Z, for each Z is a product."""

    def __init__(
        self, sets: Sets, architecture: Architecture, counts: np.ndarray, weights: np.ndarray
    ) -> None:
        self.sets, self.architecture, self.types = sets, architecture, Types(sets)
        Z = sets.C + counts @ self.types.s.astype(counts.dtype)
        order = np.argsort(Z, kind="stable")
        self.counts, self.weights = counts[order].astype(float), weights[order]
        self.Z, starts = np.unique(Z[order], return_index=True)
        self.bounds = [*starts.tolist(), len(order)]

    def evaluate(self, point: Point) -> Evaluated:
        """F and its derivatives for every histogram. Raises BadInput where they overflow."""
        terms = np.stack(
            reduced.terms(self.sets, self.architecture, point, self.types, self.Z), axis=2
        )  # (Z, T, 4)
        if not np.abs(terms).max() < LARGEST:
            raise BadInput("alpha, gamma, rho: F overflows; lower |alpha|")
        columns = np.concatenate([terms, np.abs(terms)], axis=2)
        found = np.empty((len(self.counts), 8))
        linear = self.architecture.nu * self.sets.D * self.Z
        for z, (start, stop) in enumerate(zip(self.bounds, self.bounds[1:], strict=False)):
            block = self.counts[start:stop] @ columns[z] + columns[z, -1]
            block[:, 0] += point.alpha * linear[z]
            block[:, 1] += linear[z]
            block[:, 4] += abs(point.alpha * linear[z])
            block[:, 5] += abs(linear[z])
            found[start:stop] = block
        return Evaluated(found[:, 0], found[:, 1:4].T, found[:, 4:].T)

    def moments(self, evaluated: Evaluated) -> tuple[np.ndarray, np.ndarray]:
        """Each histogram's loss and minus sigmoid(-F) dF (4, n), and their absolute terms."""
        F = evaluated.F
        loss = np.logaddexp(0, -F)
        sigmoid = np.exp(-np.logaddexp(0, F))
        values = np.concatenate([loss[None], -sigmoid * evaluated.derivatives])
        absolute = np.concatenate([loss[None], sigmoid * evaluated.absolute[1:]])
        return values, absolute

    def error(self, point: Point) -> float:
        """The probability that sign F is not y, a tie counting half."""
        evaluated = self.evaluate(point)
        tie = np.abs(evaluated.F) <= TIE * (self.weights @ evaluated.absolute[0])
        return float(self.weights @ np.where(tie, 0.5, evaluated.F < 0))


class Enumeration(Histograms):
    """Every histogram with its multinomial probability: exact up to rounding."""

    def __init__(self, sets: Sets, architecture: Architecture) -> None:
        """Raises BadInput, with their number, above `MOST_STATES` histograms."""
        states = number_of_states(sets)
        if states > MOST_STATES:
            raise BadInput(
                f"method exact: D = {sets.D}, C = {sets.C} has {Decimal(states):.3g} states to "
                f"enumerate, more than {MOST_STATES:.0e}; use fourier or monte-carlo"
            )
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
        values, absolute = self.moments(self.evaluate(point))
        scales = absolute @ self.weights
        return Gradient(
            *reduced.per_entry(self.sets, values @ self.weights),
            reduced.per_entry(self.sets, self.rounding * scales),
            reduced.per_entry(self.sets, scales),
        )


class MonteCarlo(Histograms):
    """A common sample of histograms: the same for every point of a trajectory."""

    def __init__(
        self, sets: Sets, architecture: Architecture, samples: int, rng: np.random.Generator
    ) -> None:
        probability = Types(sets).probability
        counts = rng.multinomial(sets.others, probability / probability.sum(), size=samples)
        super().__init__(sets, architecture, counts, np.full(samples, 1 / samples))

    def gradient(self, point: Point) -> Gradient:
        """The sample's mean gradient at a point, with standard errors."""
        values, absolute = self.moments(self.evaluate(point))
        standard = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
        return Gradient(
            *reduced.per_entry(self.sets, values.mean(axis=1)),
            reduced.per_entry(self.sets, standard),
            reduced.per_entry(self.sets, absolute.mean(axis=1)),
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
