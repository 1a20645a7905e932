"""Search for a violation: batched random draws over scales, then gradient ascent on the ratio.

The ratio of a statement is left / right; at a statement that holds place by place (every query,
every block) it is the largest one. Draws depend on the matrix, the size and the seed alone, so
that every statement about the same matrices meets the same ones.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from attention_theory.meanfield.bounds import IDENTITY, Bound
from attention_theory.meanfield.bounds_settings import Size
from attention_theory.streams import stream

Matrices = dict[str, Tensor]

# Scales are drawn from 10^-REACH to 10^REACH and may climb tenfold beyond. An identity is compared
# in rounded arithmetic: at large logits its sides differ by rounding alone.
REACH = {IDENTITY: 0.5}
USUAL_REACH = 2.0
PATIENCE = 6  # steps of ascent in which no start's ratio gains a share GAIN before all stop
GAIN = 0.002
ENOUGH = 1e6  # a violation so clear that it needs no ascent
TINY = 1e-100  # sides below it may be made of weights that underflow: no ratio is taken of them
RATE = 0.08  # of Adam, on the logarithm of each matrix's norm and on its direction of norm 1


def reach(bound: Bound) -> float:
    """How many powers of ten the scales of a statement's matrices span on either side of 1."""
    return REACH.get(bound.form, USUAL_REACH)


def draw(bound: Bound, size: Size, draws: int, base_seed: int, seed: int) -> Matrices:
    """Random matrices, a batch of `draws`: scales log-uniform, structures mixed."""
    D, n = size.D, size.N + 1
    shapes = {"T": (D, n), "V": (D, D), "W": (D, D), "W1": (D, D), "W2": (D, D), "c": (1, 1)}
    drawn = {}
    for name in bound.matrices:
        rng = stream(base_seed, "meanfield.bounds", name, size.D, size.N, seed)
        M = rng.standard_normal((draws, *shapes[name]))
        kind = rng.integers(4, size=draws)
        # Half are plain; the others have what extremal cases are made of: equal or opposite
        # columns and one that is zero (T), symmetry (the rest).
        if name == "T":
            signs = rng.choice([-1.0, 1.0], size=(draws, 1, n))
            M = np.where((kind == 2)[:, None, None], M[:, :, :1], M)
            M = np.where((kind == 3)[:, None, None], M[:, :, :1] * signs, M)
            M[rng.random(draws) < 0.25, :, 0] = 0
        elif D > 1:
            M = np.where((kind == 2)[:, None, None], M + M.transpose(0, 2, 1), M)
            M = np.where((kind == 3)[:, None, None], np.sign(M[:, :1, :1]) * np.eye(len(M[0])), M)
        M *= 10.0 ** (reach(bound) * rng.uniform(-1, 1, size=(draws, 1, 1)))
        drawn[name] = torch.from_numpy(M)
    return drawn


def sides(check: Callable, matrices: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Both sides (batch,) of a statement, where their ratio is largest."""
    left, right = (side.flatten(1) if side.dim() > 1 else side[:, None]
                   for side in check(**matrices))  # fmt: skip
    with torch.no_grad():
        place = _finite_ratio(left, right).argmax(1, keepdim=True)
    return left.gather(1, place)[:, 0], right.gather(1, place)[:, 0]


def ratios(check: Callable, matrices: Mapping[str, Tensor]) -> Tensor:
    """The ratio (batch,) of a statement; 0 where its right side is tiny or a side not finite."""
    with torch.no_grad():
        return _finite_ratio(*sides(check, matrices))


def _finite_ratio(left: Tensor, right: Tensor) -> Tensor:
    sound = (right > TINY) & left.isfinite() & right.isfinite()
    return torch.where(sound, left / right, torch.zeros_like(left))


def take(matrices: Mapping[str, Tensor], rows: Tensor) -> Matrices:
    """The matrices of some rows of a batch."""
    return {name: M[rows] for name, M in matrices.items()}


def ascend(
    check: Callable,
    starts: Mapping[str, Tensor],
    steps: int,
    limit: float,
    enough: float = ENOUGH,
) -> tuple[Matrices, int]:
    """Climb log(left / right) from every start by Adam; the best matrices met, and the steps taken.

    A matrix is e^s U / |U|_F: s, kept within 10^-limit and 10^limit, and U are what moves. It stops
    early where nothing is gained any more, or the largest ratio exceeds `enough`.
    """
    names, bound = list(starts), limit * np.log(10)
    norms = [M.flatten(1).norm(dim=1).clamp(min=1e-300)[:, None, None] for M in starts.values()]
    directions = [M / norm for M, norm in zip(starts.values(), norms, strict=True)]
    moving = [norm.log() for norm in norms] + directions
    adam = _Adam(moving)
    kept, highest = dict(starts), ratios(check, starts)
    goals, gained = highest * (1 + GAIN), 0
    for step in range(1, steps + 1):
        moving = [x.requires_grad_() for x in moving]
        matrices = _compose(names, moving)
        left, right = sides(check, matrices)
        ratio = _finite_ratio(left.detach(), right.detach())
        better = (ratio > highest)[:, None, None]
        highest = torch.maximum(highest, ratio)
        kept = {name: torch.where(better, matrices[name].detach(), kept[name]) for name in names}
        if (highest > goals).any():
            goals, gained = torch.where(highest > goals, highest * (1 + GAIN), goals), step
        climbing = (left > 0) & (ratio > 0)
        if not climbing.any() or step - gained > PATIENCE or highest.max() > enough:
            break
        # Rows do not see each other: the gradient of the sum is each one's own.
        height = (left[climbing] / right[climbing]).log().sum()
        moving = adam.step(moving, torch.autograd.grad(height, moving, allow_unused=True))
        moving[: len(names)] = [s.clamp(-bound, bound) for s in moving[: len(names)]]
    return kept, step


class _Adam:
    """Adam's ascent: torch's own imports a compiler."""

    def __init__(self, moving: list[Tensor]) -> None:
        self.first, self.second = ([torch.zeros_like(x) for x in moving] for _ in range(2))
        self.steps = 0

    def step(self, moving: list[Tensor], gradients: Sequence[Tensor | None]) -> list[Tensor]:
        """The next values; a gradient that is missing or not finite moves nothing."""
        self.steps += 1
        moved = []
        for i, (x, gradient) in enumerate(zip(moving, gradients, strict=True)):
            gradient = torch.zeros_like(x) if gradient is None else gradient.nan_to_num(0, 0, 0)
            self.first[i] = 0.9 * self.first[i] + 0.1 * gradient
            self.second[i] = 0.99 * self.second[i] + 0.01 * gradient**2
            mean = self.first[i] / (1 - 0.9**self.steps)
            size = (self.second[i] / (1 - 0.99**self.steps)).sqrt()
            moved.append(x.detach() + RATE * mean / (size + 1e-12))
        return moved


def _compose(names: list[str], moving: list[Tensor]) -> Matrices:
    half = len(moving) // 2
    return {
        name: s.exp() * U / U.pow(2).sum((-2, -1), keepdim=True).sqrt().clamp(min=1e-300)
        for name, s, U in zip(names, moving[:half], moving[half:], strict=True)
    }
