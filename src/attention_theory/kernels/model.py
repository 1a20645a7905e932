"""Attention with softmax or Gaussian scores, its loss and gradients, for many runs at once.

Every tensor has a first axis of runs (R): X (R, N, n, k), Y (R, N, n), and the weights below.
Gradients are written out (autograd builds a graph of tiny tensors at each step); a test compares.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
import torch

from attention_theory.kernels.problem import Problem


class Weights(NamedTuple):
    """Q, K (R, H, k, d), V (R, H, k) and O (R, H): of the parameters, or of their gradients."""

    Q: torch.Tensor
    K: torch.Tensor
    V: torch.Tensor
    O: torch.Tensor  # noqa: E741 - the paper's W_O


class Data(NamedTuple):
    """Tokens X (R, N, n, k) and labels Y (R, N, n)."""

    X: torch.Tensor
    Y: torch.Tensor


class Evaluation(NamedTuple):
    """The loss (R,) with its gradient."""

    loss: torch.Tensor
    gradient: Weights


def tensors(problem: Problem) -> tuple[Data, Weights]:
    """A stack of problems (problem.stack) as float64 tensors."""
    X, Y, *weights = (torch.from_numpy(np.ascontiguousarray(array)) for array in problem[:6])
    return Data(X, Y), Weights(*weights)


def project(X: torch.Tensor, weights: Weights) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queries and keys (R, H, N, n, d) and values (R, H, N, n): X W_Q, X W_K, X W_V.

    All in one product, the heads side by side: with an axis of their own X is copied for each.
    """
    R, N, n, width = X.shape
    together = torch.cat([weights.Q, weights.K, weights.V[..., None]], dim=-1)
    H, size = together.shape[1], together.shape[3]
    columns = together.transpose(1, 2).reshape(R, width, H * size)
    projected = (X.reshape(R, N * n, width) @ columns).reshape(R, N, n, H, size)
    q, k, v = projected.permute(0, 3, 1, 2, 4).split([size // 2, size // 2, 1], dim=-1)
    return q, k, v[..., 0]


def pull_back(X: torch.Tensor, *gradients: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The gradients of W_Q, W_K, W_V from those of `project(X, ...)`."""
    R, N, n, width = X.shape
    q, k, v = gradients
    together = torch.cat([q, k, v[..., None]], dim=-1)
    H, size = together.shape[1], together.shape[4]
    columns = together.permute(0, 2, 3, 1, 4).reshape(R, N * n, H * size)
    back = (X.reshape(R, N * n, width).mT @ columns).reshape(R, width, H, size).transpose(1, 2)
    Q, K, V = back.split([size // 2, size // 2, 1], dim=-1)
    return Q, K, V[..., 0]


def attend(kernel: str, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """S (R, H, N, n, n) from queries and keys (R, H, N, n, d).

    softmax: softmax(q k^T / sqrt d) over the last axis; gaussian: exp(-|q - k|^2 / sqrt d), whose
    rows are not normalised.
    """
    scores = q @ k.mT
    root = sqrt(q.shape[-1])
    if kernel == "softmax":
        return torch.softmax(scores / root, dim=-1)
    squares = (q**2).sum(-1)[..., :, None] + (k**2).sum(-1)[..., None, :]
    return torch.exp((2 * scores - squares) / root)


def outputs(kernel: str, X: torch.Tensor, weights: Weights) -> torch.Tensor:
    """F (R, N, n): the sum over heads of S X W_V W_O."""
    q, k, v = project(X, weights)
    attended = (attend(kernel, q, k) * v[..., None, :]).sum(-1)
    return (weights.O[..., None, None] * attended).sum(1)


def evaluate(kernel: str, data: Data, weights: Weights) -> Evaluation:
    """The loss, mean (F - Y)^2 / 2 over the N n outputs of a run, and its gradient."""
    X, Y = data
    q, k, v = project(X, weights)
    S = attend(kernel, q, k)
    attended = (S * v[..., None, :]).sum(-1)  # (R, H, N, n), as v
    O = weights.O[..., None, None]  # noqa: E741
    residual = (O * attended).sum(1) - Y
    dF = residual[:, None] / Y[0].numel()
    dO = (dF * attended).sum((2, 3))
    dF = O * dF
    # The scores' gradient: of softmax through its Jacobian, of the Gaussian's exponent.
    values = v[..., None, :]
    if kernel == "softmax":
        values = values - attended[..., None]
    weighted = S * dF[..., None]
    dv = weighted.sum(-2)
    dscores = weighted * values / sqrt(q.shape[-1])
    dq, dk = dscores @ k, dscores.mT @ q
    if kernel == "gaussian":
        dq = 2 * (dq - dscores.sum(-1)[..., None] * q)
        dk = 2 * (dk - dscores.sum(-2)[..., None] * k)
    gradient = Weights(*pull_back(X, dq, dk, dv), dO)
    return Evaluation((residual**2).mean((1, 2)) / 2, gradient)
