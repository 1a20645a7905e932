"""Gradient descent on the idealised problem (P): three scalars instead of A and v.

With the two rates of experiment 1: alpha moves against its derivative at eta_v, an entry of A
against its own, which is the reduced derivative divided by the number of such entries, at eta_A.
"""

from collections.abc import Iterator
from typing import NamedTuple

from attention_theory.errors import BadInput, within
from attention_theory.spatial.expectation import Expectation
from attention_theory.spatial.histograms import MOST_STATES, Enumeration, MonteCarlo
from attention_theory.spatial.histograms import number_of_states as states
from attention_theory.spatial.population_settings import Path, Point, Sets
from attention_theory.spatial.reduced import Gradient
from attention_theory.spatial.settings import Architecture
from attention_theory.statistics import wilson_interval
from attention_theory.streams import stream


class State(NamedTuple):
    """A step of a trajectory: where the process stands, and the gradient there."""

    step: int
    point: Point
    gradient: Gradient


def descend(expectation: Expectation, path: Path) -> Iterator[State]:
    """The states from alpha_0 w*, A = 0 off its diagonal, until the stopping rule.

    It stops at the first state whose risk is at most `stop_risk`, or after `steps` steps. Raises
    BadInput, naming the step, where a method is driven beyond its reach.
    """
    point = Point(path.alpha_0, 0.0, 0.0)
    for step in range(path.steps + 1):
        try:
            gradient = expectation.gradient(point)
        except BadInput as error:
            raise BadInput(f"step {step}: {error}") from None
        yield State(step, point, gradient)
        if gradient.risk <= path.stop_risk:
            return
        with within(f"step {step + 1}"):
            point = Point(
                point.alpha - path.eta_v * gradient.d_alpha,
                point.gamma - path.eta_A * gradient.d_gamma,
                point.rho - path.eta_A * gradient.d_rho,
            )


class Tested(NamedTuple):
    """The reduced classifier's error at a point, its 95 % interval, and how it was obtained."""

    error: float
    error_low: float
    error_high: float
    error_method: str


class TestSample:
    """The test error along a trajectory: exact where it can be enumerated, else sampled.

    A sample of `patterns` patterns is drawn once and is the same at every point; it is not the
    sample that a Monte Carlo trajectory descends on.
    """

    def __init__(
        self, sets: Sets, architecture: Architecture, patterns: int, base_seed: int
    ) -> None:
        self.exact = states(sets) <= MOST_STATES
        self.patterns = patterns
        rng = stream(base_seed, "spatial.population.test", sets.D, sets.C)
        self.histograms = (
            Enumeration(sets, architecture)
            if self.exact
            else MonteCarlo(sets, architecture, patterns, rng)
        )

    def error(self, point: Point) -> Tested:
        """The error at a point; a tie counts half. An exact error is its own interval."""
        error = self.histograms.error(point)
        if self.exact:
            return Tested(error, error, error, "exact")
        interval = wilson_interval(round(error * self.patterns), self.patterns)
        return Tested(error, interval.low, interval.high, "monte-carlo")
