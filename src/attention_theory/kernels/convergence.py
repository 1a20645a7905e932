"""Experiment A1: convergence with over-parameterisation, W_V alone and all weights.

W_V alone is trained in closed form at the step 1 / (largest eigenvalue); all weights by gradient
descent with backtracking. All dimensions and seeds of a number of heads are one batch.
"""

from itertools import product
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from attention_theory import devices, step, tables
from attention_theory.kernels import columns, settings
from attention_theory.kernels import problem as problems
from attention_theory.kernels.settings import KERNELS, Convergence, Sizes
from attention_theory.progress import Progress

POINTS = 12  # of a recorded curve, after its start


def main(
    sizes: Sizes,
    convergence: Convergence,
    seeds: Annotated[int, typer.Option(help="number of seeds: 0, 1, ...")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a run")],
    curves: Annotated[Path, typer.Option(help="CSV, a row a recorded loss of a run")],
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Train W_V alone, and all weights, for every H, D and seed and with either kernel."""
    settings.check_seeds(seeds)
    devices.prepare(0, threads)
    from attention_theory.kernels import sweep

    rows: list[dict] = []
    points: list[dict] = []
    with (
        step.record(
            provenance,
            "kernels.convergence",
            base_seed=base_seed,
            seeds=range(seeds),
            threads=threads,
        ),
        Progress("kernels.convergence", len(convergence.heads) * len(KERNELS)) as progress,
    ):
        for H in convergence.heads:
            keys = list(product(convergence.dimensions, range(seeds)))
            drawn = [problems.draw(sizes, H, D, base_seed, "sweep", seed) for D, seed in keys]
            stacked = problems.stack([problems.project(problem) for problem in drawn])
            for kernel in KERNELS:
                for training, run in sweep.both(kernel, stacked, convergence):
                    place = {"kernel": kernel, "training": training, "H": H}
                    for index, (D, seed) in enumerate(keys):
                        own = place | {"D": D, "seed": seed}
                        rows.append(own | run.row(index) | vars(sizes))
                        points += [own | point for point in _curve(run.own_losses(index))]
                progress.advance(f"H {H}, {kernel}")
        tables.write(table, rows, columns.CONVERGENCE)
        tables.write(curves, points, columns.CURVES)


def _curve(losses: np.ndarray) -> list[dict]:
    """Evenly spaced losses (steps + 1,) of a run, relative to the first."""
    steps = np.unique(np.linspace(0, len(losses) - 1, POINTS + 1).astype(int))
    return [{"step": int(step), "loss": float(losses[step] / losses[0])} for step in steps]


if __name__ == "__main__":
    step.run(main)
