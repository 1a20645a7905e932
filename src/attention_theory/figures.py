"""The step that draws a study's figures: from named tables to PDF, PNG and CSV.

One job draws them all: to start Python and import seaborn costs more than to draw most of them.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from attention_theory import inputs, step, style
from attention_theory.errors import require


def run(study: str, figures: Mapping[str, Callable], columns: Mapping[str, Sequence[str]]) -> None:
    """Run a study's figures step: `python -m attention_theory.<study>.figures NAME... --input ...`.

    A figure is a function from named tables to (matplotlib figure, table of what it shows);
    `columns` are those that each table must have.
    """
    known = ", ".join(figures)

    def draw(
        output: Annotated[Path, typer.Option(help="the folder to draw in")],
        names: Annotated[
            list[str] | None, typer.Argument(help=f"which figures (all, if none is named): {known}")
        ] = None,
        input: inputs.Inputs = None,
        provenance: step.Provenance = None,
    ) -> None:
        names = names or list(figures)
        for name in names:
            require(name in figures, "figure", name, f"be one of: {known}")
        named = inputs.paths(input)
        with step.record(provenance, f"{study}.figures", inputs=list(named.values())) as record:
            read = inputs.read([figures[name] for name in names], named, columns)
            style.use()
            seconds = record["cpu_seconds_of_figures"] = {}
            for name in names:
                started = time.process_time()
                figure, table = inputs.call(figures[name], read)
                style.save(figure, table, output / name)
                seconds[name] = time.process_time() - started

    draw.__doc__ = f"Draw figures of the study `{study}`, each as PDF, PNG and CSV."
    step.run(draw)
