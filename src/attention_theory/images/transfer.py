"""The transfer step (experiment 4): what a pretrained ViT knows of space, used on new classes.

A ViT is pretrained on one half of the classes; its positional encodings, W_Q and W_K are kept and
frozen, and the rest is trained anew on k samples a class of the other half. Beside it stand three
controls (controls.py). Each arm's learning rate is tuned on other draws.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from attention_theory import devices, step, tables
from attention_theory.errors import require
from attention_theory.images import data as datasets
from attention_theory.images import permutation as permutations
from attention_theory.images import transfer_columns, transfer_settings
from attention_theory.images.transfer_settings import (
    Draws,
    Finetuning,
    Pretraining,
    Transformer,
)
from attention_theory.progress import Progress


def main(
    data: Annotated[Path, typer.Option(help="the prepared data set (.npz)")],
    attention: Annotated[list[str], typer.Option(help="self or positional; repeatable")],
    transformer: Transformer,
    pretraining: Pretraining,
    finetuning: Finetuning,
    draws: Draws,
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a tested run")],
    tuning: Annotated[Path, typer.Option(help="CSV, a row a run on the tuning draws")],
    pretrained: Annotated[Path, typer.Option(help="CSV, a row a pretrained model")],
    gpu: step.Gpu = 0,
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Pretrain on half of the classes, fine-tune on few samples of the others, with controls."""
    transfer_settings.check_attentions(attention)
    source = datasets.read(data)
    if draws.draws:
        _check_fit(source, transformer, pretraining, finetuning)
    device = devices.prepare(gpu, threads) if draws.draws else "cpu"

    found: dict[Path, list[dict]] = {table: [], tuning: [], pretrained: []}
    with step.record(
        provenance,
        "images.transfer",
        table.stem,
        base_seed=base_seed,
        seeds=range(draws.draws),
        device=device,
        threads=threads,
        inputs=[data],
    ):
        if draws.draws:
            from attention_theory.images import problem as problems
            from attention_theory.images.transferring import Transfer

            name, size = source["dataset"].item(), source["images"].shape[-1]
            order = permutations.draw("none", name, size, transformer.patch, base_seed)
            problem = problems.load(source, order, device)
            work = len(attention) * draws.work(finetuning)
            with Progress(f"images.transfer {name}", work) as progress:
                for kind in attention:
                    architecture = transformer.with_attention(kind)
                    transfer = Transfer(
                        problem, architecture, pretraining, finetuning, draws, base_seed, progress
                    )
                    place = {"dataset": name, "attention": kind}
                    for path, rows in zip(found, transfer.run(), strict=True):
                        found[path] += [place | row for row in rows]
        for path, columns in zip(found, transfer_columns.TABLES, strict=True):
            tables.write(path, found[path], columns)


def _check_fit(
    source: dict[str, np.ndarray],
    transformer: Transformer,
    pretraining: Pretraining,
    finetuning: Finetuning,
) -> None:
    """Raise BadInput unless data set and settings belong together."""
    size, classes = source["images"].shape[-1], source["classes"].item()
    transformer.check_data(size, classes)
    require(pretraining.shift < size, "shift", pretraining.shift, f"be below {size}")
    counts = np.bincount(source["labels"][source["train"]], minlength=classes)
    allowed = f"be at most {counts.min()}, the training images of class {counts.argmin()}"
    require(finetuning.samples[-1] <= counts.min(), "samples", finetuning.samples[-1], allowed)


if __name__ == "__main__":
    step.run(main)
