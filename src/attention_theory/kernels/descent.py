"""Gradient descent on many runs at once, with fixed or backtracking steps.

A step is one evaluation of loss and gradient, for either: a backtracking step that is refused
counts, so that a budget of steps is a budget of work.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch

from attention_theory.errors import BadInput
from attention_theory.kernels.model import Data, Evaluation, Weights, evaluate
from attention_theory.kernels.settings import BACKTRACKING

GROW, SHRINK = 1.2, 0.5  # of a rate after a step that is taken, and after one that is refused
BLOCK = 25  # steps between two looks for runs that are done, which are then left out


class State(NamedTuple):
    """Weights of R runs with their loss (R,), its gradient, and the rates (R,)."""

    weights: Weights
    loss: torch.Tensor
    gradient: Weights
    rate: torch.Tensor


class Descent(NamedTuple):
    """The last state of every run, the losses (steps + 1, R) and the steps until it was done."""

    state: State
    losses: torch.Tensor
    steps: torch.Tensor


def descend(
    kernel: str,
    data: Data,
    weights: Weights,
    trained: str,
    method: str,
    rate: torch.Tensor,
    steps: int,
    stop: float = 0.0,
) -> Descent:
    """Descend from `weights` in those that `trained` names (such as QKVO), each run by itself.

    `rate` (R,) is fixed, or the first one tried. A run is done when its loss is at most `stop`
    times its first; its loss is then repeated, and its steps count no further. Raises BadInput
    where fixed steps lead to a loss that is no number.
    """
    state = State(weights, *evaluate(kernel, data, weights), rate)
    goal = stop * state.loss
    losses = state.loss.repeat(steps + 1, 1)
    done = torch.full_like(goal, steps, dtype=torch.int64)
    done[state.loss <= goal] = 0
    for first in range(0, steps, BLOCK):
        active = (state.loss > goal).nonzero()[:, 0]
        if not len(active):
            break
        own_data, own, own_goal = _map((data, state, goal), lambda x, i=active: x[i])

        def at(weights: Weights, data: Data = own_data) -> Evaluation:
            return evaluate(kernel, data, weights)

        for step in range(first + 1, min(first + BLOCK, steps) + 1):
            moving = own.loss > own_goal
            own = advance(at, own, trained, method, moving)
            if not own.loss.isfinite().all():
                raise BadInput(f"rate: a loss is no number at step {step}; it must be lower")
            losses[step:, active] = own.loss
            done[active[moving & (own.loss <= own_goal)]] = step
        state = _zip(state, own, lambda x, part, i=active: x.index_copy(0, i, part))
    return Descent(state, losses, done)


def advance(
    at: Callable[[Weights], Evaluation],
    state: State,
    trained: str,
    method: str,
    moving: torch.Tensor,
) -> State:
    """One step of the runs that are `moving` (R,); the others stay as they are.

    A fixed step is always taken; a backtracking one if it lowers the loss (rate x 1.2), else it is
    refused (rate x .5).
    """
    weights = Weights(
        *(
            W - _along(state.rate, g) * g if name in trained else W
            for name, W, g in zip(Weights._fields, state.weights, state.gradient, strict=True)
        )
    )
    trial = at(weights)
    rate = state.rate
    taken = moving
    if method == BACKTRACKING:
        lower = trial.loss < state.loss  # false for NaN
        taken = moving & lower
        rate = torch.where(moving, rate * torch.where(lower, GROW, SHRINK), rate)
    new = State(weights, trial.loss, trial.gradient, rate)
    chosen = _zip(new, state, lambda a, b: torch.where(_along(taken, a), a, b))
    return chosen._replace(rate=rate)


def _along(values: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Values (R,) shaped to go with a tensor whose first axis is R."""
    return values.reshape(-1, *[1] * (other.dim() - 1))


def _map(tree, function):
    """The same nested tuples with a function applied to every tensor."""
    if isinstance(tree, torch.Tensor):
        return function(tree)
    parts = [_map(part, function) for part in tree]
    return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)


def _zip(one, other, function):
    """The same for pairs of tensors; a tensor that both sides share is left as it is."""
    if isinstance(one, torch.Tensor):
        return one if one is other else function(one, other)
    return type(one)(*(_zip(a, b, function) for a, b in zip(one, other, strict=True)))
