"""The step of experiment B5(c): the largest |J|_2 of softmax, l2 and l1 attention that is found.

Every number is a lower bound of the supremum: |J| at tokens that gradient ascent or an explicit
family leads to.
"""

from itertools import product
from pathlib import Path
from typing import Annotated

import typer
from threadpoolctl import threadpool_limits

from attention_theory import devices, step, tables
from attention_theory.meanfield import bounds_columns
from attention_theory.meanfield.bounds_settings import Lipschitz
from attention_theory.progress import Progress


def main(
    search: Lipschitz,
    base_seed: step.BaseSeed,
    output: Annotated[Path, typer.Option(help="CSV, a row a search")],
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Search for the tokens at which the Jacobian of attention is largest."""
    devices.prepare(0, threads)
    seeds = range(search.seeds)
    with (
        step.record(
            provenance, "meanfield.lipschitz", base_seed=base_seed, seeds=seeds, threads=threads
        ),
        threadpool_limits(threads),
    ):
        rows: list[dict] = []
        places = list(product(search.of("dimensions"), search.of("tokens")))
        with Progress("meanfield.lipschitz", len(places)) as progress:
            for D, n in places:
                rows += _ascents(search, D, n, base_seed)
                progress.advance(f"D {D}, {n} tokens")
        rows += _families(search)
        tables.write(output, rows, bounds_columns.LIPSCHITZ)


def _ascents(search: Lipschitz, D: int, n: int, base_seed: int) -> list[dict]:
    """Ascent for every kind of attention; of softmax's at each norm, smallest first."""
    import torch

    from attention_theory.meanfield import distances

    starts = [distances.starts(D, n, search.starts, base_seed, k) for k in range(search.seeds)]
    together, rows = torch.cat(starts), []

    def climb(attention: str, X: torch.Tensor, norm: float | None = None) -> torch.Tensor:
        X, J, steps = distances.climb(attention, X, search.steps, norm)
        common = {"attention": attention, "D": D, "N": n, "norm": norm, "search": "ascent"}
        common["evaluations"] = search.starts * steps
        tops = J.reshape(search.seeds, -1).amax(1).tolist()
        rows.extend(common | {"seed": seed, "J": top} for seed, top in enumerate(tops))
        return X

    climb("l2", together)
    climb("l1", together)
    half, previous = search.starts // 2, None
    for norm in search.all_norms():
        # At a large norm random tokens saturate the softmax: half go on from the last norm.
        if previous is not None:
            own = previous.reshape(search.seeds, search.starts, D, n)[:, :half]
            fresh = together.reshape(search.seeds, search.starts, D, n)[:, half:]
            previous = torch.cat([own, fresh], dim=1).reshape(-1, D, n)
        previous = climb("softmax", together if previous is None else previous, norm)
    return rows


def _families(search: Lipschitz) -> list[dict]:
    """The explicit families: softmax by norm (3 tokens), l2 by number of tokens."""
    from attention_theory.meanfield import distances

    rows = []
    for D in search.of("dimensions"):
        for norm in search.all_norms():
            J, tried = distances.softmax_family(D, norm)
            place = {"attention": "softmax", "D": D, "N": 3, "norm": norm}
            rows.append(place | {"evaluations": tried, "J": J})
    for n in search.of("many"):
        scaled, tried = distances.l2_family(n)
        for D in search.of("dimensions"):
            place = {"attention": "l2", "D": D, "N": n, "norm": None}
            rows.append(place | {"evaluations": tried, "J": scaled / D**0.5})
    return [row | {"seed": 0, "search": "family"} for row in rows]


if __name__ == "__main__":
    step.run(main)
