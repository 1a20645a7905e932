"""The trainings of experiment A1 on a stack of problems, and what is measured of each run."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch

from attention_theory.kernels.descent import descend
from attention_theory.kernels.model import Data, Weights, tensors
from attention_theory.kernels.problem import Problem
from attention_theory.kernels.settings import BACKTRACKING, Convergence
from attention_theory.kernels.values import Linear, linearise

VALUES, ALL = "values", "all"  # what is trained: W_V, or W_Q, W_K, W_V and W_O
FEWEST = 3  # points of a fitted rate


class Training(NamedTuple):
    """Losses (steps + 1, R), the steps (R,) until a run was done, and its linear model's facts.

    `limit` (R,) is the loss that no number of steps falls below, NaN where it is not known.
    """

    losses: np.ndarray
    steps: np.ndarray
    rank: np.ndarray
    condition: np.ndarray
    limit: np.ndarray

    def own_losses(self, run: int) -> np.ndarray:
        """The losses of one run until it was done."""
        return self.losses[: self.steps[run] + 1, run]

    def row(self, run: int) -> dict:
        """What the table says of one run."""
        losses, steps = self.own_losses(run), int(self.steps[run])
        return {
            "steps": steps,
            "loss_0": losses[0],
            "loss_half": losses[steps // 2],
            "loss": losses[-1],
            "rate": late_rate(losses),
            "rank": int(self.rank[run]),
            "condition": self.condition[run],
            "limit": self.limit[run],
        }


def both(kernel: str, stacked: Problem, convergence: Convergence) -> Iterator[tuple[str, Training]]:
    """W_V alone, and all weights, from the same start."""
    data, weights = tensors(stacked)
    linear = linearise(kernel, data, weights)
    yield VALUES, _values(linear, convergence.value_steps)
    yield ALL, _all(kernel, data, weights, linear, convergence)


def _values(linear: Linear, steps: int) -> Training:
    losses = linear.losses(1 / linear.largest, torch.arange(steps + 1))
    done = np.full(losses.shape[1], steps)
    return Training(losses.numpy(), done, *_facts(linear), linear.limit.numpy())


def _all(
    kernel: str, data: Data, weights: Weights, linear: Linear, convergence: Convergence
) -> Training:
    first = torch.ones_like(linear.largest)  # the rate finds its size within some trials
    found = descend(
        kernel, data, weights, "QKVO", BACKTRACKING, first, convergence.steps, convergence.stop
    )
    unknown = np.full(len(first), np.nan)
    return Training(found.losses.numpy(), found.steps.numpy(), *_facts(linear), unknown)


def _facts(linear: Linear) -> tuple[np.ndarray, np.ndarray]:
    return linear.rank.numpy(), linear.condition.numpy()


def late_rate(losses: np.ndarray) -> float:
    """The fall of log loss a step, by least squares over the second half (NaN if too short)."""
    half = np.arange(len(losses) // 2, len(losses))
    if len(half) < FEWEST:
        return np.nan
    return -float(np.polyfit(half - half.mean(), np.log(losses[half]), 1)[0])
