"""One screen after a run: what was made, how long it took, and the ledger."""

import shutil
import textwrap
from pathlib import Path

from attention_theory import claims, costs, tables


def describe(folder: Path, seconds: float) -> str:
    """The screen as text, from the folder of a finished run; `seconds` is the command's time."""
    ledger = tables.read(folder / "claims.csv", claims.COLUMNS)
    jobs = tables.read(folder / "costs.csv", costs.COLUMNS)
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
    took = f"this command took {seconds:.0f} s"
    return "\n".join([*lines, "", f"{len(ledger)} claims: {verdicts}", f"{made}; {took}"])
