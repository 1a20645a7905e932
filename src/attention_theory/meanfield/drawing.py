"""What is drawn: prompts, particles from rho_0, and how many copies of an atom a width has.

A seed's prompts and rho_0 do not depend on L, M or the step, so that sizes are compared on the same
problem.
"""

from math import inf

import numpy as np

from attention_theory.meanfield.model import Particles, Tasks, Weights
from attention_theory.meanfield.settings import Problem
from attention_theory.streams import stream

RADIUS = 2.0  # of the disc (ball) that inputs are uniform in: unit variance for d_x = 2


def tasks(base_seed: int, seeds: int, problem: Problem, kind: str) -> Tasks:
    """Prompts `train` or `fresh` of every seed: x uniform in a ball, y = <w, x>, w on the sphere.

    Bounded, because a Gaussian prompt now and then makes the Euler flow diverge.
    """
    count = problem.tasks if kind == "train" else problem.fresh
    Z = np.empty((seeds, problem.D, problem.n, count))
    for seed in range(seeds):
        rng = stream(base_seed, "meanfield.tasks", kind, seed)
        w = _directions(rng, (problem.d_x, 1, count))
        radii = RADIUS * rng.random((problem.n, count)) ** (1 / problem.d_x)
        Z[seed, :-1] = radii * _directions(rng, (problem.d_x, problem.n, count))
        Z[seed, -1] = (w * Z[seed, :-1]).sum(axis=0)
    target = Z[:, -1, -1].copy()
    Z[:, -1, -1] = 0
    return Tasks(Z, target)


def _directions(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Unit vectors along the first axis."""
    x = rng.standard_normal(shape)
    return x / np.linalg.norm(x, axis=0)


def particles(base_seed: int, seeds: int, problem: Problem, L: int, K: int) -> Particles:
    """K independent draws from rho_0 in each of L layers: Gaussian entries about a seed's mean.

    The mean must not be 0: attention would be, in the limit, and a gap in L would show nothing.
    """
    D = problem.D
    shapes = Particles((D, D), (D, D), (D,), (D,))

    def draw(shape: tuple[int, ...], name: str) -> np.ndarray:
        drawn = []
        for seed in range(seeds):
            mean = stream(base_seed, "meanfield.mean", name, seed).standard_normal(shape)
            rng = stream(base_seed, "meanfield.particles", name, seed, L, K)
            about = rng.standard_normal((L, K, *shape))
            scale = problem.neurons if name in ("W1", "W2") else 1
            drawn.append(scale * (problem.mean * mean + problem.spread * about))
        return np.stack(drawn)

    return Particles(*(draw(shape, name) for name, shape in shapes._asdict().items()))


def atoms(base_seed: int, seeds: int, problem: Problem, K: int, L: int) -> Particles:
    """The K atoms of a discrete rho_0, the same in each of L layers and for any L."""
    one = particles(base_seed, seeds, problem, 1, K)
    return one.map(lambda array: np.repeat(array, L, axis=1))


def weights(
    base_seed: int, seeds: int, L: int, K: int, M_att: float, M_mlp: float, shared: bool = False
) -> Weights:
    """The share of each of K atoms among M independent draws; 1 / K each at M = infinity.

    Drawn anew in each layer, or once for all of them (`shared`); attention and MLP apart.
    """
    pairs = {"attention": M_att, "mlp": M_mlp}
    return Weights(*(_shares(base_seed, seeds, L, K, M, shared, name) for name, M in pairs.items()))


def _shares(
    base_seed: int, seeds: int, L: int, K: int, M: float, shared: bool, name: str
) -> np.ndarray:
    if M == inf:
        return np.full((seeds, L, K), 1 / K)
    drawn = []
    for seed in range(seeds):
        rng = stream(base_seed, "meanfield.copies", name, seed, 0 if shared else L, K, int(M))
        copies = rng.multinomial(int(M), np.full(K, 1 / K), size=1 if shared else L)
        drawn.append(np.broadcast_to(copies, (L, K)) / M)
    return np.stack(drawn)
