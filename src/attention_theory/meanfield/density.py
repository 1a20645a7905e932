"""Assumption 4(ii): is the span of W2 hub(W1 T), |W1| <= 1, dense in the continuous functions?

`audit` fits networks of growing width to a target by least squares (the span over all W2 and many
random W1) and takes the smallest error, in the maximum over the domain. Where the span is not
dense there is a reason: points T_k and weights a_k with sum_k a_k h(T_k) = 0 for every h in it,
read at one column. Then max |g - h| >= |sum_k a_k g(T_k)| / sum_k |a_k| for every h, however wide.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from attention_theory.streams import stream

ERROR = 0.05  # what a dense span must be able to reach on the targets here, all of size 1
WIDTHS = (8, 64, 256)


class Task(NamedTuple):
    """A target on columns t (points, D) of the domain, and what every h is orthogonal to."""

    columns: np.ndarray  # (points, D): the column that h sees, and the output is read at
    target: np.ndarray  # (points,)
    annihilator: dict | None  # {"a": weights, "T": matrices, "column": read, "g": targets}


class Best(NamedTuple):
    """The smallest maximal error over widths and seeds, and the number of networks fitted."""

    error: float
    fitted: int


def hub(x: np.ndarray) -> np.ndarray:
    """The Huberised ReLU."""
    u = x.clip(0, 1)
    return u * (x - u / 2)


def tasks(name: str) -> list[Task]:
    """The targets of one statement, D = 1 (the corrected one: D = 2, the second entry constant)."""
    x = np.linspace(-1, 1, 201)
    if name == "4ii-bias":
        zero = {"a": [1], "T": [[[0, 0]]], "column": 0, "g": [1]}
        return [Task(x[:, None], np.ones_like(x), zero)]
    if name == "4ii-tokens":
        # The first column of the output should be the second of T, and h cannot see it.
        twice = {"a": [1, -1], "T": [[[0.5, 1]], [[0.5, -1]]], "column": 0, "g": [1, -1]}
        seen, hidden = (grid.ravel() for grid in np.meshgrid(x[::10], x[::10]))
        return [Task(seen[:, None], hidden, twice)]
    if name == "4ii-degree":
        # h is 2-homogeneous: h(1) = 4 h(1/2).
        square = {"a": [1, -4], "T": [[[1, 1]], [[0.5, 0.5]]], "column": 0, "g": [1, 0.5]}
        return [Task(x[:, None], x, square)]
    columns = np.stack([x, np.ones_like(x)], axis=1)
    targets = (np.ones_like(x), x, np.abs(x), np.sin(3 * x), np.where(x > 0, x, 0) - 0.5)
    return [Task(columns, target, None) for target in targets]


def lower_bound(annihilator: dict) -> float:
    """What max |g - h| cannot fall below: |sum_k a_k g_k| / sum_k |a_k|."""
    a, g = np.array(annihilator["a"], float), np.array(annihilator["g"], float)
    return float(abs(a @ g) / abs(a).sum())


def audit(
    name: str, base_seed: int, seeds: int, advance: Callable[[], None] = lambda: None
) -> Best:
    """Fit the statement's targets; the error is the worst target's, at its best network."""
    errors = []
    for number, task in enumerate(tasks(name)):
        fits = []
        for seed in range(seeds):
            rng = stream(base_seed, "meanfield.density", name, number, seed)
            fits += [_fit(task, width, rng) for width in WIDTHS]
            advance()
        errors.append(min(fits))
    return Best(max(errors), len(errors) * seeds * len(WIDTHS))


def _fit(task: Task, width: int, rng: np.random.Generator) -> float:
    """The maximal error of the least-squares fit by `width` units, their weights in the ball."""
    D = task.columns.shape[1]
    directions = rng.standard_normal((width, D))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    features = hub(task.columns @ (directions * rng.uniform(0, 1, (width, 1))).T)
    # Columns of one size, so that small W1 do not fall below the solver's cutoff.
    features /= np.abs(features).max(0).clip(min=1e-300)
    weights = np.linalg.lstsq(features, task.target, rcond=1e-10)[0]
    return float(np.abs(features @ weights - task.target).max())
