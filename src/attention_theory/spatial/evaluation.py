"""Validation and test without d-dimensional data, exactly in law.

The model sees a patch only through <v, X_j> = alpha z_j + |v_perp| g_j / sqrt(d) with
alpha = <v, w*>, v_perp the part of v orthogonal to w*, and g_j standard normal, independent over
patches and samples. So n D numbers stand for n D d.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch.nn.functional import logsigmoid

from attention_theory.spatial import distribution as data
from attention_theory.spatial.model import outputs
from attention_theory.spatial.settings import Architecture, Distribution

CHUNK = 4096  # samples evaluated at once: keeps the work in cache


class Sample(NamedTuple):
    """Patterns z (n, D), noise g (n, D) and labels y (n,), float32, on one device."""

    z: torch.Tensor
    g: torch.Tensor
    y: torch.Tensor


class Evaluation(NamedTuple):
    """Accuracy (F = 0 counts one half) and mean logistic loss."""

    accuracy: float
    loss: float


def draw(
    distribution: Distribution,
    partition: np.ndarray,
    n: int,
    rng: np.random.Generator,
    device: str = "cpu",
) -> Sample:
    """Draw n evaluation samples: what any v and A can be evaluated on."""
    patterns = data.sample_patterns(distribution, partition, n, rng)
    g = rng.standard_normal((n, distribution.D), dtype=np.float32)
    arrays = (patterns.z.astype(np.float32), g, patterns.y.astype(np.float32))
    return Sample(*(torch.from_numpy(array).to(device) for array in arrays))


def split(v: torch.Tensor, feature: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """alpha = <v, w*> and |v_perp|, as scalars."""
    alpha = v @ feature
    return alpha, torch.linalg.vector_norm(v - alpha * feature)


def project(sample: Sample, v: torch.Tensor, feature: torch.Tensor) -> torch.Tensor:
    """<v, X_j> for every patch of every sample, shape (n, D)."""
    alpha, orthogonal = split(v, feature)
    return alpha * sample.z + orthogonal / len(v) ** 0.5 * sample.g


def evaluate(
    sample: Sample,
    v: torch.Tensor,
    A: torch.Tensor,
    feature: torch.Tensor,
    architecture: Architecture,
) -> Evaluation:
    """Accuracy and loss of the model (v, A) for data with this feature."""
    S = torch.softmax(A, dim=1)
    correct, loss = 0.0, 0.0
    for part in map(Sample, *(tensor.split(CHUNK) for tensor in sample)):
        margin = part.y * outputs(project(part, v, feature), S, architecture)
        correct += ((margin > 0).sum() + (margin == 0).sum() / 2).item()
        loss -= logsigmoid(margin).sum(dtype=torch.float64).item()
    n = len(sample.y)
    return Evaluation(correct / n, loss / n)
