"""The runs of experiment A2 with one number of heads and tokens, and what is measured of each."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from itertools import product
from typing import NamedTuple

import numpy as np
import torch

from attention_theory.kernels import problem as problems
from attention_theory.kernels import targets
from attention_theory.kernels.descent import State, descend
from attention_theory.kernels.model import Data
from attention_theory.kernels.ntk import hessian
from attention_theory.kernels.settings import BACKTRACKING, Case, Sizes, Stuck


class Found(NamedTuple):
    """Rows of both tables."""

    rows: list[dict]
    budgets: list[dict]


def run(
    kernel: str,
    sizes: Sizes,
    stuck: Stuck,
    cases: Mapping[str, Case],
    seeds: int,
    base_seed: int,
) -> Found:
    """Train W_Q and W_K on `cases`, which share H and n, for every seed."""
    H, n = next((case.H, case.n) for case in cases.values())
    sizes = replace(sizes, n=n)
    keys = list(product(cases, range(seeds)))
    posed = [targets.pose(sizes, stuck.D, cases[name], base_seed, seed) for name, seed in keys]
    teachers = [
        problems.project(problems.draw(sizes, H, stuck.D, base_seed, "teacher", n, seed))
        for seed in range(seeds)
    ]
    own = np.array([cases[name].target == "own" for name, _ in keys])
    teacher = problems.stack([teachers[seed] for _, seed in keys])
    data, weights = targets.fit_own(kernel, problems.stack(posed), teacher, own)
    first = torch.ones(len(keys), dtype=torch.float64)
    found = descend(kernel, data, weights, "QK", BACKTRACKING, first, stuck.steps, stuck.threshold)
    measures = {
        "steps": found.steps.tolist(),
        "loss_0": found.losses[0].tolist(),
        "loss": found.losses[-1].tolist(),
        "floor": targets.floor(kernel, data, weights).tolist(),
        "gradient_norm": _gradient_norm(found.state).tolist(),
        "hessian_min": _smallest(kernel, data, found.state, _chosen(found.losses, keys, stuck)),
    }
    common = {"kernel": kernel, "D": stuck.D, "threshold": stuck.threshold}
    result = Found([], [])
    for index, (name, seed) in enumerate(keys):
        place = common | {"case": name, "seed": seed}
        case = asdict(cases[name])
        own_measures = {key: values[index] for key, values in measures.items()}
        result.rows.append(asdict(sizes) | case | place | own_measures)
        for step in sorted({*stuck.budgets, stuck.steps}):
            losses = {"loss_0": measures["loss_0"][index], "loss": found.losses[step, index].item()}
            budget = place | {"H": H, "n": n, "step": step} | losses
            budget.pop("D")
            result.budgets.append(budget)
    return result


def _gradient_norm(state: State) -> torch.Tensor:
    """|dL / d(W_Q, W_K)| (R,)."""
    return torch.cat([part.flatten(1) for part in state.gradient[:2]], dim=1).norm(dim=1)


def _chosen(losses: torch.Tensor, keys: list[tuple[str, int]], stuck: Stuck) -> list[int]:
    """The first stuck runs of each case, as many as Hessians are asked for."""
    is_stuck = (losses[-1] > stuck.threshold * losses[0]).tolist()
    chosen: dict[str, list[int]] = {}
    for index, (name, _) in enumerate(keys):
        if is_stuck[index] and len(chosen.setdefault(name, [])) < stuck.hessians:
            chosen[name].append(index)
    return sum(chosen.values(), [])


def _smallest(kernel: str, data: Data, state: State, chosen: list[int]) -> list[float]:
    """The Hessian's smallest eigenvalue for the chosen runs, NaN for the others."""
    values = np.full(len(state.loss), np.nan)
    if chosen:
        index = torch.tensor(chosen)
        own = Data(*(part[index] for part in data))
        weights = type(state.weights)(*(W[index] for W in state.weights))
        values[chosen] = torch.linalg.eigvalsh(hessian(kernel, own, weights))[:, 0].numpy()
    return values.tolist()
