"""The training step: every seed of one setting, one after the other.

It writes a table with a row a seed and, for each seed, the weights after the last epoch
(`<setting>-seed<seed>.safetensors`) and the snapshots (`.npz`): what names the model in the table,
the permutation's hash, `epoch` and `state` (states,), and where the model has tokens `positions`
(states, tokens, width) and `attention_matrices` (states, layers, tokens, tokens).

Killed at any point and started again, it goes on from each seed's newest checkpoint, if there are
any; it removes them when its outputs are whole.
"""

from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from attention_theory import devices, files, own, step, tables
from attention_theory.code import SOURCE, closure
from attention_theory.errors import BadInput, require
from attention_theory.images import columns, procedures, schedule, settings
from attention_theory.images import data as datasets
from attention_theory.images import permutation as permutations
from attention_theory.images.permutation import Permutation
from attention_theory.images.settings import Architecture, Computation, Training

if TYPE_CHECKING:
    from attention_theory.checkpoint import Checkpoints
    from attention_theory.images.fitting import Fitted

Processes = Annotated[
    int, typer.Option(min=1, help="processes that share a batch; with --gpu 1 a GPU each")
]


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
    computation: Computation = Computation(),  # noqa: B008 - frozen
    checkpoints: Annotated[
        Path | None, typer.Option(help="folder of this setting's checkpoints")
    ] = None,
    gpu: step.Gpu = 0,
    processes: Processes = 1,
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Train one model on one data set, original or permuted, for every seed of a setting."""
    settings.check_seeds(seeds)
    every = computation.checkpoint_every
    require(checkpoints or not every, "checkpoint_every", every, "be 0 without --checkpoints")
    computation.check_batch(training.batch, processes)
    computation.check_norm(architecture.model, processes)
    source, order = datasets.read(data), permutations.read(permutation)
    _check_fit(source, order, architecture, training, permutation)
    _check_labels(source, data)
    code = own.files(architecture.model, architecture.attention)
    sources = _sources()  # before the work: what is edited during it was not what ran
    device = devices.prepare(gpu * processes, threads)

    from attention_theory import checkpoint
    from attention_theory.images import fitting, parallel
    from attention_theory.images import models as registry
    from attention_theory.images import problem as problems

    team = parallel.start(processes, device)
    common = {
        "dataset": order.dataset,
        "model": architecture.model,
        "attention": architecture.attention,
        "patch": architecture.patch,
        "permutation": order.granularity,
    }
    rows, losses, images, seconds, kept = [], [], 0, 0.0, []
    with (
        team,
        step.record(
            provenance if team.first else None,
            "images.training",
            setting,
            base_seed=base_seed,
            seeds=range(seeds),
            device=device,
            threads=threads,
            inputs=[data, permutation, *code],
        ) as record,
    ):
        decisive = {
            "architecture": asdict(architecture),
            "training": asdict(training),
            "schedule": schedule.sketch(training, len(source["train"]) // training.batch),
            "data": datasets.identity(source),
            "permutation": order.sha256,
            "source": sources,
            "own_code": {str(path): files.sha256(path) for path in code},
            "base_seed": base_seed,
            "arithmetic": _arithmetic(computation, device, threads, processes),
        }
        published = procedures.statistics(training, order.dataset)
        problem = problems.load(source, order, device, published, team)
        if checkpoints:
            kept = [
                checkpoint.Checkpoints(checkpoints / f"seed{seed}", decisive | {"seed": seed})
                for seed in range(seeds)
            ]
        for saved in kept:
            saved.load(aloud=False)  # what is refused is refused before any seed is trained
        for seed in range(seeds):
            label = f"images.training {setting} seed {seed}"
            fitted = fitting.fit(
                problem,
                architecture,
                training,
                base_seed,
                seed,
                label=label,
                computation=computation,
                checkpoints=kept[seed] if kept else None,
                team=team,
            )
            place = common | {"seed": seed}
            if team.first:
                name = f"{setting}-seed{seed}"
                states = ["initial", *["between"] * (len(fitted.snapshots) - 2), "final"]
                about = place | {"permutation_sha256": order.sha256, "state": states}
                _write(fitted, models / f"{name}.safetensors", snapshots / f"{name}.npz", about)
            found = {"accuracy": fitted.accuracy, "parameters": registry.parameters(fitted.model)}
            rows.append(place | found | {"setting": setting})
            losses.append(fitted.loss)
            images, seconds = images + fitted.images, seconds + fitted.seconds
        if team.first:
            tables.write(table, rows, columns.ACCURACY)
        record["images_per_second"] = images / seconds if images else None
        record["test_loss"] = losses
    if team.first and checkpoints:
        _clear(checkpoints, kept)


def _sources() -> dict[str, str]:
    """The SHA-256 of each of the project's files that this step runs, by name."""
    paths = closure("images.training")
    return {str(path.relative_to(SOURCE)): files.sha256(path) for path in paths}


def _arithmetic(computation: Computation, device: str, threads: int, processes: int) -> dict:
    """What the last digits depend on."""
    own = asdict(computation)
    del own["checkpoint_every"]
    return own | {
        "device": device,
        "threads": threads,
        "processes": processes,
        **{name: metadata.version(name) for name in ("numpy", "torch", "torchvision")},
    }


def _write(fitted: "Fitted", weights: Path, snapshots: Path, about: dict) -> None:
    """Write what a seed's training leaves beside its row: weights and snapshots."""
    from safetensors.torch import save

    with files.replacing(weights) as temporary:
        temporary.write_bytes(save(fitted.model.state_dict()))
    stacked = {
        key: np.stack([snapshot[key] for snapshot in fitted.snapshots])
        for key in fitted.snapshots[0]
    }
    files.write_arrays(snapshots, **about, **stacked)


def _clear(folder: Path, checkpoints: list["Checkpoints"]) -> None:
    """Remove the checkpoints of a setting whose outputs are whole."""
    for saved in checkpoints:
        saved.clear()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _check_fit(
    source: dict[str, np.ndarray],
    order: Permutation,
    architecture: Architecture,
    training: Training,
    path: Path,
) -> None:
    """Raise BadInput unless data set, permutation and settings belong together."""
    channels, size = source["images"].shape[1], source["images"].shape[-1]
    architecture.check_size(size)
    training.check_images(len(source["train"]), size)
    dataset, classes = source["dataset"].item(), source["classes"].item()
    procedures.check_data(training, dataset, channels, classes)
    made = (order.dataset, order.size, order.patch)
    wanted = (dataset, size, architecture.patch)
    if made != wanted:
        raise BadInput(
            f"{path}: a permutation of {made[0]} ({made[1]} pixels, patch {made[2]}); it must be "
            f"one of {wanted[0]} ({wanted[1]} pixels, patch {wanted[2]})"
        )


def _check_labels(source: dict[str, np.ndarray], path: Path) -> None:
    """Raise BadInput unless every image has a label, and each is the number of a class."""
    labels, classes, images = source["labels"], source["classes"].item(), len(source["images"])
    require(classes >= 2, f"{path}: classes", classes, "be at least 2")
    require(len(labels) == images, f"{path}: labels", len(labels), f"be {images}, one an image")
    for image in np.flatnonzero((labels < 0) | (labels >= classes))[:1]:
        allowed = f"lie in 0 .. {classes - 1}, the {classes} classes of the data set"
        require(False, f"{path}: label of image {image}", labels[image].item(), allowed)


if __name__ == "__main__":
    step.run(main)
