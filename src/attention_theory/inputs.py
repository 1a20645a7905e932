"""Named inputs of figures and claims: `--input pretraining=<folder>/pretraining.csv`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import typer

from attention_theory import files, tables
from attention_theory.errors import BadInput

Inputs = Annotated[
    list[str] | None, typer.Option("--input", help="NAME=PATH of a table or .npz file; repeatable")
]


def paths(pairs: list[str] | None) -> dict[str, Path]:
    """Split NAME=PATH pairs. Raises BadInput for anything else."""
    named = {}
    for pair in pairs or []:
        name, equals, path = pair.partition("=")
        if not (name and equals and path):
            raise BadInput(f"--input: {pair!r} is not allowed; it must read NAME=PATH")
        named[name] = Path(path)
    return named


def read(
    functions: Iterable[Callable], named: Mapping[str, Path], columns: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """The inputs that the functions' parameters name, each read from its file once.

    Tables arrive as data frames, .npz files as dicts of arrays. Raises BadInput if one is missing,
    cannot be read, or lacks one of its `columns` (of an .npz file: arrays).
    """
    wanted = dict.fromkeys(name for each in functions for name in signature(each).parameters)
    for name in wanted:
        if name not in named:
            raise BadInput(f"--input: {name}=PATH is missing")
    return {name: _read(named[name], columns.get(name, ())) for name in wanted}


def call(function: Callable, inputs: Mapping[str, Any]) -> Any:
    """Call `function` with the inputs that its parameters name; it must not alter them."""
    return function(**{name: inputs[name] for name in signature(function).parameters})


def _read(path: Path, columns: Sequence[str]) -> Any:
    if path.suffix != ".npz":
        return tables.read(path, columns)
    arrays = files.read_arrays(path)
    missing = [name for name in columns if name not in arrays]
    if missing:
        raise BadInput(f"{path}: the file lacks the array {missing[0]}")
    return arrays
