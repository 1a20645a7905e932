"""The step that draws a figure: from named tables to PDF, PNG and CSV."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from attention_theory import inputs, step, style
from attention_theory.errors import require


def run(study: str, figures: Mapping[str, Callable], columns: Mapping[str, Sequence[str]]) -> None:
    """Run a study's figure step: `python -m attention_theory.<study>.figures NAME --input ...`.

    A figure is a function from named tables to (matplotlib figure, table of what it shows);
    `columns` are those that each table must have.
    """

    def draw(
        name: Annotated[str, typer.Argument(help="one of: " + ", ".join(figures))],
        output: Annotated[Path, typer.Option(help="path of the figure, without suffix")],
        input: inputs.Inputs = None,
        provenance: step.Provenance = None,
    ) -> None:
        require(name in figures, "figure", name, "be one of: " + ", ".join(figures))
        named = inputs.paths(input)
        with step.record(provenance, f"{study}.figures", setting=name, inputs=list(named.values())):
            style.use()
            figure, table = inputs.call(figures[name], named, columns)
            style.save(figure, table, output)

    draw.__doc__ = f"Draw one figure of the study `{study}` as PDF, PNG and CSV."
    step.run(draw)
