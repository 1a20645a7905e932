"""One bound's story: `python -m attention_theory.meanfield.story 2iii`.

Statement, where it is stated, how it was searched, the verdict, the counterexample, the correction;
from the bounds.csv of a run.
"""

import difflib
import json
import textwrap
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from attention_theory import step, tables
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, SUPPORTED
from attention_theory.errors import BadInput
from attention_theory.meanfield import bounds_claims, bounds_columns
from attention_theory.meanfield.bounds import BY_NAME, DENSITY, Bound

TABLE = Path("results", "laptop", "meanfield", "bounds.csv")
WIDTH = 96
_VERDICTS = {
    SUPPORTED: "this search found no violation, which is no proof",
    CONTRADICTED: "the counterexample below, computed again from its printed numbers",
    INCONCLUSIVE: "what was found is too close to rounding, or has no reason found",
}


def main(
    bound: Annotated[str, typer.Argument(help=f"one of: {', '.join(BY_NAME)}")],
    table: Annotated[Path, typer.Option(help="the bounds.csv of a run")] = TABLE,
) -> None:
    """Print what is stated, what was searched and what was found, for one bound."""
    print(tell(bound, table))


def tell(name: str, table: Path) -> str:
    """The story as text. Raises BadInput for an unknown bound, a missing table or row."""
    if name not in BY_NAME:
        close = difflib.get_close_matches(name, BY_NAME, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}? " if close else ""
        raise BadInput(f"bound: {name!r} is not known; {hint}known: {', '.join(BY_NAME)}")
    if not table.is_file():
        raise BadInput(f"table: {table} is not there; `make figures` makes it, or name a run's own")
    rows = tables.read(table, bounds_columns.BOUNDS)
    bound = BY_NAME[name]
    found = rows[rows.bound == name]
    if found.empty:
        raise BadInput(f"{table}: the table has no row of the bound {name}")
    judgement = bounds_claims.judge_bound(bound)(rows)
    row = found.iloc[0]
    parts = [
        ("bound", name),
        ("statement", bound.statement),
        ("stated in", bound.where if bound.stated else "not stated: our correction"),
        ("search", _search(bound, row)),
        ("verdict", f"{judgement.verdict.upper()}: {_VERDICTS[judgement.verdict]}"),
    ]
    if isinstance(row.counterexample, str):
        parts.append(("counterexample", _counterexample(bound, row)))
        parts.append(("as JSON", row.counterexample))
    if bound.remark:
        parts.append(("remark", bound.remark))
    parts.append(("correction", _correction(bound, rows)))
    if bound.stated:
        parts.append(
            ("note", "judged as the public discussion states it; the paper's own assumptions, "
             "known here only from there, may exclude the counterexample")
        )  # fmt: skip
    return "\n".join(_lines(label, text) for label, text in parts)


def _search(bound: Bound, row: pd.Series) -> str:
    if bound.form == DENSITY:
        return (
            f"{row.evaluations} least-squares fits by networks of growing width with random W1; "
            f"{bounds_claims.said_ratio(bound, row.sup_ratio)}"
        )
    return (
        f"random draws over scales, then gradient ascent on the ratio: {row.evaluations} "
        f"evaluations, sizes D x N {row.sizes}, {row.seeds} seeds; "
        f"{bounds_claims.said_ratio(bound, row.sup_ratio)}, at D = {row.sup_D:.0f}, "
        f"N = {row.sup_N:.0f}"
    )


def _counterexample(bound: Bound, row: pd.Series) -> str:
    """The matrices row by row (of a density: points and weights), and both sides."""
    found = json.loads(row.counterexample)
    compared = bounds_claims.compared(bound, found.pop("left"), found.pop("right"))
    if bound.form == DENSITY:
        points = ", ".join(
            f"{a:+g} h({T}) against g = {g:g}"
            for a, T, g in zip(found["a"], found["T"], found["g"], strict=True)
        )
        return f"the sum {points}, is 0 for every h in the span: {compared}"
    return ", ".join(f"{name} = {rows}" for name, rows in found.items()) + f": {compared}"


def _correction(bound: Bound, rows: pd.DataFrame) -> str:
    if not bound.correction:
        return "none needed" if bound.stated else "this is one"
    better = BY_NAME[bound.correction]
    judgement = bounds_claims.judge_bound(better)(rows)
    return f"{better.statement} ({better.name}): {judgement.measured}"


def _lines(label: str, text: str) -> str:
    first = f"{label + ':':<16}"
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * 16,
        break_long_words=False,
        break_on_hyphens=False,
    )


if __name__ == "__main__":
    step.run(main)
