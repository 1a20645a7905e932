"""Gaussian data: labels y = sign f*(X), and what can be said of them before any training.

A patch matters to its label through z_j = <w*, X_j> alone, a standard normal; f*(X) is the sum of
phi over the sets (Definition 2.1). Shapes: z (n, D), y (n,) in {-1, 1}, partition (D,).
"""

import numpy as np

from attention_theory.spatial.gaussian_settings import PHIS
from attention_theory.spatial.settings import Architecture


def labelling_function(phi: str, z: np.ndarray, partition: np.ndarray) -> np.ndarray:
    """f* (n,) from the coefficients z, in float64."""
    return PHIS[phi].function(_by_set(z.astype(float), partition)).sum(axis=1)


def labels(phi: str, z: np.ndarray, partition: np.ndarray) -> np.ndarray:
    """y = sign f*, float32; f* = 0 has probability zero and counts as -1."""
    return np.where(labelling_function(phi, z, partition) > 0, 1, -1).astype(np.float32)


def linear_accuracy(z: np.ndarray, y: np.ndarray) -> float:
    """The accuracy of the linear rule that knows the feature: sign sum_j <w*, X_j>."""
    return float(np.mean(y * z.sum(axis=1, dtype=float) > 0))


def contrast(
    z: np.ndarray, y: np.ndarray, partition: np.ndarray, architecture: Architecture
) -> float:
    """What the first step moves gamma and rho apart by, up to a positive factor.

    The mean of y x_i^(p-1) (z_j - z_k) over samples and patches: j in i's set (not i), k in
    another, x_i = sum_j S_ij z_j, A zero off its diagonal beta. From a small v = alpha w* a step
    adds eta_A (p/2) (alpha D)^p S_ij times this to gamma - rho; nu adds y (z_j - z_k), of mean 0.
    """
    C, D = np.bincount(partition)[0], len(partition)
    z = z.astype(float)
    total = z.sum(axis=1, keepdims=True)
    own = _by_set(z, partition).sum(axis=-1)[:, partition]  # the sum over i's set
    weight = np.exp(architecture.beta)
    x = (weight * z + total - z) / (weight + D - 1)
    difference = (own - z) / (C - 1) - (total - own) / (D - C)
    return float(np.mean(y[:, None] * x ** (architecture.p - 1) * difference))


def _by_set(z: np.ndarray, partition: np.ndarray) -> np.ndarray:
    """Coefficients (n, D) as (n, L, C), set by set."""
    order = np.argsort(partition, kind="stable")
    return z[:, order].reshape(len(z), partition.max() + 1, -1)
