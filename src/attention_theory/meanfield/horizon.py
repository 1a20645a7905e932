"""The horizon step (experiment B5 a): how the gap to the limit goes on over a long time.

Of outputs on training and on fresh prompts, and of parameters, against the limit in depth
extrapolated from two depths at M = infinity (Richardson).
"""

from math import inf
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from threadpoolctl import threadpool_limits

from attention_theory import listing, step, tables
from attention_theory.errors import within
from attention_theory.meanfield import columns, drawing, settings
from attention_theory.meanfield.descent import descend, gap
from attention_theory.meanfield.model import Flow, Particles, Tasks, Weights
from attention_theory.meanfield.settings import Descent, Horizon, Problem
from attention_theory.progress import Progress


class Recorded(NamedTuple):
    """Predictions (S, B) on both kinds of prompts, and the particles, after a step."""

    train: np.ndarray
    fresh: np.ndarray
    particles: Particles


def parameter_gap(particles: Particles, others: Particles, weights: Weights) -> np.ndarray:
    """The root mean square (S,) of |theta - theta'| over layers, weighted by particles' shares.

    theta is both of attention's particle and of the MLP's. Layer l of L is held against the others'
    at the same depth l / L; their number of layers is a multiple of L.
    """

    def squares(array: np.ndarray, other: np.ndarray) -> np.ndarray:
        L = array.shape[1]
        apart = (array - other[:, :: other.shape[1] // L]) ** 2
        return apart.reshape(*array.shape[:3], -1).sum(axis=-1)

    squared = particles.map(squares, others)
    attention = (squared.V + squared.W) * weights.attention
    mlp = (squared.W1 + squared.W2) * weights.mlp
    return np.sqrt((attention + mlp).sum(axis=2).mean(axis=1))


def main(
    problem: Problem,
    descent: Descent,
    horizon: Horizon,
    seeds: Annotated[int, typer.Option(help="number of seeds: 0, 1, ...")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a size, time, measure and seed")],
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Follow the gap of outputs and of parameters over a long training."""
    settings.check_seeds(seeds)
    key, sizes = (base_seed, seeds), listing.sizes("sizes", horizon.sizes)
    prompts = {kind: drawing.tasks(*key, problem, kind) for kind in ("train", "fresh")}
    limits = (horizon.limit, 2 * horizon.limit)
    common = settings.as_columns(problem, descent, horizon)
    del common["every"]
    rows = []
    with (
        step.record(
            provenance,
            "meanfield.horizon",
            base_seed=base_seed,
            seeds=range(seeds),
            threads=threads,
        ),
        threadpool_limits(threads),
        Progress("meanfield.horizon", len(sizes) + 2) as progress,
    ):

        def run(L: int, M: float) -> tuple[dict[int, Recorded], Weights]:
            weights = drawing.weights(*key, L, horizon.K, M, M)
            with within(f"L {L}, M {M}"):
                found = _follow(key, problem, descent, horizon, L, weights, prompts)
            progress.advance(f"L {L}, M {M}")
            return found, weights

        coarse, fine = (run(L, inf)[0] for L in limits)
        for L, M in sizes:
            found, weights = run(L, M)
            for number, recorded in found.items():
                measured = _gaps(recorded, coarse[number], fine[number], weights)
                place = {"L": L, "M": M, "tau": descent.tau(number)}
                rows += [
                    common | place | {"measure": measure, "seed": seed, "gap": values[seed]}
                    for measure, values in measured.items()
                    for seed in range(seeds)
                ]
        tables.write(table, rows, columns.HORIZON)


def _follow(
    key: tuple[int, int],
    problem: Problem,
    descent: Descent,
    horizon: Horizon,
    L: int,
    weights: Weights,
    prompts: dict[str, Tasks],
) -> dict[int, Recorded]:
    """What is recorded of a training, by step."""
    start = drawing.atoms(*key, problem, horizon.K, L)
    flow, fresh = (Flow(prompts[kind], L, horizon.K) for kind in ("train", "fresh"))
    return {
        state.step: Recorded(
            state.predictions, fresh.predict(state.particles, weights), state.particles
        )
        for state in descend(flow, start, weights, descent)
        if state.step % horizon.every == 0 or state.step == descent.steps
    }


def _gaps(
    recorded: Recorded, coarse: Recorded, fine: Recorded, weights: Weights
) -> dict[str, np.ndarray]:
    """The gaps (S,) to the limit that `coarse` and `fine` point to."""
    limit = fine.particles.map(lambda f, c: 2 * f[:, ::2] - c, coarse.particles)
    return {
        "train": gap(recorded.train, 2 * fine.train - coarse.train),
        "fresh": gap(recorded.fresh, 2 * fine.fresh - coarse.fresh),
        "parameters": parameter_gap(recorded.particles, limit, weights),
    }


if __name__ == "__main__":
    step.run(main)
