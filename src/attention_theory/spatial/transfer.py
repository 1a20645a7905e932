"""The transfer step (experiment 6): new features on pretrained partitions, A frozen or not.

One job takes every seed of one pretraining setting, so that torch is imported once.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from threadpoolctl import threadpool_limits

from attention_theory import devices, files, step, tables
from attention_theory.errors import BadInput, require
from attention_theory.progress import Progress
from attention_theory.spatial.settings import Architecture, Distribution
from attention_theory.spatial.transfer_settings import COLUMNS, Frozen, Scratch, check_sizes


def main(
    model: Annotated[list[Path], typer.Option(help="a pretrained model (.npz); one a seed")],
    D: Annotated[int, typer.Option("--D", help="number of patches")],
    C: Annotated[int, typer.Option("--C", help="size of a set of the partition")],
    q: Annotated[float, typer.Option(help="probability of a spurious feature in a patch")],
    architecture: Architecture,
    frozen: Frozen,
    scratch: Scratch,
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row an evaluation")],
    gpu: step.Gpu = 0,
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Train on new features with the attention learned, permuted, zero, or from scratch."""
    distributions = [Distribution(D=D, C=C, d=d, q=q) for d in frozen.dimensions]
    require(architecture.nu > 0, "nu", architecture.nu, "be above 0: v = 0 is stationary without")
    check_sizes(frozen, scratch, D)
    pretrained = [read_model(path, D, C, architecture.beta) for path in model]
    device = devices.prepare(gpu, threads)
    from attention_theory.spatial import transferring

    rows = []
    setting, seeds = f"D={D}", range(len(pretrained))
    with (
        step.record(
            provenance,
            "spatial.transfer",
            setting,
            base_seed=base_seed,
            seeds=seeds,
            device=device,
            threads=threads,
            inputs=model,
        ),
        threadpool_limits(threads),
        Progress(f"spatial.transfer {setting}", len(seeds) * len(distributions)) as progress,
    ):
        for seed, (A, partition) in enumerate(pretrained):
            place = transferring.Place(partition, A, base_seed, seed, device)
            for distribution in distributions:
                common = {"D": D, "C": C, "d": distribution.d, "q": q}
                common |= {"beta": architecture.beta, "seed": seed}
                runs = (
                    transferring.frozen_rows(distribution, architecture, frozen, place),
                    transferring.scratch_rows(
                        distribution, architecture, scratch, frozen.test, place
                    ),
                )
                rows += [common | row for kind in runs for row in kind]
                progress.advance(f"seed {seed} d {distribution.d}")
        tables.write(table, rows, COLUMNS)


def read_model(path: Path, D: int, C: int, beta: float) -> tuple[np.ndarray, np.ndarray]:
    """The A (D, D) and the partition (D,) of a pretrained model.

    Raises BadInput, in one line that names the file, unless they are of this D, C and beta.
    """
    arrays = files.read_arrays(path)
    for name in ("A", "partition"):
        if name not in arrays:
            raise BadInput(f"{path}: the file lacks the array {name}")
    A, partition = arrays["A"], arrays["partition"]
    numbers = A.dtype.kind == "f" and np.isfinite(A).all()
    require(numbers and A.shape == (D, D), f"{path}: A", A.shape, f"be finite numbers ({D}, {D})")
    whole = partition.dtype.kind in "iu" and partition.shape == (D,) and (partition >= 0).all()
    sizes = np.bincount(partition) if whole and partition.max() < D else np.array([])
    equal = len(sizes) > 1 and (sizes == sizes[0]).all()
    if not equal:
        raise BadInput(
            f"{path}: partition: it must give each of {D} patches one of several "
            "sets, all of one size"
        )
    require(sizes[0] == C, f"{path}: C", int(sizes[0]), f"be {C}, as asked")
    diagonal = bool(np.allclose(np.diag(A), beta))
    require(diagonal, f"{path}: beta", float(A[0, 0]), f"be {beta:g}, as asked")
    return A, partition


if __name__ == "__main__":
    step.run(main)
