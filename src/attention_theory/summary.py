"""One screen after a run: what was made, how long it took, and the ledger."""

import shutil
import textwrap
import time
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
import yaml

from attention_theory import claims, costs, step, tables


def main(
    configs: Annotated[list[Path], typer.Argument(help="configuration files, later over earlier")],
    started: Annotated[float | None, typer.Option(help="when the run began (Unix time)")] = None,
) -> None:
    """Print a finished run's figures, its costs and its claims ledger."""
    names = [(yaml.safe_load(path.read_text("utf-8")) or {}).get("run") for path in configs]
    folder = Path("results", next(name for name in reversed(names) if name))
    ledger = tables.read(folder / "claims.csv", claims.COLUMNS)
    jobs = tables.read(folder / "costs.csv", costs.COLUMNS)
    print(describe(folder, ledger, jobs, None if started is None else time.time() - started))


def describe(folder: Path, ledger: pd.DataFrame, jobs: pd.DataFrame, seconds: float | None) -> str:
    """The screen as text; `seconds` is the wall time of the command, if known."""
    width = min(shutil.get_terminal_size().columns, 100)
    lines = ["", f"Claims of {folder} ({folder}/claims.md)", ""]
    for row in ledger.itertuples():
        lines.append(f"{row.study + ' ' + str(row.id):<16} {row.verdict.upper()}")
        for text in (row.statement, row.measured):
            lines += textwrap.wrap(text, width, initial_indent=" " * 17, subsequent_indent=" " * 17)
    lines += ["", "Figures (PDF, PNG and the CSV of what each shows)", ""]
    lines += [f"  {path}" for path in sorted(folder.glob("*/figures/*.pdf"))]
    counts = ledger.verdict.value_counts()
    verdicts = ", ".join(f"{counts[v]} {v}" for v in claims.VERDICTS if v in counts)
    made = f"{len(jobs)} jobs, {jobs.cpu_seconds.sum():.0f} CPU seconds ({folder}/costs.csv)"
    took = "" if seconds is None else f"; this command took {seconds:.0f} s"
    return "\n".join([*lines, "", f"{len(ledger)} claims: {verdicts}", f"{made}{took}"])


if __name__ == "__main__":
    step.run(main)
