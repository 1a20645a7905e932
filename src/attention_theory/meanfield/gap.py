"""The gap step (experiment B1): the discrete transformer against its limits in depth and width.

In depth at M = infinity, against the limit extrapolated from two depths (Richardson); in width at a
given depth, against M = infinity, with draws of each layer's own and with draws that all layers
share.
"""

from math import inf
from pathlib import Path
from typing import Annotated

import typer
from threadpoolctl import threadpool_limits

from attention_theory import listing, step, tables
from attention_theory.meanfield import columns, settings
from attention_theory.meanfield.descent import Comparison, gap, risk
from attention_theory.meanfield.settings import Descent, Gap, Problem
from attention_theory.progress import Progress


def main(
    problem: Problem,
    descent: Descent,
    sizes: Gap,
    seeds: Annotated[int, typer.Option(help="number of seeds: 0, 1, ...")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a size, time, kind of prompts and seed")],
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Measure gaps of outputs and of the risk at the start and after training."""
    settings.check_seeds(seeds)
    comparison = Comparison(base_seed, seeds, problem, sizes.K, descent)
    limits = (sizes.limit, 2 * sizes.limit)
    depths = sorted({*listing.counts("depths", sizes.depths), *limits})
    cells = [
        (L, M, shared)
        for L in listing.counts("width_depths", sizes.width_depths)
        for M in listing.counts("widths", sizes.widths)
        for shared in (False, True)
    ]
    common = settings.as_columns(problem, descent, sizes)
    rows = []

    def add(name: str, L: int, M: float, found: dict, others: dict) -> None:
        for (tau, kind), predictions in found.items():
            other, target = others[tau, kind], comparison.tasks[kind].target
            gaps = gap(predictions, other)
            risks = abs(risk(predictions, target) - risk(other, target))
            place = {"comparison": name, "L": L, "M": M, "tau": tau, "prompts": kind}
            for seed in range(seeds):
                measured = {"seed": seed, "gap": gaps[seed], "risk_gap": risks[seed]}
                rows.append(common | place | measured)

    with (
        step.record(
            provenance, "meanfield.gap", base_seed=base_seed, seeds=range(seeds), threads=threads
        ),
        threadpool_limits(threads),
        Progress("meanfield.gap", len(depths) + len(cells)) as progress,
    ):
        infinite = {}
        for L in depths:
            infinite[L] = comparison.run(L, inf, inf)
            progress.advance(f"L {L}")
        coarse, fine = (infinite[L] for L in limits)
        limit = {place: 2 * fine[place] - coarse[place] for place in fine}
        for L in depths:
            add("depth", L, inf, infinite[L], limit)
        for L, M, shared in cells:
            name = "shared" if shared else "independent"
            add(name, L, M, comparison.run(L, M, M, shared), infinite[L])
            progress.advance(f"L {L}, M {M}")
        tables.write(table, rows, columns.GAP)


if __name__ == "__main__":
    step.run(main)
