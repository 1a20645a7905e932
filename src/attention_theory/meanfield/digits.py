"""The digits step (experiment B4): does a small ViT reach near-zero training loss?"""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from attention_theory import devices, step, tables
from attention_theory.errors import within
from attention_theory.meanfield import columns, settings
from attention_theory.meanfield.vit_settings import Fit, Model
from attention_theory.progress import Progress


def main(
    model: Model,
    fit: Fit,
    seeds: Annotated[int, typer.Option(help="number of seeds: 0, 1, ...")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row an evaluation of a seed")],
    gpu: step.Gpu = 0,
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Train a small vision transformer on scikit-learn's digits, a seed after the other."""
    settings.check_seeds(seeds)
    device = devices.prepare(gpu, threads)
    from attention_theory.meanfield import vit_training

    common = asdict(model) | asdict(fit)
    del common["every"]
    rows = []
    with (
        step.record(
            provenance,
            "meanfield.digits",
            base_seed=base_seed,
            seeds=range(seeds),
            device=device,
            threads=threads,
        ),
        Progress("meanfield.digits", seeds) as progress,
    ):
        for seed in range(seeds):
            digits = vit_training.load(fit.images, base_seed, seed, device)
            network = vit_training.build(model, base_seed, seed).to(device)
            parameters = sum(parameter.numel() for parameter in network.parameters())
            with within(f"seed {seed}"):
                for row in vit_training.fit(network, digits, fit, base_seed, seed):
                    rows.append({"seed": seed, "parameters": parameters, **common, **row})
            progress.advance(f"seed {seed}")
        # `steps` is the training's length, `step` the row's.
        tables.write(table, rows, columns.DIGITS)


if __name__ == "__main__":
    step.run(main)
