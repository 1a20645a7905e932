"""The two sides of every statement on the MLP h(T) = W2 hub(W1 T), entry by entry hub, batched.

hub is the Huberised ReLU of the source: 0, x^2 / 2, x - 1/2 on x <= 0, [0, 1], x >= 1.
"""

from torch import Tensor

from attention_theory.meanfield.attention_bounds import Sides, same
from attention_theory.meanfield.attention_calculus import frobenius, largest_column, spectral


def hub(x: Tensor) -> Tensor:
    """The Huberised ReLU: u (x - u / 2) with u = x clipped to [0, 1]."""
    u = x.clamp(0, 1)
    return u * (x - u / 2)


def mlp(T: Tensor, W1: Tensor, W2: Tensor) -> Tensor:
    """h(T), (batch, D, n)."""
    return W2 @ hub(W1 @ T)


def hub_below_its_argument(T: Tensor) -> Sides:
    """2i-hub, for every entry of T."""
    return hub(T).abs().flatten(1), T.abs().flatten(1)


def outer_matrix(T: Tensor, W1: Tensor, W2: Tensor) -> Sides:
    """2i-h-1."""
    return largest_column(mlp(T, W1, W2)), spectral(W2) * largest_column(hub(W1 @ T))


def activation(T: Tensor, W1: Tensor, W2: Tensor) -> Sides:
    """2i-h-2."""
    left = spectral(W2) * largest_column(hub(W1 @ T))
    return left, spectral(W2) * largest_column(W1 @ T)


def inner_matrix(T: Tensor, W1: Tensor, W2: Tensor) -> Sides:
    """2i-h-3."""
    left = spectral(W2) * largest_column(W1 @ T)
    return left, 2 * frobenius(W1, W2) ** 2 * largest_column(T)


def column_norm(T: Tensor, W1: Tensor, W2: Tensor) -> Sides:
    """2i-h."""
    right = 2 * frobenius(W1, W2) ** 2 * largest_column(T)
    return largest_column(mlp(T, W1, W2)), right


def column_norm_linear(T: Tensor, W1: Tensor, W2: Tensor) -> Sides:
    """2i-h-K1."""
    return largest_column(mlp(T, W1, W2)), frobenius(W1, W2) * largest_column(T)


def column_norm_affine(T: Tensor, W1: Tensor, W2: Tensor) -> Sides:
    """2i-h-K1-affine."""
    return largest_column(mlp(T, W1, W2)), (1 + frobenius(W1, W2)) * largest_column(T)


def column_norm_corrected(T: Tensor, W1: Tensor, W2: Tensor) -> Sides:
    """2i-h-corrected."""
    right = frobenius(W1, W2) ** 2 * largest_column(T) / 2
    return largest_column(mlp(T, W1, W2)), right


def homogeneous(T: Tensor, W1: Tensor, W2: Tensor, c: Tensor) -> Sides:
    """4i, c a 1 x 1 matrix."""
    return same(mlp(T, W1, c * W2), c * mlp(T, W1, W2))


def scaled_into_the_parabola(T: Tensor, W1: Tensor) -> Sides:
    """4ii-scale."""
    return (W1 @ T).abs().amax((-2, -1)), largest_column(T) * spectral(W1)


def square(T: Tensor) -> Sides:
    """4ii-square, at x = T / max(1, |T|_max)."""
    x = _into_unit(T)
    return same(hub(x), x.clamp(min=0) ** 2)


def square_corrected(T: Tensor) -> Sides:
    """4ii-square-corrected."""
    x = _into_unit(T)
    return same(hub(x), x.clamp(min=0) ** 2 / 2)


def _into_unit(T: Tensor) -> Tensor:
    return T / T.abs().amax((-2, -1), keepdim=True).clamp(min=1)


CHECKS = {
    "2i-hub": hub_below_its_argument,
    "2i-h-1": outer_matrix,
    "2i-h-2": activation,
    "2i-h-3": inner_matrix,
    "2i-h": column_norm,
    "2i-h-K1": column_norm_linear,
    "2i-h-K1-affine": column_norm_affine,
    "2i-h-corrected": column_norm_corrected,
    "4i": homogeneous,
    "4ii-scale": scaled_into_the_parabola,
    "4ii-square": square,
    "4ii-square-corrected": square_corrected,
}
