"""The attention encoder f(Z) = V Z softmax(Z^T W Z) and its derivatives, written out.

Everything is batched over the first dimension: tokens T (batch, D, n) with n = N + 1 columns
z_1 ... z_n, V and W (batch, D, D). The softmax is column-wise: S (batch, n, n) holds in column i
the weights P_i of query i. Derived by hand; the tests hold it against autograd and against
differences in 50 digits.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Attention(NamedTuple):
    """What the derivatives are made of, for one batch of tokens."""

    S: Tensor  # (batch, k, i): weight of token k for query i
    ZQ: Tensor  # (batch, i, D, k): Z Q_i, Q_i = diag(P_i) - P_i P_i^T
    C: Tensor  # (batch, i, D, D): Z Q_i Z^T, the covariance of the tokens under P_i


def softmax(logits: Tensor) -> Tensor:
    """The softmax of each column; complex logits are shifted by their real part."""
    top = logits.real.amax(-2, keepdim=True) if logits.is_complex() else logits.amax(-2, True)
    weights = (logits - top.detach()).exp()
    return weights / weights.sum(-2, keepdim=True)


def encoder(T: Tensor, V: Tensor, W: Tensor) -> Tensor:
    """f(T) (batch, D, n)."""
    return V @ T @ softmax(T.mT @ W @ T)


def covariance(P: Tensor) -> Tensor:
    """Q_i = diag(P_i) - P_i^T P_i (batch, i, n, n), without cancellation: its rows sum to 0."""
    across = P[..., :, None] * P[..., None, :] * (1 - torch.eye(P.shape[-1], dtype=P.dtype))
    return torch.diag_embed(across.sum(-1)) - across


def from_weights(T: Tensor, S: Tensor) -> Attention:
    """Z Q_i and Z Q_i Z^T of given softmax weights.

    From differences of tokens: near a saturated softmax z_k - sum_l P_il z_l would lose all digits.
    """
    apart = T[..., :, None] - T[..., None, :]  # z_k - z_l, (batch, D, k, l)
    centred = (apart @ S[:, None]).permute(0, 3, 1, 2)  # z_k - sum_l P_il z_l, (batch, i, D, k)
    ZQ = centred * S.mT[:, :, None]
    return Attention(S, ZQ, ZQ @ centred.mT)


def attend(T: Tensor, W: Tensor) -> Attention:
    """Weights, Z Q_i and covariances of softmax attention."""
    return from_weights(T, softmax(T.mT @ W @ T))


def blocks(T: Tensor, V: Tensor, W: Tensor) -> Tensor:
    """The blocks J_ij = d f_{:,i} / d z_j of the Jacobian, (batch, i, j, D, D)."""
    return _blocks(T, V, W, W)


def printed_blocks(T: Tensor, W: Tensor) -> Tensor:
    """J_ij = Z Q_i [E_ji Z^T W + Z^T W^T delta_ij] + P_ij I as printed (batch, i, j, D, D)."""
    return _blocks(T, identity(T), W, W.mT)


def _blocks(T: Tensor, V: Tensor, W: Tensor, X: Tensor) -> Tensor:
    """V (Z Q_i [e_j (X z_i)^T + Z^T X delta_ij] + P_ij I): X = W, or W^T where it was printed."""
    S, ZQ, C = attend(T, W)
    of_key = ZQ.mT[..., None] * (X @ T).mT[:, :, None, None]
    same = torch.eye(T.shape[-1], dtype=T.dtype)[:, :, None, None]
    of_query = same * (C @ X[:, None])[:, :, None]
    through_values = S.mT[..., None, None] * identity(T)[:, None, None]
    return V[:, None, None] @ (of_key + of_query + through_values)


def whole(blocks: Tensor) -> Tensor:
    """The Jacobian (batch, n D, n D) of its blocks (batch, i, j, D, D)."""
    batch, n, _, D, _ = blocks.shape
    return blocks.transpose(2, 3).reshape(batch, n * D, n * D)


def jacobian_by_complex_step(T: Tensor, V: Tensor, W: Tensor) -> Tensor:
    """The Jacobian's blocks from the definition of f alone, exact but for rounding.

    f is analytic: d f / d T_lj = Im f(T + i h e_lj) / h for a tiny h, without cancellation.
    """
    batch, D, n = T.shape
    h = 1e-150
    steps = torch.eye(n * D, dtype=T.dtype).reshape(n, D, n, D).transpose(2, 3)  # (j, l, D, n)
    shape = (batch, n, D, D, n)
    moved = torch.complex(T[:, None, None].expand(shape), (h * steps).expand(shape))
    f = encoder(moved, *(M[:, None, None].to(moved.dtype) for M in (V, W)))
    return (f.imag / h).permute(0, 4, 1, 3, 2)  # (batch, j, l, k, i) -> (batch, i, j, k, l)


def parameter_gram(T: Tensor, V: Tensor, W: Tensor) -> Tensor:
    """G G^T (batch, n D, n D) for G = d vec f / d (vec V, vec W): its top eigenvalue is |G|_2^2.

    d f_i = dV Z P_i + V C_i dW z_i gives the blocks (y_i . y_j) I + (z_i . z_j) V C_i C_j^T V^T.
    """
    S, _, C = attend(T, W)
    batch, D, n = T.shape
    Y, VC = T @ S, V[:, None] @ C
    first = (Y.mT @ Y)[..., None, None] * identity(T)[:, None, None]
    second = (T.mT @ T)[..., None, None] * (VC[:, :, None] @ VC[:, None].mT)
    return (first + second).transpose(2, 3).reshape(batch, n * D, n * D)


def identity(T: Tensor) -> Tensor:
    """I (1, D, D) for tokens (batch, D, n)."""
    return torch.eye(T.shape[-2], dtype=T.dtype)[None]


def spectral(M: Tensor) -> Tensor:
    """|M|_2, over the last two dimensions."""
    return torch.linalg.matrix_norm(M, ord=2)


def frobenius(*matrices: Tensor) -> Tensor:
    """The Frobenius norm of all these matrices together, |vec[A, B, ...]|_2."""
    return sum(M.pow(2).sum((-2, -1)) for M in matrices).sqrt()


def columns(M: Tensor) -> Tensor:
    """The Euclidean norm of every column; its maximum is the source's |M|_{2-col}."""
    return M.pow(2).sum(-2).sqrt()


def largest_column(M: Tensor) -> Tensor:
    """|M|_{2-col}."""
    return columns(M).amax(-1)
