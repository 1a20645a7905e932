"""The Euler flow of the particles, and what is measured on it."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from attention_theory.errors import BadInput
from attention_theory.meanfield import drawing
from attention_theory.meanfield.model import Flow, Particles, Tasks, Weights
from attention_theory.meanfield.settings import Descent, Problem


class State(NamedTuple):
    """The particles after a number of steps, and the predictions (S, B) on the training prompts."""

    step: int
    particles: Particles
    predictions: np.ndarray


def descend(
    flow: Flow, particles: Particles, weights: Weights, descent: Descent
) -> Iterator[State]:
    """Every state of theta -= d_tau (L M grad R + decay theta), the start included.

    Raises BadInput, naming the step, where the risk is no longer finite.
    """
    for step in range(descent.steps + 1):
        with np.errstate(over="ignore", invalid="ignore"):
            predictions, gradients = flow.gradients(particles, weights)
        if not np.isfinite(predictions).all():
            raise BadInput(f"step {step}: the risk is not finite; lower d_tau, mean or spread")
        yield State(step, particles, predictions)
        particles = particles.map(
            lambda theta, g: theta - descent.d_tau * (g + descent.decay * theta), gradients
        )


def risk(predictions: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Half the mean squared error (S,)."""
    return ((predictions - target) ** 2).mean(axis=-1) / 2


def gap(predictions: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The root mean square over prompts of the difference (S,)."""
    return np.sqrt(((predictions - others) ** 2).mean(axis=-1))


class Comparison:
    """The same prompts and atoms at several sizes, at the start and after training."""

    def __init__(
        self, base_seed: int, seeds: int, problem: Problem, K: int, descent: Descent
    ) -> None:
        self.base_seed, self.seeds, self.problem, self.K = base_seed, seeds, problem, K
        self.descent = descent
        self.tasks: dict[str, Tasks] = {
            kind: drawing.tasks(base_seed, seeds, problem, kind) for kind in ("train", "fresh")
        }

    def run(
        self, L: int, M_att: float, M_mlp: float, shared: bool = False
    ) -> dict[tuple[float, str], np.ndarray]:
        """Predictions (S, B) by (tau, kind of prompts), tau 0 and that of the last step."""
        key = (self.base_seed, self.seeds)
        weights = drawing.weights(*key, L, self.K, M_att, M_mlp, shared)
        start = drawing.atoms(*key, self.problem, self.K, L)
        flow, fresh = (Flow(self.tasks[kind], L, self.K) for kind in ("train", "fresh"))
        found = {}
        for state in descend(flow, start, weights, self.descent):
            if state.step in (0, self.descent.steps):
                tau = self.descent.tau(state.step)
                found[tau, "train"] = state.predictions
                found[tau, "fresh"] = fresh.predict(state.particles, weights)
        return found
