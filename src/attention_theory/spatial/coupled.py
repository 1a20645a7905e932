"""Processes that run beside the idealised one: realistic, semi-idealised; and single gradients.

The realistic process is full-batch gradient descent on N samples in v (d,) and the whole A (D, D).
The semi-idealised one (Appendix E.2) descends on the population risk in A alone, while v is
alpha-hat w*, alpha-hat the realistic process's. It keeps the symmetry: gamma and rho suffice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import NamedTuple

import numpy as np
import torch

from attention_theory.errors import BadInput
from attention_theory.spatial import distribution as data
from attention_theory.spatial.coupling_settings import Coupling
from attention_theory.spatial.expectation import Expectation
from attention_theory.spatial.idealised import State
from attention_theory.spatial.model import gradients
from attention_theory.spatial.population_settings import Point
from attention_theory.spatial.settings import Architecture, Distribution
from attention_theory.spatial.training import Problem


class Sample(NamedTuple):
    """Data X (N, D, d), y (N,) with their feature (d,) on a device; where A has gamma and rho."""

    X: torch.Tensor
    y: torch.Tensor
    feature: torch.Tensor
    within: np.ndarray
    across: np.ndarray


class Realistic(NamedTuple):
    """A realistic run: alpha-hat at every step, and at the recorded ones a row and A (D, D)."""

    alphas: list[float]
    rows: list[dict]
    attention: list[np.ndarray]


def draw(
    distribution: Distribution, problem: Problem, n: int, rng: np.random.Generator, device: str
) -> Sample:
    """Draw n samples of a seed's problem (float32)."""
    X, y = data.sample(distribution, problem.partition, problem.feature, n, rng)
    return place(X, y.astype(np.float32), problem.feature, problem.partition, device)


def place(
    X: np.ndarray, y: np.ndarray, feature: np.ndarray, partition: np.ndarray, device: str
) -> Sample:
    """Given data as a sample on a device, in X's precision."""
    same = partition[:, None] == partition[None, :]
    arrays = (array.astype(X.dtype, copy=False) for array in (X, y, feature))
    tensors = (torch.from_numpy(array).to(device) for array in arrays)
    return Sample(*tensors, same & ~np.eye(len(same), dtype=bool), ~same)


def symmetric(sample: Sample, beta: float, point: Point) -> tuple[torch.Tensor, torch.Tensor]:
    """v = alpha w* (d,) and the three-valued A (D, D) of a point of the idealised process."""
    A = np.select([sample.within, sample.across], [point.gamma, point.rho], beta)
    return point.alpha * sample.feature, torch.from_numpy(A).to(sample.X)


def descend(
    sample: Sample,
    v: torch.Tensor,
    A: torch.Tensor,
    architecture: Architecture,
    coupling: Coupling,
) -> Realistic:
    """Full-batch gradient descent from v and A for a fixed number of steps.

    Raises BadInput, naming the step, where the loss is no longer finite.
    """
    run = Realistic([], [], [])
    for step in range(coupling.steps + 1):
        gradient = gradients(sample.X, sample.y, v, A, architecture)
        loss = gradient.loss.item()
        if not np.isfinite(loss):
            raise BadInput(f"step {step}: the loss is {loss:.3g}; lower eta_v or eta_A")
        run.alphas.append(_split(v, sample)[0])
        if coupling.recorded(step):
            run.attention.append(A.cpu().numpy().astype(float))
            run.rows.append({"step": step, "loss": loss, **_observe(v, A, sample)})
        v, A = v - coupling.eta_v * gradient.v, A - coupling.eta_A * gradient.A
    return run


def probe(sample: Sample, architecture: Architecture, state: State) -> dict:
    """The gradient of the whole model at a point of the idealised process, by classes."""
    v, A = symmetric(sample, architecture.beta, state.point)
    gradient = gradients(sample.X, sample.y, v, A, architecture)
    found = _observe(gradient.v, gradient.A, sample)
    return {
        "step": state.step,
        **asdict(state.point),
        "d_alpha": found["alpha"],
        "d_orthogonal": found["v_orthogonal"],
        **{f"d_{name}": found[name] for name in "gamma rho gamma_spread rho_spread".split()},
    }


def _split(v: torch.Tensor, sample: Sample) -> tuple[float, float]:
    """alpha = <v, w*> and |v_perp|, in double precision."""
    v, feature = (tensor.cpu().numpy().astype(float) for tensor in (v, sample.feature))
    alpha = v @ feature / (feature @ feature)
    return float(alpha), float(np.linalg.norm(v - alpha * feature))


def _observe(v: torch.Tensor, A: torch.Tensor, sample: Sample) -> dict:
    """v along w* and across; A's means and standard deviations by class, its largest deviation."""
    alpha, orthogonal = _split(v, sample)
    A = A.cpu().numpy().astype(float)
    gamma, rho = A[sample.within], A[sample.across]
    return {
        "alpha": alpha,
        "v_orthogonal": orthogonal,
        "gamma": gamma.mean(),
        "rho": rho.mean(),
        "gamma_spread": gamma.std(ddof=1),
        "rho_spread": rho.std(ddof=1),
        "deviation": max(np.abs(values - values.mean()).max() for values in (gamma, rho)),
    }


def side_by_side(
    sample: Sample,
    problem: Problem,
    idealised: Sequence[State],
    population: Expectation,
    architecture: Architecture,
    coupling: Coupling,
    semi: bool,
) -> list[dict]:
    """Rows of both realistic processes on one sample and, if asked for, of the semi-idealised one.

    `idealised` are the states of every step. A row of a realistic process has its `distance` to
    them at the same step; a semi-idealised one Delta_A = max |A_ij-hat - A_ij-check|, i != j.
    """
    A_0 = torch.from_numpy(problem.A).to(sample.X)
    starts = {
        "symmetric": symmetric(sample, architecture.beta, idealised[0].point),
        "gaussian": (torch.from_numpy(problem.v).to(sample.X), A_0),
    }
    rows = []
    for process, start in starts.items():
        run = descend(sample, *start, architecture, coupling)
        for row in run.rows:
            other = idealised[row["step"]].point
            rows.append({"process": process, **row, "distance": distance(len(A_0), row, other)})
    if semi:
        states = semi_idealised(population, run.alphas, coupling)
        recorded = [states[row["step"]] for row in run.rows]
        rows += [
            {**as_row("semi-idealised", state), "delta_A": _difference(A, sample, state.point)}
            for state, A in zip(recorded, run.attention, strict=True)
        ]
    return rows


def as_row(process: str, state: State) -> dict:
    """A state of a process on the population risk as a row."""
    loss = state.gradient.risk
    return {"process": process, "step": state.step, "loss": loss, **asdict(state.point)}


def semi_idealised(
    expectation: Expectation, alphas: Sequence[float], coupling: Coupling
) -> list[State]:
    """The states of the process that descends in gamma and rho from 0, alpha given at each step.

    Raises BadInput, naming the step, where the population gradient is beyond its method's reach.
    """
    gamma = rho = 0.0
    states = []
    for step, alpha in enumerate(alphas):
        point = Point(alpha, gamma, rho)
        try:
            gradient = expectation.gradient(point)
        except BadInput as error:
            raise BadInput(f"step {step}: {error}") from None
        states.append(State(step, point, gradient))
        gamma -= coupling.eta_A * gradient.d_gamma
        rho -= coupling.eta_A * gradient.d_rho
    return states


def distance(D: int, row: Mapping, point: Point) -> float:
    """The Euclidean distance in (alpha D, gamma, rho), all of order one."""
    alpha_D = D * (row["alpha"] - point.alpha)
    return float(np.linalg.norm((alpha_D, row["gamma"] - point.gamma, row["rho"] - point.rho)))


def _difference(A: np.ndarray, sample: Sample, point: Point) -> float:
    """The largest |A_ij - (gamma or rho)|, i != j."""
    gamma = np.abs(A[sample.within] - point.gamma).max()
    return float(max(gamma, np.abs(A[sample.across] - point.rho).max()))
