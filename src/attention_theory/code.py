"""Which source files a step runs: the closure of a module's imports inside this package.

Snakemake reruns a rule when an input changes, and imported modules are inputs only if they are
declared. The closure is read from the syntax tree, so that a Snakefile never imports a step.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

PACKAGE = "attention_theory"
SOURCE = Path(__file__).resolve().parent.parent


def closure(module: str) -> list[Path]:
    """The files that running `attention_theory.<module>` executes, sorted, as absolute paths.

    Imports inside functions count too. Raises ValueError if there is no such module.
    """
    start = f"{PACKAGE}.{module}"
    if _file(start) is None:
        raise ValueError(f"no module {start}")
    found: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in found and _file(name) is not None:
            found.add(name)
            waiting += _imports(name)
    return sorted(_file(name) for name in found)


def source_hash(module: str) -> str:
    """One SHA-256 over the names and contents of a step's closure."""
    digest = hashlib.sha256()
    for path in closure(module):
        digest.update(str(path.relative_to(SOURCE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def _file(module: str) -> Path | None:
    """The file of a module of this package, or None for anything else."""
    path = SOURCE.joinpath(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@cache
def _imports(module: str) -> list[str]:
    """Modules (and names that may be modules) of this package that `module` imports."""
    parents = module.split(".")
    names = [".".join(parents[:depth]) for depth in range(1, len(parents))]
    for node in ast.walk(ast.parse(_file(module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [name for name in names if name.split(".")[0] == PACKAGE]
