"""costs.csv: what each job of a run took, from the jobs' provenance records."""

from pathlib import Path
from typing import Annotated

import typer

from attention_theory import checksums, step, tables

COLUMNS = (
    "study step setting seconds cpu_seconds startup_cpu_seconds peak_memory_mb images_per_second"
).split()


def main(
    records: Annotated[list[Path], typer.Argument(help="provenance records (JSON)")],
    output: Annotated[Path, typer.Option(help="the table to write")],
    provenance: step.Provenance = None,
) -> None:
    """Collect the costs of all jobs in one table, a row a job."""
    study = output.parent.name
    with step.record(provenance, "costs", study=study, step="costs"):
        tables.write(output, [_row(path) for path in records], COLUMNS)


def _row(path: Path) -> dict[str, object]:
    record = checksums.read(path)
    return {column: record.get(column) for column in COLUMNS}


if __name__ == "__main__":
    step.run(main)
