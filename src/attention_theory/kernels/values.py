"""Training W_V alone: a linear model, whose gradient descent has a closed form.

F is linear in W_V through the features B_0 = [W_O,h S_h X]_h, an (N n) x (H k) matrix that stays
as it is. The residual r = F - Y obeys r_t = (I - eta K)^t r_0 with K = B_0 B_0^T / (N n).
"""

from typing import NamedTuple

import torch

from attention_theory.kernels.model import Data, Weights, attend, outputs, project

RESOLUTION = 1e-12  # singular values below it, relative to the largest, are 0


class Linear(NamedTuple):
    """R runs: eigenvalues of K (R, N n), falling; r_0 in its eigenvectors (R, N n); the rank."""

    eigenvalues: torch.Tensor
    residual: torch.Tensor
    rank: torch.Tensor

    def losses(self, rate: torch.Tensor, steps: torch.Tensor) -> torch.Tensor:
        """The loss (steps, R) after each number of `steps` at each run's `rate` (R,)."""
        factor = 1 - rate[:, None] * self.eigenvalues
        powers = factor.abs() ** (2 * steps.to(factor))[:, None, None]
        return (powers * self.residual**2).mean(2) / 2

    @property
    def largest(self) -> torch.Tensor:
        """The largest eigenvalue (R,); steps up to 2 over it converge."""
        return self.eigenvalues[:, 0]

    @property
    def condition(self) -> torch.Tensor:
        """Smallest over largest eigenvalue (R,): at step 1 / largest, the rate in the limit."""
        return self.eigenvalues[:, -1] / self.largest

    @property
    def limit(self) -> torch.Tensor:
        """The loss (R,) that no number of steps falls below: r_0 outside the range of B_0."""
        return ((self.eigenvalues == 0) * self.residual**2).mean(1) / 2


def features(kernel: str, X: torch.Tensor, weights: Weights) -> torch.Tensor:
    """B_0 (R, N n, H k), each head's features times its W_O."""
    q, k, _ = project(X, weights)
    mixed = attend(kernel, q, k) @ X[:, None]  # (R, H, N, n, k)
    scaled = mixed * weights.O[..., None, None, None]
    return scaled.permute(0, 2, 3, 1, 4).flatten(3).flatten(1, 2)


def linearise(kernel: str, data: Data, weights: Weights) -> Linear:
    """The linear model of W_V around its start, by the singular values of B_0."""
    B = features(kernel, data.X, weights)
    tokens = B.shape[1]
    # All N n left vectors, also where B_0 has fewer columns.
    U, found, _ = torch.linalg.svd(torch.nn.functional.pad(B, (0, max(0, tokens - B.shape[2]))),
                                   full_matrices=False)  # fmt: skip
    kept = found > RESOLUTION * found[:, :1]
    residual = (outputs(kernel, data.X, weights) - data.Y).flatten(1)
    rotated = (U.mT @ residual[..., None])[..., 0]
    return Linear((found * kept) ** 2 / tokens, rotated, kept.sum(1))
