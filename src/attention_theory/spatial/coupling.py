"""The coupling step (experiments 3 and 4): realistic processes beside the idealised one.

Every process takes the same steps at the same rates. `symmetric` starts where the idealised one
does, so that only the sample tells them apart (Lemmas 4.1, 4.2); `gaussian` is problem (E), on the
same sample (Theorem 4.2); `semi-idealised` follows the latter's alpha (Appendix E.2).
"""

from itertools import product
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from attention_theory import devices, step, tables
from attention_theory.errors import within
from attention_theory.progress import Progress
from attention_theory.spatial import coupling_columns, coupling_settings, settings
from attention_theory.spatial.coupling_settings import Coupling
from attention_theory.spatial.population_settings import Sets
from attention_theory.spatial.settings import Architecture, Distribution
from attention_theory.streams import stream


def main(
    partition: Annotated[str, typer.Option(help="kind of partition: contiguous or scattered")],
    distribution: Distribution,
    architecture: Architecture,
    coupling: Coupling,
    seeds: Annotated[int, typer.Option(help="number of seeds: 0, 1, ...")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a recorded step of a process")],
    invariance: Annotated[Path, typer.Option(help="CSV, a row a gradient at a symmetric point")],
    gpu: step.Gpu = 0,
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Run realistic, idealised and semi-idealised processes side by side."""
    settings.check_partition(partition)
    settings.check_seeds(seeds)
    coupling_settings.check_size(distribution.C)
    device = devices.prepare(gpu, threads)
    from attention_theory.spatial import coupled, training
    from attention_theory.spatial.fourier import Fourier
    from attention_theory.spatial.idealised import descend

    sets = Sets(distribution.D, distribution.C, distribution.q)
    population = Fourier(sets, architecture, coupling.target)
    sizes = sorted({*coupling.of("samples"), *coupling.of("gradient_samples")})
    with step.record(
        provenance,
        "spatial.coupling",
        base_seed=base_seed,
        seeds=range(seeds),
        device=device,
        threads=threads,
    ):
        with within("idealised"):
            idealised = list(descend(population, coupling.path))
        rows = [coupled.as_row("idealised", s) for s in idealised if coupling.recorded(s.step)]
        gradients: list[dict] = []
        with Progress("spatial.coupling", seeds * len(sizes)) as progress:
            for seed, N in product(range(seeds), sizes):
                problem = training.initialise(
                    distribution, architecture, coupling.omega, partition, base_seed, seed
                )
                rng = stream(base_seed, "spatial.coupling", seed, N)
                sample = coupled.draw(distribution, problem, N, rng, device)
                place = {"N": N, "seed": seed}
                if N in coupling.of("gradient_samples"):
                    probes = [idealised[probe] for probe in coupling.of("probes")]
                    gradients += [place | coupled.probe(sample, architecture, s) for s in probes]
                if N in coupling.of("samples"):
                    with within(f"N {N}, seed {seed}"):
                        found = coupled.side_by_side(
                            sample,
                            problem,
                            idealised,
                            population,
                            architecture,
                            coupling,
                            semi=N in coupling.of("semi"),
                        )
                    rows += [place | row for row in found]
                progress.advance(f"N {N}, seed {seed}")
        common = settings.as_columns(distribution, architecture, coupling)
        for path, found, columns in (
            (table, rows, coupling_columns.COUPLING),
            (invariance, gradients, coupling_columns.INVARIANCE),
        ):
            # What a process does not have stays empty: an idealised one has no N, no spread.
            full = [{key: (common | row).get(key) for key in columns} for row in found]
            whole = {"N": "Int64", "seed": "Int64"}  # not 500.0 beside an empty cell
            tables.write(path, pd.DataFrame(full, columns=columns).astype(whole), columns)


if __name__ == "__main__":
    step.run(main)
