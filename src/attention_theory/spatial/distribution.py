"""The distribution with spatial structure (Definition 2.1, Assumption 1) and its labels.

Shapes: n samples, D patches in L sets of size C, patch dimension d. A sample's *pattern* is the
vector z in {-1, 0, 1}^D of feature coefficients: X_j = z_j w* + xi_j, with xi_j ~
N(0, (I - w* w*^T) / d). A *partition* is given as the set index of each patch, shape (D,).
"""

from typing import NamedTuple

import numpy as np

from attention_theory.spatial.settings import Distribution, check_partition

THRESHOLD = 0.9  # f* counts a set when the sum of its coefficients exceeds THRESHOLD * C


class Patterns(NamedTuple):
    """Feature coefficients z (n, D), labels y (n,) in {-1, 1} and signal sets (n,)."""

    z: np.ndarray
    y: np.ndarray
    signal: np.ndarray


def draw_partition(kind: str, distribution: Distribution, rng: np.random.Generator) -> np.ndarray:
    """The set index of each patch, shape (D,): `contiguous`, or `scattered` by a permutation.

    Scattered sets are contiguous ones whose patches were shuffled; the set indices *are* that
    stored shuffle. Raises BadInput for another kind.
    """
    check_partition(kind)
    sets = np.repeat(np.arange(distribution.L), distribution.C)
    return sets if kind == "contiguous" else rng.permutation(sets)


def draw_feature(d: int, rng: np.random.Generator) -> np.ndarray:
    """The feature w*, uniform on the unit sphere, shape (d,), float32."""
    direction = rng.standard_normal(d)
    return (direction / np.linalg.norm(direction)).astype(np.float32)


def sample_patterns(
    distribution: Distribution, partition: np.ndarray, n: int, rng: np.random.Generator
) -> Patterns:
    """Draw n patterns (int8): z = y on the signal set, +-1 with probability q/2 each elsewhere."""
    uniform = rng.random((n, distribution.D), dtype=np.float32)
    half = distribution.q / 2
    z = (uniform < half).astype(np.int8) - (uniform >= 1 - half).astype(np.int8)
    y = rng.choice(np.array([-1, 1], dtype=np.int8), n)
    signal = rng.integers(distribution.L, size=n)
    in_signal_set = partition == signal[:, None]
    return Patterns(np.where(in_signal_set, y[:, None], z), y, signal)


def embed(patterns: np.ndarray, feature: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Patches X (n, D, d) float32 from patterns (n, D): the feature plus noise orthogonal to it."""
    d = len(feature)
    X = rng.standard_normal((*patterns.shape, d), dtype=np.float32)
    X /= np.float32(np.sqrt(d))
    X += (patterns - X @ feature)[..., None] * feature
    return X


def sample(
    distribution: Distribution,
    partition: np.ndarray,
    feature: np.ndarray,
    n: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw n data points: X (n, D, d) float32 and labels y (n,) in {-1, 1}."""
    patterns = sample_patterns(distribution, partition, n, rng)
    return embed(patterns.z, feature, rng), patterns.y


def labelling_function(coefficients: np.ndarray, partition: np.ndarray, C: int) -> np.ndarray:
    """f*(X) = sum over sets of T(sum of <w*, X_i>), T(s) = s if |s| > 0.9 C else 0, shape (n,).

    `coefficients` (n, D) are the <w*, X_i>. The label is its sign; f* = 0 is a tie.
    """
    membership = np.eye(partition.max() + 1, dtype=np.float32)[partition]
    sums = coefficients.astype(np.float32) @ membership
    return np.where(np.abs(sums) > THRESHOLD * C, sums, 0).sum(axis=1)
