"""Experiment A3: how far weights and tangent kernel move when all weights are trained.

Gradient descent, with steps in units of 1 / (largest eigenvalue of the initial NTK), until the
loss has fallen to a given share. One sweep of D at fixed H, one of H at fixed D.
"""

from itertools import product
from pathlib import Path
from typing import Annotated

import typer

from attention_theory import devices, step, tables
from attention_theory.kernels import columns, settings
from attention_theory.kernels import problem as problems
from attention_theory.kernels.settings import KERNELS, Lazy, Sizes
from attention_theory.progress import Progress


def main(
    sizes: Sizes,
    lazy: Lazy,
    seeds: Annotated[int, typer.Option(help="number of seeds: 0, 1, ...")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a run")],
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Train all weights to one relative loss and measure what has moved."""
    settings.check_seeds(seeds)
    devices.prepare(0, threads)
    from attention_theory.kernels import movement

    sweeps = [("D", lazy.at_heads, lazy.dimensions)]
    sweeps += [("H", H, [lazy.at_dimension]) for H in lazy.heads]
    rows: list[dict] = []
    with (
        step.record(
            provenance, "kernels.lazy", base_seed=base_seed, seeds=range(seeds), threads=threads
        ),
        Progress("kernels.lazy", len(sweeps) * len(KERNELS)) as progress,
    ):
        for sweep, H, dimensions in sweeps:
            keys = list(product(dimensions, range(seeds)))
            drawn = [problems.draw(sizes, H, D, base_seed, "lazy", seed) for D, seed in keys]
            stacked = problems.stack([problems.project(problem) for problem in drawn])
            for kernel in KERNELS:
                found = movement.train(kernel, stacked, lazy)
                for (D, seed), run in zip(keys, found, strict=True):
                    place = {"sweep": sweep, "kernel": kernel, "H": H, "D": D, "seed": seed}
                    rows.append(place | {"goal": lazy.goal} | vars(sizes) | run)
                progress.advance(f"sweep of {sweep}, {kernel}")
        tables.write(table, rows, columns.LAZY)


if __name__ == "__main__":
    step.run(main)
