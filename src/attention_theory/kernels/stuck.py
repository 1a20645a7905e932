"""Experiment A2: W_Q and W_K alone are trained; when does gradient descent get stuck, and where?

Backtracking gradient descent for a budget of steps. A run whose loss falls below the threshold is
not stuck, and ends. All cases and seeds with the same H and n are one batch.
"""

from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from attention_theory import devices, step, tables
from attention_theory.kernels import columns, settings
from attention_theory.kernels.settings import KERNELS, Sizes, Stuck
from attention_theory.progress import Progress


def main(
    sizes: Sizes,
    stuck: Stuck,
    cases: Annotated[str, typer.Option(help="JSON: by a case's name, its target, H, n, eps, size")],
    seeds: Annotated[int, typer.Option(help="number of seeds: 0, 1, ...")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a run")],
    losses: Annotated[Path, typer.Option(help="CSV, a row a run at a budget of steps")],
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Train W_Q and W_K on every case with either kernel; look at where runs stay."""
    settings.check_seeds(seeds)
    named = settings.parse_cases(cases)
    settings.check_rank(sizes, stuck.D, named)
    devices.prepare(0, threads)
    from attention_theory.kernels import trapping

    def group(name: str) -> tuple[int, int]:
        return named[name].H, named[name].n

    groups = [list(names) for _, names in groupby(sorted(named, key=group), key=group)]
    rows: list[dict] = []
    points: list[dict] = []
    with (
        step.record(
            provenance, "kernels.stuck", base_seed=base_seed, seeds=range(seeds), threads=threads
        ),
        Progress("kernels.stuck", len(groups) * len(KERNELS)) as progress,
    ):
        for names in groups:
            for kernel in KERNELS:
                own = {name: named[name] for name in names}
                found = trapping.run(kernel, sizes, stuck, own, seeds, base_seed)
                rows += found.rows
                points += found.budgets
                progress.advance(f"{', '.join(names)}, {kernel}")
        order = {name: index for index, name in enumerate(named)}
        for part in (rows, points):
            part.sort(key=lambda row: order[row["case"]])  # as configured; stable
        tables.write(table, rows, columns.STUCK)
        tables.write(losses, points, columns.BUDGETS)


if __name__ == "__main__":
    step.run(main)
