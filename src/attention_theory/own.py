"""Classes of a user's own, named `package.module:Class` in a configuration.

This is the one place where a configuration makes code run, and it says so. Their code runs in the
step that builds the model, and nowhere before: checks look at the form of a name alone, and a
rule's inputs are found without an import.
"""

import importlib
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from attention_theory.errors import BadInput, require

FORM = "package.module:Class"
NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)


def is_own(name: str) -> bool:
    """Whether a name has the form of a class of the user's own."""
    return NAME.fullmatch(name) is not None


def files(*names: str) -> list[Path]:
    """The files that hold the classes of the user's own among `names`, each once.

    They are looked for in the working folder and on sys.path, as `python -m` does. What lies
    elsewhere (in an archive, say) is left out, and so is what a file imports in its turn.
    """
    modules = [name.partition(":")[0] for name in names if is_own(name)]
    return list(dict.fromkeys(path for path in map(_file, modules) if path is not None))


def load(key: str, name: str) -> type:
    """Import a class of the user's own. Raises BadInput for `key` if there is no such class."""
    module, _, attribute = name.partition(":")
    _say(f"{key}: {name} is code of your own, and now runs")
    with naming(key, name, "cannot be imported"):
        found = getattr(importlib.import_module(module), attribute)
    require(isinstance(found, type), key, name, "name a class")
    return found


@contextmanager
def naming(key: str, name: str, what: str) -> Iterator[None]:
    """Say in one line what went wrong inside the user's code, and where."""
    try:
        yield
    except BadInput:
        raise
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error} [{Path(place.filename).name}:{place.lineno}]"
        raise BadInput(f"{key}: {name!r} {what} ({said})") from None


@cache
def _say(line: str) -> None:
    """Once, however many models are built of it, and by the first of several processes."""
    if os.environ.get("LOCAL_RANK", "0") == "0":
        print(line, file=sys.stderr, flush=True)


def _file(module: str) -> Path | None:
    stem = Path(*module.split("."))
    for folder in ("", *sys.path):
        for path in (Path(folder, stem.with_suffix(".py")), Path(folder, stem, "__init__.py")):
            if path.is_file():
                return path
    return None
