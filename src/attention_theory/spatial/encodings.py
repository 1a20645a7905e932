"""The encodings step (experiment 8a): positional encodings P trained with A = P^T P.

The data, the sizes and the stopping rule are the pretraining step's; what is descended on differs.
"""

from pathlib import Path
from typing import Annotated

import typer

from attention_theory import devices, step, tables
from attention_theory.spatial import beyond_columns, encoding, settings
from attention_theory.spatial.encoding import Fixed
from attention_theory.spatial.settings import Architecture, Descent, Distribution
from attention_theory.streams import stream


def main(
    partition: Annotated[str, typer.Option(help="kind of partition: contiguous or scattered")],
    distribution: Distribution,
    architecture: Architecture,
    descent: Descent,
    fixed: Fixed,
    encodings: Annotated[
        str, typer.Option(help=f"list, parted by commas; each must read {encoding.NAMES}")
    ],
    seeds: Annotated[int, typer.Option(help="number of seeds: 0, 1, ...")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a seed of an encoding")],
    gpu: step.Gpu = 0,
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Train positional encodings P with A = P^T P, from several kinds of start."""
    settings.check_partition(partition)
    settings.check_seeds(seeds)
    kinds = encoding.parse_all(encodings, distribution.D, architecture)
    device = devices.prepare(gpu, threads)
    from attention_theory.spatial import gram, training

    common = {
        "partition": partition,
        **settings.as_columns(distribution, architecture, descent),
    }
    rows = []
    with step.record(
        provenance,
        "spatial.encodings",
        base_seed=base_seed,
        seeds=range(seeds),
        device=device,
        threads=threads,
    ):
        for kind in kinds:
            for seed in range(seeds):
                problem = training.initialise(
                    distribution, architecture, descent.omega, partition, base_seed, seed
                )
                rng = stream(base_seed, "spatial.encodings", kind.name, seed)
                trained = training.train(
                    problem,
                    distribution,
                    architecture,
                    descent,
                    base_seed,
                    seed,
                    device,
                    label=f"spatial.encodings {kind.name} seed {seed}",
                    parameters=gram.begin(kind, problem, architecture, descent, fixed, rng, device),
                )
                associations = [row["patch_association"] for row in trained.trajectory]
                found = {
                    **vars(kind),
                    "size": architecture.beta if kind.free else fixed.size,
                    "cap": 0.0 if kind.free else fixed.cap,
                    "seed": seed,
                    "patch_association_max": max(associations),
                    "accuracy": trained.accuracy,
                    **trained.trajectory[-1],
                    "steps": trained.steps,
                }
                rows.append({key: (common | found)[key] for key in beyond_columns.ENCODINGS})
        tables.write(table, rows, beyond_columns.ENCODINGS)


if __name__ == "__main__":
    step.run(main)
