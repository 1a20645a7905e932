"""The simplified ViT (eq. T), its logistic loss and its gradient, analytic and by autograd.

F(X) = sum_i act(D sum_j S_ij <v, X_j>), act(x) = x^p + nu x, S = row softmax of A. Shapes:
X (n, D, d), y (n,) in {-1, 1}, v (d,), A (D, D), u = X v (n, D), S (D, D). Projecting the patches
on v first costs O(n D (d + D)); forming S X first costs D times d more and as much memory.
The logistic loss is -logsigmoid(margin): torch's softplus is linear above 20, off by 2e-9.
"""

from typing import NamedTuple

import torch
from torch.nn.functional import logsigmoid

from attention_theory.spatial.settings import Architecture


class Gradients(NamedTuple):
    """The mean loss (a scalar) with its gradients in v (d,) and in A (D, D, zero diagonal)."""

    loss: torch.Tensor
    v: torch.Tensor
    A: torch.Tensor


def outputs(u: torch.Tensor, S: torch.Tensor, architecture: Architecture) -> torch.Tensor:
    """F (n,) from the projected patches u = X v (n, D)."""
    x = u.shape[-1] * (u @ S.T)
    return (x**architecture.p + architecture.nu * x).sum(dim=-1)


def gradients(
    X: torch.Tensor,
    y: torch.Tensor,
    v: torch.Tensor,
    A: torch.Tensor,
    architecture: Architecture,
) -> Gradients:
    """The gradient of the mean logistic loss in closed form (Appendix H); A's diagonal is fixed.

    Written by hand for its two passes over X and because it shows the mathematics; it agrees with
    `gradients_by_autograd` to rounding.
    """
    n, D, d = X.shape
    p, nu = architecture.p, architecture.nu
    S = torch.softmax(A, dim=1)
    u = (X.view(n * D, d) @ v).view(n, D)
    x = D * (u @ S.T)
    power = x ** (p - 1)
    margin = y * (x * (power + nu)).sum(dim=1)
    dF = -y * torch.sigmoid(-margin) / n
    dx = dF[:, None] * (p * power + nu)
    dS = D * (dx.T @ u)
    du = D * (dx @ S)
    dA = S * (dS - (S * dS).sum(dim=1, keepdim=True))
    dA.fill_diagonal_(0)
    return Gradients(-logsigmoid(margin).mean(), X.view(n * D, d).T @ du.view(n * D), dA)


def gradients_by_autograd(
    X: torch.Tensor,
    y: torch.Tensor,
    v: torch.Tensor,
    A: torch.Tensor,
    architecture: Architecture,
) -> Gradients:
    """The same as `gradients` by automatic differentiation: the slow reference."""
    v, A = v.clone().requires_grad_(), A.clone().requires_grad_()
    margin = y * outputs(X @ v, torch.softmax(A, dim=1), architecture)
    loss = -logsigmoid(margin).mean()
    dv, dA = torch.autograd.grad(loss, (v, A))
    return Gradients(loss.detach(), dv, dA.fill_diagonal_(0))
