"""The two sides of every statement on the Jacobian of f in the tokens (Assumption 2(iii))."""

import torch
from torch import Tensor

from attention_theory.meanfield import attention_bounds as assumption_2
from attention_theory.meanfield import attention_calculus as calculus
from attention_theory.meanfield.attention_bounds import Sides
from attention_theory.meanfield.attention_calculus import (
    columns,
    frobenius,
    largest_column,
    spectral,
)


def _jacobian(T: Tensor, V: Tensor, W: Tensor) -> Tensor:
    """|J| (batch,)."""
    return spectral(calculus.whole(calculus.blocks(T, V, W)))


def by_blocks(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2iii-1."""
    blocks = calculus.blocks(T, V, W)
    return spectral(calculus.whole(blocks)), spectral(blocks).flatten(1).norm(dim=1)


def by_largest_block(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2iii-2."""
    norms = spectral(calculus.blocks(T, V, W)).flatten(1)
    return norms.norm(dim=1), T.shape[-1] * norms.amax(1)


def _triangle(T: Tensor, W: Tensor, X: Tensor) -> Tensor:
    """P_ij + |T| |Q_i| |E_ji T^T X^T + T^T X delta_ij|, (batch, i, j)."""
    P = calculus.softmax(T.mT @ W @ T).mT
    eye = torch.eye(T.shape[-1], dtype=T.dtype)
    of_key = eye[..., None] * (X @ T).mT[:, :, None, None]  # e_j (X z_i)^T, (batch, i, j, k, l)
    inner = of_key + eye[:, :, None, None] * (T.mT @ X)[:, None, None]
    Q = calculus.covariance(P)
    return P + (spectral(T)[:, None] * spectral(Q))[..., None] * spectral(inner)


def block_first(T: Tensor, W: Tensor) -> Sides:
    """2iii-3: the true blocks of V = I against the printed terms."""
    left = spectral(calculus.blocks(T, calculus.identity(T), W))
    return left, _triangle(T, W, W.mT)


def block_first_corrected(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2iii-3-corrected."""
    return spectral(calculus.blocks(T, V, W)), spectral(V)[:, None, None] * _triangle(T, W, W)


def _per_block(left: Tensor, right: Tensor) -> Sides:
    return left, right[:, None, None].expand_as(left)


def block(T: Tensor, W: Tensor) -> Sides:
    """2iii-4."""
    left = spectral(calculus.blocks(T, calculus.identity(T), W))
    return _per_block(left, 1 + 2 * spectral(T) ** 2 * spectral(W))


def block_norms(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2iii-5."""
    left = 1 + 2 * spectral(T) ** 2 * spectral(W)
    return left, 1 + 2 * frobenius(T) ** 2 * frobenius(V, W)


def block_with_values(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2iii-V."""
    left = spectral(calculus.blocks(T, V, W))
    return _per_block(left, 1 + 2 * frobenius(T) ** 2 * frobenius(V, W))


def block_with_values_corrected(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2iii-V-corrected."""
    left = spectral(calculus.blocks(T, V, W))
    return _per_block(left, spectral(V) * (1 + 2 * spectral(T) ** 2 * spectral(W)))


def hence(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2iii-6: the last step of 2(iii), which is arithmetic."""
    n, square, theta = T.shape[-1], frobenius(T) ** 2, frobenius(V, W)
    return n * (1 + 2 * square * theta), 2 * (n - 1) * square * (1 + theta)


def hence_corrected(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2iii-6-corrected."""
    n, square, theta = T.shape[-1], frobenius(T) ** 2, frobenius(V, W)
    return n * (1 + 2 * square * theta), n * (1 + 2 * square) * (1 + theta)


def whole(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2iii."""
    right = 2 * (T.shape[-1] - 1) * frobenius(T) ** 2 * (1 + frobenius(V, W))
    return _jacobian(T, V, W), right


def whole_of_large_tokens(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2iii-large: where |T|_F < 1 nothing is stated, and the left side is given as 0."""
    left, right = whole(T, V, W)
    return torch.where(frobenius(T) >= 1, left, torch.zeros_like(left)), right


def whole_corrected(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2iii-corrected."""
    R, n = largest_column(T), T.shape[-1]
    size = R**2 + R * columns(T).norm(dim=-1)
    return _jacobian(T, V, W), spectral(V) * (n**0.5 + spectral(W) * size)


CHECKS = {
    "f-columns": assumption_2.f_columns,
    "f-columns-corrected": assumption_2.f_columns_corrected,
    "J-blocks": assumption_2.jacobian_as_printed,
    "J-blocks-corrected": assumption_2.jacobian_corrected,
    "2i-f": assumption_2.column_norm_of_f,
    "2i-f-1": assumption_2.column_norm_first,
    "2i-f-2": assumption_2.column_norm_second,
    "2i-f-2-corrected": assumption_2.column_norm_second_corrected,
    "2i-f-3": assumption_2.column_norm_third,
    "2ii-V-1": assumption_2.value_gradient_first,
    "2ii-V": assumption_2.value_gradient,
    "2ii-W-1": assumption_2.weight_gradient_first,
    "2ii-W-2": assumption_2.weight_gradient_second,
    "2ii-W": assumption_2.weight_gradient_bound,
    "2ii-W-corrected": assumption_2.weight_gradient_corrected,
    "2ii-column": assumption_2.column_gradient,
    "2ii-matrix": assumption_2.matrix_gradient,
    "2ii-matrix-corrected": assumption_2.matrix_gradient_corrected,
    "2iii-1": by_blocks,
    "2iii-2": by_largest_block,
    "2iii-3": block_first,
    "2iii-3-corrected": block_first_corrected,
    "2iii-4": block,
    "2iii-5": block_norms,
    "2iii-V": block_with_values,
    "2iii-V-corrected": block_with_values_corrected,
    "2iii-6": hence,
    "2iii-6-corrected": hence_corrected,
    "2iii": whole,
    "2iii-large": whole_of_large_tokens,
    "2iii-corrected": whole_corrected,
}
