"""The pretraining step (experiment 1): every seed of one setting of the realistic problem (E).

The seeds are trained one after the other: at D = 50 and N = 8000 two passes over the data dominate
a step, and a batched step is slower on a CPU than a loop.
"""

from pathlib import Path
from typing import Annotated

import typer

from attention_theory import devices, files, step, tables
from attention_theory.errors import require
from attention_theory.spatial import columns, settings
from attention_theory.spatial.settings import Architecture, Descent, Distribution


def main(
    setting: Annotated[str, typer.Option(help="name of the setting: <sweep>-<number>")],
    partition: Annotated[str, typer.Option(help="kind of partition: contiguous or scattered")],
    distribution: Distribution,
    architecture: Architecture,
    descent: Descent,
    seeds: Annotated[int, typer.Option(help="number of seeds: 0, 1, ...")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a seed")],
    trajectory: Annotated[Path, typer.Option(help="CSV, a row a validation")],
    models: Annotated[Path, typer.Option(help="folder of the trained models (.npz)")],
    gpu: step.Gpu = 0,
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Train the simplified ViT on the structured distribution, for every seed of a setting."""
    require("/" not in setting, "setting", setting, "be a plain name, without /")
    settings.check_partition(partition)
    settings.check_seeds(seeds)
    device = devices.prepare(gpu, threads)
    from attention_theory.spatial import training

    common = {
        "sweep": setting.rsplit("-", 1)[0],
        "setting": setting,
        "partition": partition,
        **settings.as_columns(distribution, architecture, descent),
    }
    rows, trajectories = [], []
    with step.record(
        provenance,
        "spatial.pretraining",
        setting,
        base_seed=base_seed,
        seeds=range(seeds),
        device=device,
        threads=threads,
    ):
        for seed in range(seeds):
            problem = training.initialise(
                distribution, architecture, descent.omega, partition, base_seed, seed
            )
            trained = training.train(
                problem,
                distribution,
                architecture,
                descent,
                base_seed,
                seed,
                device,
                label=f"spatial.pretraining {setting} seed {seed}",
            )
            files.write_arrays(
                models / f"{setting}-seed{seed}.npz",
                A=trained.A,
                v=trained.v,
                feature=problem.feature,
                partition=problem.partition,
                A_initial=problem.A,
            )
            last = trained.trajectory[-1]
            found = {
                "seed": seed,
                "patch_association_max": max(r["patch_association"] for r in trained.trajectory),
                "accuracy": trained.accuracy,
                **last,
                "steps": trained.steps,
            }
            rows.append({name: (common | found)[name] for name in columns.PRETRAINING})
            place = {"sweep": common["sweep"], "setting": setting, "seed": seed}
            trajectories += [place | row for row in trained.trajectory]
        tables.write(table, rows, columns.PRETRAINING)
        tables.write(trajectory, trajectories, columns.TRAJECTORY)


if __name__ == "__main__":
    step.run(main)
