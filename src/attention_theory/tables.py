"""Tidy CSV tables: one row an observation, columns checked, bytes that depend on values alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from attention_theory import checksums, files, step
from attention_theory.errors import BadInput, require


def write(path: Path, rows: pd.DataFrame | Sequence[dict], columns: Sequence[str]) -> None:
    """Write `rows` to `path` (CSV) with exactly `columns`, in that order.

    Floats are written with the fewest digits that read back to the same number. Raises
    ValueError if a row lacks a column or has another one: a table's columns are its contract.
    """
    frame = pd.DataFrame(rows, columns=None if len(rows) else list(columns))
    if set(frame.columns) != set(columns):
        raise ValueError(f"{path}: columns {sorted(frame.columns)}, declared {sorted(columns)}")
    with files.replacing(path) as temporary:
        frame[list(columns)].to_csv(temporary, index=False, lineterminator="\n")


def read(path: Path, columns: Sequence[str] = ()) -> pd.DataFrame:
    """Read a table; raise BadInput if it cannot be read, is not as its step wrote it, or lacks one
    of `columns`."""
    try:
        checksums.check(path)
        # "none" and "NA" are names here, not missing values: only an empty cell is missing.
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    except (OSError, ValueError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: no readable table ({str(error).splitlines()[0]})") from None
    missing = [column for column in columns if column not in frame]
    if missing:
        raise BadInput(f"{path}: the table lacks the column {missing[0]}")
    return frame


def gather(
    inputs: Annotated[list[Path], typer.Argument(help="tables with the same columns")],
    output: Annotated[Path, typer.Option(help="the table to write")],
    provenance: step.Provenance = None,
) -> None:
    """Stack tables with the same columns, in the order given."""
    study = output.parent.name
    with step.record(provenance, "tables", output.stem, study=study, step="gather", inputs=inputs):
        frames = [read(path) for path in inputs]
        for path, frame in zip(inputs, frames, strict=True):
            same = list(frame.columns) == list(frames[0].columns)
            require(same, "inputs", str(path), f"have the columns of {inputs[0]}")
        write(output, pd.concat(frames, ignore_index=True), list(frames[0].columns))


if __name__ == "__main__":
    step.run(gather)
