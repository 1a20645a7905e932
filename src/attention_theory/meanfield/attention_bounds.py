"""The two sides of every statement on the attention encoder f (Assumption 2), batched.

A check takes the matrices that its Bound names, each (batch, rows, columns), and returns the left
and the right side, (batch,) or (batch, places) where the statement holds place by place (for each
query i, for each block i, j). Of an identity the two sides are |A - B|_F and the size of A and B.
"""

import torch
from torch import Tensor

from attention_theory.meanfield import attention_calculus as calculus
from attention_theory.meanfield.attention_calculus import (
    columns,
    frobenius,
    largest_column,
    spectral,
)

Sides = tuple[Tensor, Tensor]


def same(A: Tensor, B: Tensor) -> Sides:
    """The sides of an identity A = B: their distance and their size."""
    A, B = A.flatten(1), B.flatten(1)
    return (A - B).norm(dim=1), A.norm(dim=1) + B.norm(dim=1)


def f_columns(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """f-columns."""
    left, _ = same(calculus.encoder(T, V, W), T @ calculus.softmax(T.mT @ W @ T))
    return left, _size(T, V)


def _size(T: Tensor, V: Tensor) -> Tensor:
    """(1 + |V|_F) |T|_F: the size of f's terms, which may cancel in f itself."""
    return (1 + frobenius(V)) * frobenius(T)


def f_columns_corrected(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """f-columns-corrected: column by column, each a sum over j."""
    P = calculus.softmax(T.mT @ W @ T).mT
    sums = (P[:, :, None] * T[:, None]).sum(-1).mT
    left, _ = same(calculus.encoder(T, V, W), V @ sums)
    return left, _size(T, V)


def jacobian_as_printed(T: Tensor, W: Tensor) -> Sides:
    """J-blocks."""
    V = calculus.identity(T)
    return same(calculus.blocks(T, V, W), calculus.printed_blocks(T, W))


def jacobian_corrected(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """J-blocks-corrected, against the derivative of the definition."""
    return same(calculus.blocks(T, V, W), calculus.jacobian_by_complex_step(T, V, W))


def column_norm_of_f(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2i-f."""
    return largest_column(calculus.encoder(T, V, W)), frobenius(V, W) * largest_column(T)


def column_norm_first(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2i-f-1."""
    S = calculus.softmax(T.mT @ W @ T)
    return largest_column(V @ T @ S), spectral(V) * spectral(T) * largest_column(S)


def column_norm_second(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2i-f-2."""
    S = calculus.softmax(T.mT @ W @ T)
    left = spectral(V) * spectral(T) * largest_column(S)
    return left, frobenius(V, W) * largest_column(T) * S.sum(-2).amax(-1)


def column_norm_second_corrected(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2i-f-2-corrected."""
    S = calculus.softmax(T.mT @ W @ T)
    return largest_column(V @ T @ S), spectral(V) * largest_column(T) * S.sum(-2).amax(-1)


def column_norm_third(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2i-f-3."""
    right = frobenius(V, W) * largest_column(T)
    return right * calculus.softmax(T.mT @ W @ T).sum(-2).amax(-1), right


def value_gradient(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2ii-V: d f_i = dV Z P_i, so that |grad_V f_i| = |Z P_i|."""
    mixed = columns(T @ calculus.softmax(T.mT @ W @ T))
    return mixed, largest_column(T)[:, None].expand_as(mixed)


def value_gradient_first(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2ii-V-1."""
    S = calculus.softmax(T.mT @ W @ T)
    return columns(T @ S), (columns(T)[:, None] @ S)[:, 0]


def weight_gradient(T: Tensor, V: Tensor, W: Tensor) -> Tensor:
    """|grad_W f_i| (batch, i): d f_i = V C_i dW z_i, so that it is |V C_i| |z_i|."""
    return spectral(V[:, None] @ calculus.attend(T, W).C) * columns(T)


def weight_gradient_bound(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2ii-W."""
    left = weight_gradient(T, V, W)
    right = largest_column(T) ** 3 * frobenius(V, W)
    return left, right[:, None].expand_as(left)


def _printed_weight_sum(T: Tensor, V: Tensor, W: Tensor, order: int) -> Tensor:
    """sum_j P_ij sum_l |z_l^T z_j| |(Q_i)_l|_order |V| |z_j|, (batch, i)."""
    S = calculus.softmax(T.mT @ W @ T)
    P = S.mT
    rows = torch.linalg.vector_norm(calculus.covariance(P), ord=order, dim=-1)  # (batch, i, l)
    inner = rows @ (T.mT @ T).abs()  # (batch, i, j)
    return spectral(V)[:, None] * (P * inner * columns(T)[:, None]).sum(-1)


def weight_gradient_first(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2ii-W-1, rows of Q_i by their sums: the larger right side."""
    return weight_gradient(T, V, W), _printed_weight_sum(T, V, W, 1)


def weight_gradient_second(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2ii-W-2, rows of Q_i by their Euclidean norms: the smaller left side."""
    left = _printed_weight_sum(T, V, W, 2)
    right = largest_column(T) ** 3 * frobenius(V, W)
    return left, right[:, None].expand_as(left)


def weight_gradient_corrected(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2ii-W-corrected."""
    right = spectral(V)[:, None] * spectral(calculus.attend(T, W).C) * columns(T)
    return weight_gradient(T, V, W), right


def _parameters(T: Tensor, V: Tensor, W: Tensor) -> Tensor:
    R = largest_column(T)
    return (R + R**3) * (1 + frobenius(V, W))


def column_gradient(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2ii-column: the Gram matrix of d f_i / d theta is |Z P_i|^2 I + |z_i|^2 V C_i C_i^T V^T."""
    mixed = columns(T @ calculus.softmax(T.mT @ W @ T))
    left = torch.hypot(mixed, weight_gradient(T, V, W))
    return left, _parameters(T, V, W)[:, None].expand_as(left)


def _whole_gradient(T: Tensor, V: Tensor, W: Tensor) -> Tensor:
    return spectral(calculus.parameter_gram(T, V, W)).sqrt()


def matrix_gradient(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2ii-matrix."""
    return _whole_gradient(T, V, W), _parameters(T, V, W)


def matrix_gradient_corrected(T: Tensor, V: Tensor, W: Tensor) -> Sides:
    """2ii-matrix-corrected."""
    R, n = largest_column(T), T.shape[-1]
    return _whole_gradient(T, V, W), n**0.5 * (R + R**3 * spectral(V))
