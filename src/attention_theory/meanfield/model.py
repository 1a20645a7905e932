"""The residual flow with particles of given weights, and the gradients of its risk.

Layer l of L adds dt sum_j w_j V_j Z softmax_col(Z^T W_j Z) to Z, then
dt sum_j w_j W2_j hub(W1_j Z), dt = 1 / L. Equal weights 1 / M are a transformer of width M; K
atoms with multinomial(M) / M copies each are M independent draws from them, and the atoms' own
probabilities are M = infinity. An MLP particle is one neuron: W1_j a row, W2_j a column. The
prediction is the last entry of the last column (the query), so that the last layer computes this
column alone. Float64.

Shapes: seeds S, layers L, particles K, rows D, columns n, tasks B; tasks come last, so that sums
over the small sizes run along whole rows of memory.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Particles(NamedTuple):
    """V and W (S, L, K, D, D) of attention heads, W1 and W2 (S, L, K, D) of neurons."""

    V: np.ndarray
    W: np.ndarray
    W1: np.ndarray
    W2: np.ndarray

    def map(self, function: Callable, *others: "Particles") -> "Particles":
        """`function` of each array, and of its counterparts in the others."""
        return Particles(*(function(*arrays) for arrays in zip(self, *others, strict=True)))


class Weights(NamedTuple):
    """The share (S, L, K) of each particle in its layer's attention and in its MLP."""

    attention: np.ndarray
    mlp: np.ndarray


class Tasks(NamedTuple):
    """Prompts Z (S, D, n, B), whose last column's last entry is 0, and targets (S, B)."""

    Z: np.ndarray
    target: np.ndarray


def hub(x: np.ndarray) -> np.ndarray:
    """The Huberised ReLU: 0, x^2 / 2, x - 1 / 2 on x <= 0, [0, 1], x >= 1."""
    slope = hub_slope(x)
    return slope * (x - slope / 2)


def hub_slope(x: np.ndarray) -> np.ndarray:
    """Its derivative."""
    return np.clip(x, 0, 1)


class Flow:
    """The transformer of L layers of K particles on tasks; keeps its memory from call to call.

    (Fresh arrays of these sizes would be given back to the system at each call: half the time.)
    """

    def __init__(self, tasks: Tasks, L: int, K: int) -> None:
        self.tasks = tasks
        scratch: dict[str, np.ndarray] = {}
        self.layers = [
            _Layer(tasks.Z.shape, K, 1 / L, last=layer == L - 1, scratch=scratch)
            for layer in range(L)
        ]

    def predict(self, particles: Particles, weights: Weights) -> np.ndarray:
        """Predictions (S, B)."""
        Z = self.tasks.Z
        for index, layer in enumerate(self.layers):
            own = particles.map(lambda array, index=index: array[:, index])
            Z = layer.forward(Z, own, Weights(*(w[:, index, :, None] for w in weights)))
        return Z[:, -1, -1]

    def gradients(self, particles: Particles, weights: Weights) -> tuple[np.ndarray, Particles]:
        """Predictions (S, B), and L M times the risk's gradient in each particle's own copy.

        The risk is half the mean squared error. A copy's gradient has a factor dt w, w its weight,
        so that the product needs no division and is there for an atom without copies too: it is
        the gradient of the risk's first variation, which moves rho in the mean-field limit.
        """
        predictions = self.predict(particles, weights)
        target = self.tasks.target
        g = np.zeros_like(self.tasks.Z[:, :, -1:])
        g[:, -1, -1] = (predictions - target) / target.shape[1]
        found = particles.map(np.empty_like)
        for index, layer in reversed(list(enumerate(self.layers))):
            g = layer.backward(g, found.map(lambda array, index=index: array[:, index]))
        return predictions, found


class _Layer:
    """A layer applied to columns Z (S, D, n, B); the last one yields the query's column alone."""

    def __init__(self, shape: tuple, K: int, dt: float, last: bool, scratch: dict) -> None:
        S, D, n, B = shape
        self.dt, self.m = dt, 1 if last else n
        self.pairs = (S, D, D, n, self.m, B)
        X = n * self.m * B
        self.G, self.U = np.empty((S, D * D, X)), np.empty((S, D * D, X))
        self.P = np.empty((S, K, X))
        scratch.setdefault("G", np.empty(S * D * D * n * n * B))
        scratch.setdefault("P", np.empty(S * K * n * n * B))
        self.scratch_G = scratch["G"][: self.G.size].reshape(self.G.shape)
        self.scratch_P = scratch["P"][: self.P.size].reshape(self.P.shape)

    def forward(self, Z: np.ndarray, own: Particles, weights: Weights) -> np.ndarray:
        """The columns that the layer yields (S, D, m, B), m = n or 1."""
        S, D, _, n, m, B = self.pairs
        self.Z, self.Q, self.weights = Z, Z[:, :, -m:], weights
        self.V, self.W = (array.reshape(S, -1, D * D) for array in own[:2])
        self.W1, self.W2 = own[2:]
        # Z_i^T W Q_j is linear in the products of entries: one matrix product for all particles.
        G = self.G.reshape(self.pairs)
        np.multiply(Z[:, :, None, :, None], self.Q[:, None, :, None], out=G)
        np.matmul(self.W, self.G, out=self.P)
        P = self._by_column(self.P)
        P -= P.max(axis=2, keepdims=True)
        np.exp(P, out=P)
        P /= P.sum(axis=2, keepdims=True)
        np.matmul(_transposed(weights.attention * self.V), self.P, out=self.U)
        U = self.U.reshape(self.pairs)
        attended = self.Q + self.dt * np.einsum("sdeimb,seib->sdmb", U, Z)
        self.A = attended.reshape(S, D, -1)
        self.x = self.W1 @ self.A
        added = _transposed(weights.mlp * self.W2) @ hub(self.x)
        return (self.A + self.dt * added).reshape(attended.shape)

    def backward(self, g: np.ndarray, found: Particles) -> np.ndarray:
        """From dR/d output (S, D, m, B) to dR/dZ (S, D, n, B); fills in the particles' gradients.

        Theirs leave out dt and the weight.
        """
        S, D, _, n, m, B = self.pairs
        dt, weights = self.dt, self.weights
        g = g.reshape(S, D, -1)
        found.W2[...] = hub(self.x) @ _transposed(g)
        dx = (self.W2 @ g) * hub_slope(self.x)
        found.W1[...] = dx @ _transposed(self.A)
        g = (g + dt * _transposed(weights.mlp * self.W1) @ dx).reshape(S, D, m, B)

        H, dS = self.scratch_G, self.scratch_P
        np.multiply(g[:, :, None, None], self.Z[:, None, :, :, None], out=H.reshape(self.pairs))
        found.V[...] = (self.P @ _transposed(H)).reshape(found.V.shape)
        np.matmul(self.V, H, out=dS)
        dP, P = self._by_column(dS), self._by_column(self.P)
        dP -= np.einsum("skix,skix->skx", dP, P)[:, :, None]
        dP *= P
        found.W[...] = (dS @ _transposed(self.G)).reshape(found.W.shape)
        dG = np.matmul(_transposed(weights.attention * self.W), dS, out=H).reshape(self.pairs)
        dZ = np.einsum("sdeimb,sdmb->seib", self.U.reshape(self.pairs), g)
        dZ += np.einsum("sdeimb,semb->sdib", dG, self.Q)
        dZ *= dt
        dZ[:, :, -m:] += g + dt * np.einsum("sdeimb,sdib->semb", dG, self.Z)
        return dZ

    def _by_column(self, scores: np.ndarray) -> np.ndarray:
        """Scores (S, K, n m B) as (S, K, n, m B): a softmax runs along the third axis."""
        S, _, _, n, m, B = self.pairs
        return scores.reshape(S, -1, n, m * B)


def _transposed(x: np.ndarray) -> np.ndarray:
    return x.swapaxes(1, 2)
