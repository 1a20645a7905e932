"""Hold a run's ledger against the committed reference: `make compare`.

Two runs with other seeds agree if their verdicts are equal and their effects are no further apart
than their intervals' half-widths together. (To ask that each effect lie in the other's 95 %
interval would fail one pair of honest runs in four.) An effect without an interval must be equal;
the largest value that a search found has an interval without an upper end: any is allowed.
"""

import math
import sys
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from attention_theory import claims, step, tables

ROUNDING = 1e-9  # relative: what another version of a library may change in an exact effect
REFERENCE = Path("docs", "reference", "claims.csv")


def differences(run: pd.DataFrame, reference: pd.DataFrame) -> list[str]:
    """One line for each claim that differs; none if the ledgers agree."""
    ours, theirs = (ledger.set_index(["study", "id"]) for ledger in (run, reference))
    lines = [f"{' '.join(key)}: not in this run" for key in theirs.index.difference(ours.index)]
    for key, row in ours.iterrows():
        name = " ".join(key)
        if key not in theirs.index:
            lines.append(f"{name}: not in the reference")
        elif reason := _difference(row, theirs.loc[key]):
            lines.append(f"{name}: {reason}")
    return lines


def _difference(run: pd.Series, reference: pd.Series) -> str:
    """How a claim differs from its reference, or nothing."""
    if run.verdict != reference.verdict:
        return f"{run.verdict}, the reference says {reference.verdict}"
    for place, row in (("this run", run), ("the reference", reference)):
        if row.effect < row.ci_low - ROUNDING or row.effect > row.ci_high + ROUNDING:
            return f"the effect {row.effect:.4g} of {place} lies outside its own interval"
    if math.isnan(run.effect) and math.isnan(reference.effect):
        return ""
    apart = abs(run.effect - reference.effect)
    allowed = _half_width(run) + _half_width(reference) + ROUNDING * abs(reference.effect)
    if apart <= allowed:
        return ""
    return (
        f"the effect is {run.effect:.4g}, the reference's {reference.effect:.4g}: "
        f"{apart:.2g} apart, at most {allowed:.2g} is allowed"
    )


def _half_width(row: pd.Series) -> float:
    """Half the interval's width; 0 without one."""
    width = row.ci_high - row.ci_low
    return 0.0 if math.isnan(width) else width / 2


def main(
    run: Annotated[Path, typer.Argument(help="the run's claims.csv")],
    reference: Annotated[Path, typer.Argument(help="the reference's claims.csv")] = REFERENCE,
) -> None:
    """Say which claims of a run differ from the reference, and how; exit 1 if any does."""
    found = [tables.read(path, claims.COLUMNS) for path in (run, reference)]
    lines = differences(*found)
    print("\n".join(lines) if lines else f"all {len(found[0])} claims agree with {reference}")
    if lines:
        sys.exit(1)


if __name__ == "__main__":
    step.run(main)
