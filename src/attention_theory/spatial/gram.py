"""Positional encodings P trained in place of A = P^T P, which the paper simplifies away.

P is (m, D). With G the gradient of the loss in A, the gradient in P is P (G + G^T). The rate is
eta_P = eta_A / (4 |P_i|^2), |P_i|^2 the mean squared length of an encoding at the start: with
orthonormal encodings, P^T P = |P_i|^2 I, a step then moves A by -eta_A (G + G^T) / 2 to first
order, as gradient descent on a symmetric A does.
"""

import numpy as np
import torch

from attention_theory.spatial.encoding import Encoding, Fixed
from attention_theory.spatial.model import Gradients
from attention_theory.spatial.settings import Architecture, Descent
from attention_theory.spatial.training import Problem

SHARE, LEAST = 0.1, 1e-3  # where steps are capped, |dv| <= SHARE max(|v|, LEAST)


class Encoded:
    """Parameters v (d,) and P (m, D) of a model with A = P^T P, moved by gradient descent.

    `diagonal` is the fixed diagonal of A, or None for P's own. With a `cap` above 0 a step is
    shortened so that no entry of A moves by more (to first order), and v by at most a tenth.
    """

    def __init__(
        self,
        v: np.ndarray,
        P: np.ndarray,
        descent: Descent,
        diagonal: float | None = None,
        cap: float = 0.0,
        device: str = "cpu",
    ) -> None:
        self.v, self.P = (torch.tensor(array, device=device) for array in (v, P))
        self.diagonal, self.cap = diagonal, cap
        self.eta_v = descent.eta_v
        self.eta_P = descent.eta_A / (4 * float((P**2).sum(axis=0).mean()))
        self.A = self._off_diagonal(self.P.T @ self.P, diagonal)

    @staticmethod
    def _off_diagonal(matrix: torch.Tensor, diagonal: float | None) -> torch.Tensor:
        """`matrix` with this diagonal, or with its own if None."""
        return matrix if diagonal is None else matrix.fill_diagonal_(diagonal)

    def gradient_in_P(self, gradient: Gradients) -> torch.Tensor:
        """The loss's gradient in P (m, D), from the one in A, which comes with a zero diagonal."""
        G = gradient.A
        if self.diagonal is None:
            # A softmax ignores what a whole row gains, so a row of the full gradient sums to zero.
            G = G - torch.diag(G.sum(dim=1))
        return self.P @ (G + G.T)

    def descend(self, gradient: Gradients) -> None:
        dv, dP = -self.eta_v * gradient.v, -self.eta_P * self.gradient_in_P(gradient)
        if self.cap:
            longest = SHARE * torch.linalg.vector_norm(self.v).clamp(min=LEAST)
            dv *= (longest / torch.linalg.vector_norm(dv)).clamp(max=1)
            dA = self.P.T @ dP
            dA = self._off_diagonal(dA + dA.T, None if self.diagonal is None else 0)
            dP *= (self.cap / dA.abs().max()).clamp(max=1)
        self.v += dv
        self.P += dP
        self.A = self._off_diagonal(self.P.T @ self.P, self.diagonal)


def begin(
    encoding: Encoding,
    problem: Problem,
    architecture: Architecture,
    descent: Descent,
    fixed: Fixed,
    rng: np.random.Generator,
    device: str = "cpu",
) -> Encoded:
    """The parameters at the start: the problem's v, and P drawn as the encoding says."""
    D = len(problem.partition)
    size = architecture.beta if encoding.free else fixed.size
    P = encoding.draw(D, size, descent.omega, rng)
    if encoding.free:
        return Encoded(problem.v, P, descent, device=device)
    return Encoded(problem.v, P, descent, architecture.beta, fixed.cap, device)
