"""The planted step (experiment 8c): Appendix F's D_1 (no planted set) against D_2, exact in law.

Three curves in one table. `ratio`: total variation against q m / C^2. `degree`: against C at
q m = C^degree. `samples`: against the number of samples, by what is known of the set.
"""

from pathlib import Path
from typing import Annotated

import typer

from attention_theory import step, tables
from attention_theory.spatial import beyond_columns, total_variation
from attention_theory.spatial.planted_settings import Samples, Scaling

KNOWLEDGE = {
    "own": total_variation.own,
    "common": total_variation.common,
    "known": total_variation.known,
}


def main(
    scaling: Scaling,
    samples: Samples,
    table: Annotated[Path, typer.Option(help="CSV, a row a distance")],
    provenance: step.Provenance = None,
) -> None:
    """Compute total variation distances between no planted set and a planted set."""
    with step.record(provenance, "spatial.planted"):
        rows = [
            _row(curve, C, scaling.q, m, "own", 1, value if curve == "degree" else None)
            for curve in ("ratio", "degree")
            for value, C, m in scaling.points(curve)
        ]
        rows += [
            _row("samples", samples.samples_C, samples.samples_q, m, knowledge, n)
            for m in samples.m
            for knowledge in KNOWLEDGE
            for n in samples.n
        ]
        tables.write(table, rows, beyond_columns.PLANTED)


def _row(
    curve: str, C: int, q: float, m: int, knowledge: str, n: int, degree: float | None = None
) -> dict:
    """One distance, and what it is of."""
    place = {"curve": curve, "C": C, "q": q, "m": m, "degree": degree}
    distance = KNOWLEDGE[knowledge](m, C, q / 2, n)
    return place | {"knowledge": knowledge, "n": n} | distance._asdict()


if __name__ == "__main__":
    step.run(main)
