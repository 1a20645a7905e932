"""The audit step (experiment B3): every stated bound searched for a violation, and its correction.

For each statement and size, smallest first: random draws over scales, then gradient ascent on the
ratio of the two sides from the best draws and from the first ones. A violation is made as simple as
it gets and computed again from its printed numbers.
"""

from pathlib import Path
from typing import Annotated

import typer
from threadpoolctl import threadpool_limits

from attention_theory import devices, step, tables
from attention_theory.meanfield import bounds, bounds_columns
from attention_theory.meanfield.bounds_settings import Search
from attention_theory.progress import Progress


def main(
    search: Search,
    base_seed: step.BaseSeed,
    output: Annotated[Path, typer.Option(help="CSV, a row a statement")],
    searches: Annotated[Path, typer.Option(help="CSV, a row a search: statement, size, seed")],
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Search for violations of the stated bounds and of their corrections."""
    devices.prepare(0, threads)
    from attention_theory.meanfield import auditing

    seeds = range(search.seeds)
    with (
        step.record(
            provenance, "meanfield.audit", base_seed=base_seed, seeds=seeds, threads=threads
        ),
        threadpool_limits(threads),
    ):
        rows: list[dict] = []
        found: list[dict] = []
        with Progress("meanfield.audit", len(bounds.BOUNDS)) as progress:
            for bound in bounds.BOUNDS:
                row, own = auditing.audit(bound, search, base_seed)
                rows.append(row)
                found += own
                progress.advance(f"{bound.name}: {row['sup_ratio']:.3g}")
        tables.write(output, rows, bounds_columns.BOUNDS)
        tables.write(searches, found, bounds_columns.SEARCHES)


if __name__ == "__main__":
    step.run(main)
