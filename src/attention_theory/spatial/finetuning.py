"""Transfer (Section 5, Appendix F): attention frozen, v trained from 0 on a new feature.

Shapes: R runs at once (draws of the downstream task), n samples, D patches, dimension d; X
(R, n, D, d), y (R, n) in {-1, 1}, v (R, d), S (D, D) the row softmax of A. With A frozen, attention
acts once: O = D S X, and then x_i = <v, O_i> and F = sum_i x_i^p + nu x_i.

Two things follow and are used here, both exact. At v = 0 the gradient is -nu/2 times the mean of
y sum_i O_i, so that the law of one normalised step is known without d-dimensional data. And for
data with feature w, F depends on v through alpha = <v, w> and the length of the rest of v alone,
as a polynomial whose coefficients are moments of the attended patterns and noise.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch.nn.functional import logsigmoid

from attention_theory.errors import BadInput
from attention_theory.spatial import distribution as data
from attention_theory.spatial import evaluation
from attention_theory.spatial.settings import Architecture, Distribution

KINDS = ("learned", "permuted", "zero")


def softmax(A: np.ndarray) -> np.ndarray:
    """The row softmax of A (D, D), float64."""
    weights = np.exp(A.astype(float) - A.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def variant(kind: str, A: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The attention A (D, D) of a kind, of the same diagonal if A's is constant.

    `learned` is A itself; `permuted` is A conjugated by one permutation of the patches, so that
    its entries are A's but belong to other patches; `zero` is A's diagonal alone.
    """
    if kind == "learned":
        return A
    if kind == "permuted":
        order = rng.permutation(len(A))
        return A[np.ix_(order, order)]
    return np.diag(np.diag(A))


class Exam(NamedTuple):
    """A test sample under one S, prepared for any v: moments (p + 3, n) and labels (n,).

    Row k <= p is binom(p, k) sum_i P_i^(p-k) Q_i^k with P = D S z and Q = D S g / sqrt(d), z the
    patterns and g the noise; the last two rows are nu sum_i P_i and nu sum_i Q_i.
    """

    moments: np.ndarray
    y: np.ndarray

    def accuracy(self, alpha: np.ndarray, orthogonal: np.ndarray) -> np.ndarray:
        """The accuracy of each run's v, from alpha and |v_perp| (R,); F = 0 counts one half."""
        p = len(self.moments) - 3
        powers = [alpha ** (p - k) * orthogonal**k for k in range(p + 1)]
        margin = self.y * (np.stack([*powers, alpha, orthogonal], axis=1) @ self.moments)
        return ((margin > 0) + (margin == 0) / 2).mean(axis=1)


def examine(sample: evaluation.Sample, S: np.ndarray, d: int, architecture: Architecture) -> Exam:
    """Prepare a test sample for any v of dimension d under attention S, exactly in law.

    <v, X_j> = alpha z_j + |v_perp| g_j / sqrt(d), as in `evaluation`; so x_i = alpha P_i +
    |v_perp| Q_i, and F is a polynomial in alpha and |v_perp| (its binomial expansion).
    """
    p, D = architecture.p, len(S)
    weights = torch.from_numpy(D * S.T)
    P, Q = sample.z.double() @ weights, sample.g.double() @ weights / d**0.5
    binomials = np.cumprod([1.0, *((p - k) / (k + 1) for k in range(p))])
    rows = [b * (P ** (p - k) * Q**k).sum(dim=1) for k, b in enumerate(binomials)]
    rows += [architecture.nu * P.sum(dim=1), architecture.nu * Q.sum(dim=1)]
    return Exam(torch.stack(rows).numpy(), sample.y.double().numpy())


class Task(NamedTuple):
    """Draws of a downstream task: features (R, d), X (R, n, D, d) and y (R, n), float32."""

    features: np.ndarray
    X: torch.Tensor
    y: torch.Tensor


def draw_tasks(
    distribution: Distribution,
    partition: np.ndarray,
    n: int,
    rngs: Sequence[np.random.Generator],
    device: str = "cpu",
) -> Task:
    """Draw new features on the same partition, each with n samples, one from each generator."""
    features, Xs, ys = [], [], []
    for rng in rngs:
        features.append(data.draw_feature(distribution.d, rng))
        X, y = data.sample(distribution, partition, features[-1], n, rng)
        Xs.append(torch.from_numpy(X))
        ys.append(torch.from_numpy(y.astype(np.float32)))
    X, y = torch.stack(Xs).to(device), torch.stack(ys).to(device)
    return Task(np.stack(features), X, y)


def attend(X: torch.Tensor, S: np.ndarray) -> torch.Tensor:
    """O = D S X, shape of X (..., D, d)."""
    weights = torch.from_numpy(len(S) * S).to(X)
    return torch.matmul(weights, X)


def gradient(
    attended: torch.Tensor, y: torch.Tensor, v: torch.Tensor, architecture: Architecture
) -> tuple[torch.Tensor, torch.Tensor]:
    """Each run's mean logistic loss (R,) and its gradient in v (R, d), from O (R, n, D, d)."""
    R, n, D, d = attended.shape
    p, nu = architecture.p, architecture.nu
    flat = attended.view(R, n * D, d)
    x = torch.bmm(flat, v[..., None]).view(R, n, D)
    power = x ** (p - 1)
    margin = y * (x * (power + nu)).sum(dim=2)
    dF = -y * torch.sigmoid(-margin) / n
    dx = dF[..., None] * (p * power + nu)
    dv = torch.bmm(dx.view(R, 1, n * D), flat).view(R, d)
    return -logsigmoid(margin).mean(dim=1), dv


def descend(
    attended: torch.Tensor, y: torch.Tensor, architecture: Architecture, rate: float, steps: int
) -> torch.Tensor:
    """Full-batch gradient descent on v from 0, given O (R, n, D, d); the last v (R, d).

    Raises BadInput if a run's v is no longer finite.
    """
    v = attended.new_zeros(len(attended), attended.shape[-1])
    for _ in range(steps):
        v = v - rate * gradient(attended, y, v, architecture)[1]
    if not torch.isfinite(v).all():
        raise BadInput(f"rate: v is not finite after {steps} steps of {rate:.3g}; lower it")
    return v


def split(v: np.ndarray, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """alpha = <v, w> and |v_perp| of each run, (R,), from v and w (R, d)."""
    alpha = (v * features).sum(axis=1)
    return alpha, np.linalg.norm(v - alpha[:, None] * features, axis=1)


def one_step(
    distribution: Distribution,
    partition: np.ndarray,
    S: np.ndarray,
    n: int,
    runs: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """alpha and |v_perp| (R,) after one normalised gradient step of length 1 from v = 0, in law.

    The step points along the mean of y sum_j c_j X_j, c = D times the column sums of S. Along the
    feature that is the mean of y sum_j c_j z_j; orthogonal to it, Gaussian of variance
    sum_j c_j^2 / (n d) in each of d - 1 directions.
    """
    c = len(S) * S.sum(axis=0)
    patterns = data.sample_patterns(distribution, partition, n * runs, rng)
    along = (patterns.y * (patterns.z @ c)).reshape(runs, n).mean(axis=1)
    d = distribution.d
    across = np.sqrt((c**2).sum() / (n * d) * rng.chisquare(d - 1, runs))
    length = np.hypot(along, across)
    return along / length, across / length
