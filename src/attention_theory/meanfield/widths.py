"""The widths step (experiment B5 b): attention and MLP of widths of their own.

Held against both widths infinite at the same depth. What is drawn for one width of a sublayer
serves with every width of the other, so that gaps can be compared seed by seed.
"""

from itertools import product
from math import inf
from pathlib import Path
from typing import Annotated

import typer
from threadpoolctl import threadpool_limits

from attention_theory import listing, step, tables
from attention_theory.meanfield import columns, settings
from attention_theory.meanfield.descent import Comparison, gap
from attention_theory.meanfield.settings import Descent, Problem, Widths
from attention_theory.progress import Progress


def main(
    problem: Problem,
    descent: Descent,
    sizes: Widths,
    seeds: Annotated[int, typer.Option(help="number of seeds: 0, 1, ...")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a pair of widths, time, prompts, seed")],
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Measure the gap of outputs over a grid of two widths."""
    settings.check_seeds(seeds)
    comparison = Comparison(base_seed, seeds, problem, sizes.K, descent)
    each = [*listing.counts("widths", sizes.widths), inf]
    pairs = [pair for pair in product(each, each) if pair != (inf, inf)]
    common = settings.as_columns(problem, descent, sizes)
    rows = []
    with (
        step.record(
            provenance, "meanfield.widths", base_seed=base_seed, seeds=range(seeds), threads=threads
        ),
        threadpool_limits(threads),
        Progress("meanfield.widths", len(pairs)) as progress,
    ):
        limit = comparison.run(sizes.L, inf, inf)
        for M_att, M_mlp in pairs:
            for (tau, kind), predictions in comparison.run(sizes.L, M_att, M_mlp).items():
                place = {"M_att": M_att, "M_mlp": M_mlp, "tau": tau, "prompts": kind}
                gaps = gap(predictions, limit[tau, kind])
                rows += [
                    common | place | {"seed": seed, "gap": gaps[seed]} for seed in range(seeds)
                ]
            progress.advance(f"M_att {M_att}, M_mlp {M_mlp}")
        tables.write(table, rows, columns.WIDTHS)


if __name__ == "__main__":
    step.run(main)
