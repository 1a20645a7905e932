"""All seeds of a setting in one tensor program against a loop over seeds, and span(X) against D."""

import torch
from harness import Row, compare

from attention_theory.kernels import model
from attention_theory.kernels import problem as problems
from attention_theory.kernels.descent import descend
from attention_theory.kernels.model import Data, Weights
from attention_theory.kernels.settings import BACKTRACKING, KERNELS, Sizes

SEEDS, STEPS = 50, 20
STUCK, SWEEP = Sizes(N=4, n=4, d=4, sigma=0.5), Sizes(N=8, n=4, d=4, sigma=0.5)


def rows() -> list[Row]:
    """At the laptop run's sizes, one thread."""
    torch.set_num_threads(1)
    return [*(_batched(kernel) for kernel in KERNELS), _projected()]


def _batched(kernel: str) -> Row:
    drawn = [problems.draw(STUCK, 2, 20, 0, "benchmark", seed) for seed in range(SEEDS)]
    data, weights = model.tensors(problems.stack([problems.project(one) for one in drawn]))
    singles = [
        (Data(*(part[seed : seed + 1] for part in data)),
         Weights(*(W[seed : seed + 1] for W in weights)))
        for seed in range(SEEDS)
    ]  # fmt: skip
    return compare(
        f"{kernel} attention: {SEEDS} seeds batched against a loop (at least 8)",
        lambda: _descend(kernel, data, weights),
        lambda: [_descend(kernel, *single) for single in singles],
    )


def _projected() -> Row:
    """D = 512 tokens' coordinates against the N n = 32 of their span."""
    drawn = [problems.draw(SWEEP, 2, 512, 0, "benchmark", seed) for seed in range(16)]
    full = model.tensors(problems.stack(drawn))
    span = model.tensors(problems.stack([problems.project(one) for one in drawn]))
    return compare(
        "softmax attention, 16 seeds: in the span of the tokens against all D = 512 coordinates",
        lambda: _descend("softmax", *span),
        lambda: _descend("softmax", *full),
    )


def _descend(kernel: str, data: Data, weights: Weights) -> None:
    rate = torch.ones(len(data.X), dtype=torch.float64)
    descend(kernel, data, weights, "QKVO", BACKTRACKING, rate, STEPS)
