"""The gradient step of the simplified ViT against two by autograd, at the laptop run's size."""

import numpy as np
import torch
from harness import Row, compare
from torch.nn.functional import logsigmoid

from attention_theory.spatial import distribution as data
from attention_theory.spatial import finetuning, model
from attention_theory.spatial.settings import Architecture, Distribution
from attention_theory.streams import stream

SETTING = Distribution(D=50, C=5, d=16, q=0.4)
ARCHITECTURE = Architecture(p=3, nu=0.1, beta=3.0)
N = 8000


def naive(X, y, v, A, architecture):
    """S X first: the definition read from left to right, which holds n x D x d numbers."""
    v, A = v.clone().requires_grad_(), A.clone().requires_grad_()
    S = torch.softmax(A, dim=1)
    x = X.shape[1] * (S @ X) @ v
    margin = y * (x**architecture.p + architecture.nu * x).sum(dim=1)
    return torch.autograd.grad(-logsigmoid(margin).mean(), (v, A))


def rows() -> list[Row]:
    """Our analytic step against both, one thread."""
    torch.set_num_threads(1)
    rng = stream(0, "benchmarks.spatial")
    partition = data.draw_partition("scattered", SETTING, rng)
    X, y = data.sample(SETTING, partition, data.draw_feature(SETTING.d, rng), N, rng)
    v = 0.01 * rng.standard_normal(SETTING.d)
    A = rng.standard_normal((SETTING.D, SETTING.D))
    problem = [torch.from_numpy(array.astype(np.float32)) for array in (X, y, v, A)]
    others = {
        "analytic step against naive autograd (S X first)": naive,
        "analytic step against autograd (X v first)": model.gradients_by_autograd,
    }
    return [
        compare(
            name,
            lambda: model.gradients(*problem, ARCHITECTURE),
            lambda other=other: other(*problem, ARCHITECTURE),
        )
        for name, other in others.items()
    ]


DRAWS, FEW = 64, 8  # where transfer batches: many draws of a task with few samples


def batched() -> Row:
    """Transfer by gradient descent: the draws of a task at once against one after the other."""
    rng = stream(0, "benchmarks.batched")
    attended = torch.from_numpy(
        rng.standard_normal((DRAWS, FEW, SETTING.D, SETTING.d), dtype=np.float32)
    )
    y = torch.from_numpy(rng.choice([-1.0, 1.0], (DRAWS, FEW)).astype(np.float32))
    rate, steps = 1e-6, 20

    def loop() -> list:
        pairs = zip(attended.split(1), y.split(1), strict=True)
        return [finetuning.descend(o, t, ARCHITECTURE, rate, steps) for o, t in pairs]

    return compare(
        f"transfer: {DRAWS} draws batched against a loop",
        lambda: finetuning.descend(attended, y, ARCHITECTURE, rate, steps),
        loop,
    )
