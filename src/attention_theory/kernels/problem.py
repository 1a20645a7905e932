"""Random problems: data, labels and initial weights, drawn by NumPy, in the coordinates of span(X).

Gradient descent moves the weights inside the span of the tokens alone, because every gradient of
W_Q, W_K and W_V is X^T times something. In an orthonormal basis of that span the tokens need N n
coordinates however large D is, and nothing else changes: outputs, losses, gradients, movements.
"""

from typing import NamedTuple

import numpy as np

from attention_theory.kernels.settings import Sizes
from attention_theory.streams import stream

WEIGHTS = ("Q", "K", "V", "O")


class Problem(NamedTuple):
    """Tokens X (N, n, k), labels Y (N, n), weights Q, K (H, k, d), V (H, k), O (H,).

    `norms` (4,) are the Frobenius norms of the initial weights, each over all heads, in all D
    coordinates: those outside the span never move, but count.
    """

    X: np.ndarray
    Y: np.ndarray
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    O: np.ndarray  # noqa: E741 - the paper's W_O
    norms: np.ndarray


def draw(sizes: Sizes, H: int, D: int, base_seed: int, *key: int | str) -> Problem:
    """A problem in all D coordinates, k = D, from a stream of its own."""
    rng = stream(base_seed, "kernels.problem", *key, H, D)
    X = rng.standard_normal((sizes.N, sizes.n, D)) / np.sqrt(D)
    Y = rng.standard_normal((sizes.N, sizes.n))
    Q, K = sizes.sigma * rng.standard_normal((2, H, D, sizes.d))
    V = rng.standard_normal((H, D))
    O = rng.standard_normal(H) / np.sqrt(D * H)  # noqa: E741
    return Problem(X, Y, Q, K, V, O, np.array([np.linalg.norm(W) for W in (Q, K, V, O)]))


def project(problem: Problem) -> Problem:
    """The same problem in k = N n coordinates: exact for D above N n, padded with zeros below."""
    N, n, D = problem.X.shape
    k = N * n
    tokens = problem.X.reshape(k, D)
    if D <= k:
        basis = np.eye(D, k)
    else:
        basis = np.linalg.qr(tokens.T).Q
    Q, K = (np.einsum("dk,hde->hke", basis, W) for W in (problem.Q, problem.K))
    X = (tokens @ basis).reshape(N, n, k)
    return problem._replace(X=X, Q=Q, K=K, V=problem.V @ basis)


def stack(problems: list[Problem]) -> Problem:
    """Problems of equal shapes as one whose arrays have a first axis of runs."""
    return Problem(*(np.stack(arrays) for arrays in zip(*problems, strict=True)))
