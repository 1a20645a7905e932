"""costs.csv: what each job of a run took, from the jobs' provenance records."""

import json
from pathlib import Path
from typing import Annotated

import typer

from attention_theory import step, tables
from attention_theory.errors import BadInput

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
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return {column: record.get(column) for column in COLUMNS}
    except (ValueError, AttributeError) as error:
        raise BadInput(f"{path}: no provenance record ({error})") from None


if __name__ == "__main__":
    step.run(main)
