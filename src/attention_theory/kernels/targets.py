"""Experiment A2's problems: chosen values, targets, and the lowest loss that scores can reach."""

import numpy as np
import torch

from attention_theory.kernels import problem as problems
from attention_theory.kernels.model import Data, Weights, outputs, project, tensors
from attention_theory.kernels.problem import Problem
from attention_theory.kernels.settings import Case, Sizes


def pose(sizes: Sizes, D: int, case: Case, base_seed: int, seed: int) -> Problem:
    """A problem with the case's values and target; `own` targets are set by `fit_own`.

    W_O is scaled by sqrt D, so that values and outputs are of order one. All cases of a seed with
    the same H and n share X, W_Q, W_K, W_O and the values at eps = 1.
    """
    drawn = problems.project(problems.draw(sizes, case.H, D, base_seed, "stuck", sizes.n, seed))
    tokens = drawn.X.reshape(sizes.tokens, -1)
    values = (tokens @ drawn.V.T).reshape(sizes.N, sizes.n, case.H)
    common = values.mean(1, keepdims=True)
    values = common + case.eps * (values - common)
    # N n independent tokens: some W_V gives these values.
    V = np.linalg.solve(tokens, values.reshape(sizes.tokens, case.H)).T
    O = np.sqrt(D) * drawn.O  # noqa: E741 - the paper's W_O
    target = np.broadcast_to(common @ O, drawn.Y.shape) if case.target == "common" else drawn.Y
    return drawn._replace(V=V, O=O, Y=case.size * target)


def fit_own(kernel: str, stacked: Problem, teacher: Problem, own: np.ndarray) -> tuple:
    """Data and weights of a stack; runs that are `own` (R,) get a teacher's outputs as targets.

    The teacher has the same tokens, values and W_O, but W_Q and W_K of its own.
    """
    data, weights = tensors(stacked)
    _, other = tensors(teacher)
    taught = outputs(kernel, data.X, weights._replace(Q=other.Q, K=other.K))
    Y = torch.where(torch.from_numpy(own)[:, None, None], taught, data.Y)
    return Data(data.X, Y), weights


def reach(kernel: str, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Lowest and highest output (R, N) that scores can make of values v_hj (R, H, N, n).

    softmax mixes a head's values: sum_h min_j v_hj to sum_h max_j v_hj, both as limits. A Gaussian
    score is any number in (0, 1]: within sum_hj min(v_hj, 0) and sum_hj max(v_hj, 0), though
    queries and keys may not give all scores at once.
    """
    if kernel == "softmax":
        return values.amin(-1).sum(1), values.amax(-1).sum(1)
    return values.clamp(max=0).sum((1, 3)), values.clamp(min=0).sum((1, 3))


def floor(kernel: str, data: Data, weights: Weights) -> torch.Tensor:
    """The loss (R,) that no W_Q and W_K fall below: the targets' distance from their reach.

    For softmax it is the infimum if d >= n and the N n tokens are independent, since all scores
    can then be had; for the Gaussian a lower bound.
    """
    values = project(data.X, weights)[2] * weights.O[..., None, None]
    low, high = (limit[..., None] for limit in reach(kernel, values))
    distance = (low - data.Y).clamp(min=0) + (data.Y - high).clamp(min=0)
    return (distance**2).mean((1, 2)) / 2
