"""The Gaussian step (experiment 7): patches X_j ~ N(0, I), labels y = sign f*(X), by phi.

Here nothing sets the members of a set apart but the label: does training still find the sets?
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from attention_theory import devices, files, step, tables
from attention_theory.progress import Progress
from attention_theory.spatial import gaussian_columns, gaussian_settings, settings
from attention_theory.spatial.association import associate
from attention_theory.spatial.gaussian_settings import Gaussian
from attention_theory.spatial.settings import Architecture, Descent


def main(
    partition: Annotated[str, typer.Option(help="kind of partition: contiguous or scattered")],
    gaussian: Gaussian,
    architecture: Architecture,
    descent: Descent,
    phis: Annotated[str, typer.Option(help="list of phi: " + ", ".join(gaussian_settings.PHIS))],
    cap: Annotated[
        float, typer.Option(help="most that an entry of A moves in a step, and v a tenth; 0: none")
    ],
    seeds: Annotated[int, typer.Option(help="number of seeds: 0, 1, ...")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a seed of a phi")],
    attention: Annotated[
        Path, typer.Option(help=".npz, by phi the mean over seeds of A, patches ordered by set")
    ],
    gpu: step.Gpu = 0,
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Train the simplified ViT on Gaussian data, for several labelling functions."""
    settings.check_partition(partition)
    settings.check_seeds(seeds)
    gaussian_settings.check_cap(cap)
    names = gaussian_settings.parse_phis(phis)
    device = devices.prepare(gpu, threads)
    from attention_theory.spatial import gaussian_training, training

    common = {
        "partition": partition,
        "cap": cap,
        **settings.as_columns(gaussian, architecture, descent),
    }
    problems = [
        training.initialise(gaussian, architecture, descent.omega, partition, base_seed, seed)
        for seed in range(seeds)
    ]
    rows, means = [], []
    with (
        step.record(
            provenance,
            "spatial.gaussian",
            base_seed=base_seed,
            seeds=range(seeds),
            device=device,
            threads=threads,
        ),
        Progress("spatial.gaussian", len(names) * seeds) as progress,
    ):
        for phi in names:
            ordered = []
            for seed, problem in enumerate(problems):
                trained = gaussian_training.train(
                    phi,
                    problem,
                    gaussian,
                    architecture,
                    descent,
                    cap,
                    base_seed,
                    seed,
                    device,
                    label=f"spatial.gaussian {phi} seed {seed}",
                )
                gamma, rho = training.means(trained.A, problem.partition)
                found = {
                    "phi": phi,
                    "seed": seed,
                    **associate(trained.A, problem.partition)._asdict(),
                    "alpha": float(trained.v @ problem.feature),
                    "gamma": gamma,
                    "rho": rho,
                    **trained._asdict(),
                }
                rows.append({key: (common | found)[key] for key in gaussian_columns.GAUSSIAN})
                order = np.argsort(problem.partition, kind="stable")
                ordered.append(trained.A[np.ix_(order, order)])
                progress.advance(phi)
            means.append(np.mean(ordered, axis=0))
        files.write_arrays(attention, phi=np.array(names), A=np.array(means))
        tables.write(table, rows, gaussian_columns.GAUSSIAN)


if __name__ == "__main__":
    step.run(main)
