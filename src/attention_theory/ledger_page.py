"""claims.html: the ledger as one page for a browser, which asks for nothing but itself."""

import math
from html import escape
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from attention_theory import claims, files, step, tables

# Filters are radio buttons and CSS: the page runs no script.
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #1e293b; margin: 1.5rem auto;
       max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 1.6rem 0 .4rem; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; border-bottom: 2px solid #94a3b8; }
th, td { padding: .45rem .6rem; vertical-align: top; }
td { border-bottom: 1px solid #e2e8f0; }
td.id { font-weight: 600; white-space: nowrap; }
td.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
small { color: #64748b; display: block; }
.verdict, label { border-radius: .6rem; padding: .1rem .55rem; white-space: nowrap; }
.supported { background: #dbeafe; } .contradicted { background: #fed7aa; }
.inconclusive { background: #e2e8f0; } .not-run { background: #f8fafc; color: #64748b; }
input { position: absolute; opacity: 0; }
label { border: 2px solid transparent; cursor: pointer; margin-right: .3rem; }
input:checked + label { border-color: #1e293b; }
input:focus-visible + label { outline: 2px solid #2563eb; }
@media print { input, label { display: none; } }
"""


def page(ledger: pd.DataFrame, run: str) -> str:
    """The ledger of a run as HTML: a table a study, and a choice of verdicts to show."""
    counts = {verdict: int((ledger.verdict == verdict).sum()) for verdict in claims.VERDICTS}
    style = STYLE + "".join(map(_filter, claims.VERDICTS))
    lines = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>Claims ledger</title>',
        f"<style>{style}</style></head><body>",
        "<h1>Claims ledger</h1>",
        f"<p>{len(ledger)} claims, judged on the tables of the run <b>{escape(run)}</b> by rules "
        "and margins that stood in code before it. “Contradicted” and “inconclusive” are results "
        "too.</p><p>",
        '<input type="radio" name="show" id="all" checked>'
        f'<label for="all">all {len(ledger)}</label>',
        *(_choice(verdict, number) for verdict, number in counts.items()),
        "</p>",
    ]
    for study, part in ledger.groupby("study", sort=False):
        lines += [
            f"<section><h2>{escape(study)}</h2><table>",
            "<tr><th>claim</th><th>what the source says</th><th>what this run measured</th>"
            "<th>effect</th><th>verdict</th></tr>",
            *map(_row, part.itertuples()),
            "</table></section>",
        ]
    return "\n".join([*lines, "</body></html>", ""])


def _name(verdict: str) -> str:
    return verdict.replace(" ", "-")


def _filter(verdict: str) -> str:
    """The rule that hides the other verdicts, and studies that have none of it."""
    name = _name(verdict)
    return (
        f"body:has(#{name}:checked) tr[class]:not(.row-{name}), "
        f"body:has(#{name}:checked) section:not(:has(.row-{name})) {{ display: none; }}\n"
    )


def _choice(verdict: str, number: int) -> str:
    name = _name(verdict)
    return (
        f'<input type="radio" name="show" id="{name}">'
        f'<label for="{name}" class="{name}">{number} {verdict}</label>'
    )


def _row(row: tuple) -> str:
    name = _name(row.verdict)
    cells = [
        f'<td class="id">{escape(str(row.id))}</td>',
        f"<td>{escape(row.statement)}<small>{escape(row.source)}</small></td>",
        f"<td>{escape(row.measured)}</td>",
        f'<td class="number">{_effect(row)}</td>',
        f'<td><span class="verdict {name}">{row.verdict}</span></td>',
    ]
    return f'<tr class="row-{name}">{"".join(cells)}</tr>'


def _effect(row: tuple) -> str:
    """The effect, and below it its interval and the number of observations."""
    if math.isnan(row.effect):
        return "–"
    interval = "" if math.isnan(row.ci_low) else f"[{row.ci_low:.3g}, {row.ci_high:.3g}], "
    return f"{row.effect:.3g}<small>{interval}n = {row.n:g}</small>".replace("inf]", "∞)")


def main(
    ledger: Annotated[Path, typer.Argument(help="the ledger as a table (claims.csv)")],
    output: Annotated[Path, typer.Option(help="the page to write (HTML)")],
    provenance: step.Provenance = None,
) -> None:
    """Write the ledger of a run as a page for a browser."""
    with step.record(provenance, "ledger_page", study="all", step="claims_page", inputs=[ledger]):
        read = tables.read(ledger, claims.COLUMNS)
        files.write_text(output, page(read, ledger.absolute().parent.name))


if __name__ == "__main__":
    step.run(main)
