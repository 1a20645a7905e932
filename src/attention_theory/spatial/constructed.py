"""The constructed step (experiment 8b): models that are written down, without patch association.

v = alpha w*, attention gamma or 0 off the diagonal (structures.py says where).
"""

from math import log
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from attention_theory import devices, listing, step, tables
from attention_theory.progress import Progress
from attention_theory.spatial import beyond_columns, structures
from attention_theory.spatial.association import associate
from attention_theory.spatial.settings import Architecture
from attention_theory.streams import stream

D_GAMMA = 50  # gamma is given at this D: gamma + log(D / D_GAMMA) keeps a set's softmax weight


def main(
    sizes: Annotated[str, typer.Option(help="list of numbers of patches D, multiples of 2 C")],
    C: Annotated[int, typer.Option("--C", help="size of a set of the partition")],
    q_D: Annotated[float, typer.Option("--q-D", help="expected number of spurious features")],
    architecture: Architecture,
    gamma: Annotated[float, typer.Option(help=f"attention to a wanted set at D = {D_GAMMA}")],
    projections: Annotated[str, typer.Option(help="list of values of alpha D, v = alpha w*")],
    test: Annotated[int, typer.Option(min=1, help="number of test samples")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a model")],
    gpu: step.Gpu = 0,
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Evaluate models without patch association, in law (the noise is orthogonal to v)."""
    distributions = structures.at_sizes(sizes, C, q_D)
    alphas = listing.numbers("projections", projections)
    device = devices.prepare(gpu, threads)
    import torch

    from attention_theory.spatial import evaluation

    rows = []
    with (
        step.record(
            provenance,
            "spatial.constructed",
            base_seed=base_seed,
            seeds=[0],
            device=device,
            threads=threads,
        ),
        Progress("spatial.constructed", len(distributions)) as progress,
    ):
        for distribution in distributions:
            D = distribution.D
            partition = np.repeat(np.arange(distribution.L), C)
            rng = stream(base_seed, "spatial.constructed", D)
            sample = evaluation.draw(distribution, partition, test, rng, device)
            feature = torch.tensor([1.0, 0.0], device=device)
            gamma_D = gamma + log(D / D_GAMMA)
            models = structures.constructed(partition, architecture.beta, gamma_D)
            for kind, (A, partner) in models.items():
                found = {
                    "kind": kind,
                    "D": D,
                    "C": C,
                    "q": distribution.q,
                    "p": architecture.p,
                    "nu": architecture.nu,
                    "beta": float(A[0, 0]),
                    "gamma": gamma_D,
                    "test": test,
                    "seed": 0,
                    **associate(A, partition)._asdict(),
                    "partner_association": structures.partner_association(A, partner, partition),
                    "lowest_eigenvalue": float(np.linalg.eigvalsh(A.astype(float)).min()),
                }
                on_device = torch.from_numpy(A).to(device)
                for alpha_D in alphas:
                    evaluated = evaluation.evaluate(
                        sample, alpha_D / D * feature, on_device, feature, architecture
                    )
                    row = found | {"alpha_D": alpha_D, "accuracy": evaluated.accuracy}
                    # What belongs to training (N, g_0, steps) stays empty.
                    rows.append({key: row.get(key) for key in beyond_columns.UNASSOCIATED})
            progress.advance()
        tables.write(table, rows, beyond_columns.UNASSOCIATED)


if __name__ == "__main__":
    step.run(main)
