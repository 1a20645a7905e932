"""The competition step (experiment 8b): training from a start that already attends elsewhere.

A(0) has g_0 where a row's next set (in a cycle) is, and Gaussian noise omega, off its diagonal
beta. The diagonal pulls a row towards its own set, g_0 towards the next: which one is learned?
"""

from pathlib import Path
from typing import Annotated

import typer

from attention_theory import devices, step, tables
from attention_theory.spatial import beyond_columns, settings, structures
from attention_theory.spatial.settings import Descent, Distribution


def main(
    partition: Annotated[str, typer.Option(help="kind of partition: contiguous or scattered")],
    distribution: Distribution,
    p: Annotated[int, typer.Option(help="power of the activation, odd and at least 3")],
    nu: Annotated[float, typer.Option(help="coefficient of the activation's linear part")],
    descent: Descent,
    betas: Annotated[str, typer.Option(help="list of diagonals beta of A, fixed")],
    starts: Annotated[str, typer.Option(help="list of initial attentions g_0 to the next set")],
    seeds: Annotated[int, typer.Option(help="number of seeds: 0, 1, ...")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a seed of a (beta, g_0)")],
    gpu: step.Gpu = 0,
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Train the simplified ViT from starts that attend to another set, over (beta, g_0)."""
    settings.check_partition(partition)
    settings.check_seeds(seeds)
    architectures, g_0s = structures.at_betas(p, nu, betas, starts)
    device = devices.prepare(gpu, threads)
    from attention_theory.spatial import training

    common = {"kind": "trained", **settings.as_columns(distribution, descent), "p": p, "nu": nu}
    rows = []
    with step.record(
        provenance,
        "spatial.competition",
        base_seed=base_seed,
        seeds=range(seeds),
        device=device,
        threads=threads,
    ):
        for architecture in architectures:
            for g_0 in g_0s:
                for seed in range(seeds):
                    problem = training.initialise(
                        distribution, architecture, descent.omega, partition, base_seed, seed
                    )
                    partner = structures.shifted(problem.partition)
                    pull = structures.gather(partner, problem.partition, g_0, diagonal=0)
                    trained = training.train(
                        problem._replace(A=problem.A + pull),
                        distribution,
                        architecture,
                        descent,
                        base_seed,
                        seed,
                        device,
                        label=f"spatial.competition beta {architecture.beta:g} g_0 {g_0:g}",
                    )
                    found = {
                        **trained.trajectory[-1],
                        "beta": architecture.beta,
                        "g_0": g_0,
                        "seed": seed,
                        "steps": trained.steps,
                        "accuracy": trained.accuracy,
                        "partner_association": structures.partner_association(
                            trained.A, partner, problem.partition
                        ),
                    }
                    # A trained A has no eigenvalue or gamma of its own here.
                    row = common | found | {"alpha_D": found["alpha"] * distribution.D}
                    rows.append({key: row.get(key) for key in beyond_columns.UNASSOCIATED})
        tables.write(table, rows, beyond_columns.UNASSOCIATED)


if __name__ == "__main__":
    step.run(main)
