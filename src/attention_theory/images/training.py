"""The training step: every seed of one setting, one after the other (fitting.py says why).

It writes a table with a row a seed and, for each seed, the weights after the last epoch
(`<setting>-seed<seed>.safetensors`) and the snapshots (`.npz`): what names the model in the table,
the permutation's hash, `epoch` and `state` (states,), and where the model has tokens `positions`
(states, tokens, width) and `attention_matrices` (states, layers, tokens, tokens).
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from attention_theory import devices, files, own, step, tables
from attention_theory.errors import BadInput
from attention_theory.images import columns, settings
from attention_theory.images import data as datasets
from attention_theory.images import permutation as permutations
from attention_theory.images.settings import Architecture, Training

STATES = ("initial", "final")


def main(
    setting: Annotated[str, typer.Option(help="name of the setting, and of its files")],
    data: Annotated[Path, typer.Option(help="the prepared data set (.npz)")],
    permutation: Annotated[Path, typer.Option(help="the permutation of its images (.npz)")],
    architecture: Architecture,
    training: Training,
    seeds: Annotated[int, typer.Option(help="number of seeds: 0, 1, ...")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a seed")],
    models: Annotated[Path, typer.Option(help="folder of the weights (.safetensors)")],
    snapshots: Annotated[Path, typer.Option(help="folder of the snapshots (.npz)")],
    gpu: step.Gpu = 0,
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Train one model on one data set, original or permuted, for every seed of a setting."""
    settings.check_seeds(seeds)
    source, order = datasets.read(data), permutations.read(permutation)
    _check_fit(source, order, architecture, training, permutation)
    device = devices.prepare(gpu, threads)
    from safetensors.torch import save_file

    from attention_theory.images import fitting
    from attention_theory.images import models as registry

    common = {
        "dataset": order.dataset,
        "model": architecture.model,
        "attention": architecture.attention,
        "patch": architecture.patch,
        "permutation": order.granularity,
    }
    rows, images, seconds = [], 0, 0.0
    with step.record(
        provenance,
        "images.training",
        setting,
        base_seed=base_seed,
        seeds=range(seeds),
        device=device,
        threads=threads,
        inputs=[data, permutation, *own.files(architecture.model, architecture.attention)],
    ) as record:
        problem = fitting.load(source, order, device)
        for seed in range(seeds):
            label = f"images.training {setting} seed {seed}"
            fitted = fitting.fit(problem, architecture, training, base_seed, seed, device, label)
            name = f"{setting}-seed{seed}"
            with files.replacing(models / f"{name}.safetensors") as temporary:
                save_file(fitted.model.state_dict(), temporary)
            place = common | {"seed": seed}
            about = place | {"permutation_sha256": order.sha256, "state": STATES}
            stacked = {
                key: np.stack([snapshot[key] for snapshot in fitted.snapshots])
                for key in fitted.snapshots[0]
            }
            files.write_arrays(snapshots / f"{name}.npz", **about, **stacked)
            found = {"accuracy": fitted.accuracy, "parameters": registry.parameters(fitted.model)}
            rows.append(place | found)
            images, seconds = images + fitted.images, seconds + fitted.seconds
        tables.write(table, rows, columns.ACCURACY)
        record["images_per_second"] = images / seconds


def _check_fit(
    source: dict[str, np.ndarray],
    order: permutations.Permutation,
    architecture: Architecture,
    training: Training,
    path: Path,
) -> None:
    """Raise BadInput unless data set, permutation and settings belong together."""
    architecture.check_size(source["images"].shape[-1])
    training.check_images(len(source["train"]), source["images"].shape[-1])
    made = (order.dataset, order.size, order.patch)
    wanted = (source["dataset"].item(), source["images"].shape[-1], architecture.patch)
    if made != wanted:
        raise BadInput(
            f"{path}: a permutation of {made[0]} ({made[1]} pixels, patch {made[2]}); it must be "
            f"one of {wanted[0]} ({wanted[1]} pixels, patch {wanted[2]})"
        )


if __name__ == "__main__":
    step.run(main)
