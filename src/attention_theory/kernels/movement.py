"""What experiment A3 measures of a stack of runs."""

import torch

from attention_theory.kernels.descent import descend
from attention_theory.kernels.model import Weights, tensors
from attention_theory.kernels.ntk import tangent_kernel
from attention_theory.kernels.problem import Problem
from attention_theory.kernels.settings import Lazy


def train(kernel: str, stacked: Problem, lazy: Lazy) -> list[dict]:
    """Train all weights; a dict of the table's measures for each run.

    Movements are |W(t) - W(0)| / |W(0)|, over all weights together and over each: the start's norm
    is that in all D coordinates, and the movement's is the same in the span's.
    """
    data, weights = tensors(stacked)
    before = tangent_kernel(kernel, data.X, weights)
    rate = lazy.rate / torch.linalg.eigvalsh(before)[:, -1]
    found = descend(kernel, data, weights, "QKVO", lazy.method, rate, lazy.steps, lazy.goal)
    after = tangent_kernel(kernel, data.X, found.state.weights)
    norm = torch.linalg.matrix_norm
    moved = _moved(found.state.weights, weights)
    norms = torch.from_numpy(stacked.norms)
    measures = {
        "steps": found.steps,
        "loss_0": found.losses[0],
        "loss": found.losses[-1],
        "movement": moved.norm(dim=1) / norms.norm(dim=1),
        **dict(zip(("movement_Q", "movement_K", "movement_V", "movement_O"),
                   (moved / norms).T, strict=True)),
        "ntk_change": norm(after - before) / norm(before),
    }  # fmt: skip
    lists = {name: values.tolist() for name, values in measures.items()}
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _moved(new: Weights, old: Weights) -> torch.Tensor:
    """The Frobenius norms (R, 4) of the weights' movements."""
    return torch.stack([(a - b).flatten(1).norm(dim=1) for a, b in zip(new, old, strict=True)], 1)
