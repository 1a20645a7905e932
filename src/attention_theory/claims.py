"""The claims ledger: what a source states, what this run measured, and whether it holds.

A study lists its claims in its claims.py. The rule and the margins of a claim stand in code
before the run; the verdict, the interval and the sentence come from the run's tables alone.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from attention_theory import files, inputs, step, tables
from attention_theory.errors import require
from attention_theory.statistics import Interval

SUPPORTED, CONTRADICTED = "supported", "contradicted"
INCONCLUSIVE, NOT_RUN = "inconclusive", "not run"
VERDICTS = (SUPPORTED, CONTRADICTED, INCONCLUSIVE, NOT_RUN)
COLUMNS = "study id statement source measured effect ci_low ci_high n verdict".split()


@dataclass(frozen=True)
class Judgement:
    """A verdict, the interval that it rests on, and one sentence made from the numbers."""

    verdict: str
    interval: Interval
    measured: str

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict {self.verdict!r}, not one of {VERDICTS}")


@dataclass(frozen=True)
class Claim:
    """A claim: `judge` takes the tables that its parameters name and returns a Judgement."""

    id: str
    statement: str
    source: str
    judge: Callable[..., Judgement]


def verdict(interval: Interval, supported_above: float, contradicted_below: float) -> str:
    """The common rule: supported if the whole interval lies above one bound, contradicted if the
    whole interval lies below the other, inconclusive otherwise (and without an interval).

    Raises ValueError if the bounds overlap: a narrow interval could then be both.
    """
    if supported_above < contradicted_below:
        raise ValueError("supported_above must not be below contradicted_below")
    if interval.low > supported_above:
        return SUPPORTED
    if interval.high < contradicted_below:
        return CONTRADICTED
    return INCONCLUSIVE


def worst(judgements: Sequence[Judgement]) -> Judgement:
    """Of several settings' judgements the one that decides: a contradiction, else doubt."""
    order = (CONTRADICTED, INCONCLUSIVE, SUPPORTED, NOT_RUN)
    return min(judgements, key=lambda judgement: order.index(judgement.verdict))


def not_run(reason: str) -> Judgement:
    """The judgement of a claim for which this run has no data."""
    return Judgement(NOT_RUN, Interval(math.nan, math.nan, math.nan, 0), f"not run: {reason}")


def judge(
    study: str,
    claims: Sequence[Claim],
    named: Mapping[str, Path],
    columns: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    """One row a claim, in order, with the columns of the ledger."""
    read = inputs.read([claim.judge for claim in claims], named, columns)
    rows = []
    for claim in claims:
        judgement = inputs.call(claim.judge, read)
        effect, low, high, n = judgement.interval
        values = (study, claim.id, claim.statement, claim.source, judgement.measured)
        rows.append(values + (effect, low, high, n, judgement.verdict))
    return pd.DataFrame(rows, columns=COLUMNS)


def run(study: str, claims: Sequence[Claim], columns: Mapping[str, Sequence[str]]) -> None:
    """Run a study's claims step: `python -m attention_theory.<study>.claims ID... --input ...`."""
    known = {claim.id: claim for claim in claims}

    def main(
        output: Annotated[Path, typer.Option(help="the study's part of the ledger (CSV)")],
        ids: Annotated[
            list[str] | None, typer.Argument(help="which claims (all, if none is named)")
        ] = None,
        input: inputs.Inputs = None,
        provenance: step.Provenance = None,
    ) -> None:
        for name in ids or []:
            require(name in known, "claim", name, "be one of: " + ", ".join(known))
        chosen = [known[name] for name in ids or known]
        named = inputs.paths(input)
        with step.record(provenance, f"{study}.claims", inputs=list(named.values())):
            tables.write(output, judge(study, chosen, named, columns), COLUMNS)

    main.__doc__ = f"Judge the claims of the study `{study}` from its tables."
    step.run(main)


def to_markdown(ledger: pd.DataFrame) -> str:
    """The ledger as a Markdown table: claim, what the source says, what was measured, verdict."""
    lines = [
        "# Claims ledger",
        "",
        "| claim | what the source says | what this run measured | verdict |",
        "|---|---|---|---|",
    ]
    for row in ledger.itertuples():
        says = f"{row.statement} ({row.source})"
        cells = (f"{row.study} {row.id}", says, row.measured, f"**{row.verdict}**")
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def main(
    parts: Annotated[list[Path], typer.Argument(help="the studies' parts of the ledger")],
    csv: Annotated[Path, typer.Option(help="the ledger as a table")],
    markdown: Annotated[Path, typer.Option(help="the ledger to read")],
    provenance: step.Provenance = None,
) -> None:
    """Put the studies' parts of the ledger together."""
    with step.record(provenance, "claims", study="all", step="claims", inputs=parts):
        ledger = pd.concat([tables.read(part, COLUMNS) for part in parts], ignore_index=True)
        tables.write(csv, ledger, COLUMNS)
        files.write_text(markdown, to_markdown(ledger))


if __name__ == "__main__":
    step.run(main)
