"""A step's command line: typed options from dataclasses, one line for an error, a record.

A step is a function with typer's annotations and, at the end of its module,
`if __name__ == "__main__": step.run(main)`.
"""

import dataclasses
import functools
import inspect
import io
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from attention_theory.errors import BadInput
from attention_theory.provenance import record as record  # steps write `step.record(...)`

OUT_OF_MEMORY = re.compile(
    "out of memory|allocate memory|bad_alloc|failed to map segment|can't start new thread"
)

BaseSeed = Annotated[
    int, typer.Option(min=0, help="the seed that every random stream derives from")
]
Gpu = Annotated[int, typer.Option(min=0, max=1, help="0: compute on the CPU, 1: on a GPU")]
Provenance = Annotated[Path | None, typer.Option(help="where to write the job's record")]
Threads = Annotated[
    int, typer.Option(min=1, help="threads of the arithmetic; part of what the bytes depend on")
]


def option(help: str, default: Any = dataclasses.MISSING) -> Any:
    """A dataclass field that is also a command-line option with this help text."""
    return dataclasses.field(default=default, metadata={"help": help})


def expand(function: Callable) -> Callable:
    """Give each field of a parameter whose type is a dataclass an option of its own.

    `main(distribution: Distribution, ...)` becomes a command with --D, --C, --d and --q; their
    types, help texts and checks are the dataclass's, so that a setting is described once.
    """
    signature = inspect.signature(function, eval_str=True)
    parameters: list[inspect.Parameter] = []
    groups = {}
    for parameter in signature.parameters.values():
        if dataclasses.is_dataclass(parameter.annotation):
            groups[parameter.name] = parameter.annotation
            parameters += map(_as_parameter, dataclasses.fields(parameter.annotation))
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(function)
    def command(**options: Any) -> Any:
        for name, group in groups.items():
            own = {field.name: options.pop(field.name) for field in dataclasses.fields(group)}
            options[name] = group(**own)
        return function(**options)

    del command.__wrapped__  # typer would look through it at the original signature
    command.__signature__ = signature.replace(parameters=parameters)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _as_parameter(field: dataclasses.Field) -> inspect.Parameter:
    """The keyword parameter that stands for a dataclass field."""
    name = f"--{field.name.replace('_', '-')}"
    annotation = Annotated[field.type, typer.Option(name, help=field.metadata.get("help"))]
    default = inspect.Parameter.empty
    if field.default is not dataclasses.MISSING:
        default = field.default
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def run(*commands: Callable) -> None:
    """Run a step's command line (one command, or several as subcommands) and exit.

    Bad input, an unusable file or a run that diverges ends with one line and exit code 2.
    Termination ends like an interrupt, so that temporary files are removed on the way out.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # no name that a locale lacks ends the step
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    for command in commands:
        app.command()(expand(command))
    program = Path(sys.argv[0]).stem
    try:
        sys.exit(app(standalone_mode=False))
    except (BadInput, OSError, MemoryError) as error:
        reason = str(error) or type(error).__name__
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except Exception as error:
        if hasattr(error, "format_message"):  # one of the command line's own errors
            reason = error.format_message()
        elif OUT_OF_MEMORY.search(str(error)):  # torch has no error of its own for it
            reason = f"out of memory ({str(error).splitlines()[0]})"
        else:
            raise
    print(f"{program}: {' '.join(reason.split())}", file=sys.stderr)
    sys.exit(2)
