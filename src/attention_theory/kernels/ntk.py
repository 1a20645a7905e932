"""The empirical neural tangent kernel (NTK) and the Hessian, by automatic differentiation."""

import torch

from attention_theory.kernels.model import Data, Weights, evaluate, outputs


def tangent_kernel(kernel: str, X: torch.Tensor, weights: Weights) -> torch.Tensor:
    """J J^T / (N n), (R, N n, N n): J has the gradients of a run's outputs in all its weights.

    In these units the loss of a linear model falls at the rates of its eigenvalues.
    """
    leaves = Weights(*(W.detach().requires_grad_() for W in weights))
    F = outputs(kernel, X, leaves).flatten(1)
    rows = []
    for index in range(F.shape[1]):
        parts = torch.autograd.grad(F[:, index].sum(), leaves, retain_graph=True)
        rows.append(torch.cat([part.flatten(1) for part in parts], dim=1))
    J = torch.stack(rows, dim=1)
    return J @ J.mT / F.shape[1]


def hessian(kernel: str, data: Data, weights: Weights) -> torch.Tensor:
    """The Hessian of the loss in W_Q and W_K, (R, P, P) with P = 2 H k d."""
    Q, K = (W.detach().requires_grad_() for W in weights[:2])
    gradient = evaluate(kernel, data, weights._replace(Q=Q, K=K)).gradient
    flat = torch.cat([part.flatten(1) for part in gradient[:2]], dim=1)
    rows = []
    for index in range(flat.shape[1]):
        parts = torch.autograd.grad(flat[:, index].sum(), (Q, K), retain_graph=True)
        rows.append(torch.cat([part.flatten(1) for part in parts], dim=1))
    return torch.stack(rows, dim=1)
