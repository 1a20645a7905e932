"""What the rule files share: command lines, code inputs and the environment of the jobs.

Plain Python, so that it is tested like the rest; it knows Snakemake's conventions but not
Snakemake itself.
"""

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from attention_theory import code as source
from attention_theory import devices, own, provenance
from attention_theory.config import config_hash, read
from attention_theory.errors import BadInput


def checked(function: Callable, *arguments: object) -> Any:
    """Call `function`; end the workflow with one line, before any job, if it refuses."""
    try:
        return function(*arguments)
    except BadInput as error:
        sys.exit(str(error))


def completed(config: Mapping, defaults: Path) -> dict:
    """The configuration, with what it leaves out from the file `defaults`."""
    return _laid_over(config, checked(read, defaults))


def _laid_over(changes: Mapping, base: Mapping) -> dict:
    """As Snakemake lays one configuration over another: mappings are merged, all else replaced."""
    merged = dict(base)
    for key, value in changes.items():
        below = merged.get(key)
        both = isinstance(value, Mapping) and isinstance(below, Mapping)
        merged[key] = _laid_over(value, below) if both else value
    return merged


def code(module: str, options: Mapping[str, object] | None = None) -> list[str]:
    """The files behind a step, for a rule's `code=` input.

    With them those of the classes of a user's own that the step's options name. Relative to the
    working folder where that is the checkout; else absolute, which no module's `prefix` changes.
    """
    names = [value for value in (options or {}).values() if isinstance(value, str)]
    named = os.path.relpath if source.SOURCE.parent == Path.cwd() else os.path.abspath
    return [named(path) for path in (*source.closure(module), *own.files(*names))]


def piped(module: str) -> list[str]:
    """The files behind a step that is run through `piped`, which gives it files by the thousand."""
    return sorted({*code("piped"), *code(module)})


def options(values: Mapping[str, object]) -> str:
    """`{"eta_v": 0.1}` as command-line options: `--eta-v 0.1`; a list repeats its option."""
    words = []
    for name, value in values.items():
        for one in value if isinstance(value, list) else [value]:
            words += [f"--{name.replace('_', '-')}", str(one)]
    return shlex.join(words)


def each_seed(name: str, path: str, seeds: int) -> dict[str, str]:
    """Named outputs `<name>_<seed>`, one a seed: a cached rule must name every file by itself."""
    return {f"{name}_{seed}": path.replace("{seed}", str(seed)) for seed in range(seeds)}


def numbered(counts: Mapping[str, int]) -> str:
    """A pattern of the names `<name>-<number>`, the numbers below each name's count.

    For a rule's `wildcard_constraints`: of thousands of settings the list itself would stand in the
    pattern of every output, and reading it would take most of the time.
    """
    return "|".join(f"{name}-(?:{below(count)})" for name, count in counts.items() if count)


def below(number: int) -> str:
    """A pattern of the whole numbers from 0 to `number` - 1, which must be 0 at least."""
    last = str(number - 1)
    shorter = ["0", *("[1-9]" + "[0-9]" * more for more in range(len(last) - 1))]
    smaller = [
        f"{last[:place]}[{first}-{int(digit) - 1}]" + "[0-9]" * (len(last) - place - 1)
        for place, digit in enumerate(last)
        if int(digit) > (first := int(place == 0))
    ]
    return "|".join([*shorter, *smaller, last])


def named(_wildcards: object, input: Mapping[str, object]) -> str:
    """A rule's named inputs (all but `code`) as `--input NAME=PATH`; a `params` function."""
    pairs = [f"{name}={path}" for name, path in input.items() if name != "code"]
    return shlex.join(word for pair in pairs for word in ("--input", pair))


def together(figures: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The inputs, by name, of the job that draws all figures of a study.

    Raises ValueError if two figures mean different files by one name.
    """
    found: dict[str, str] = {}
    for figure, inputs in figures.items():
        for name, path in inputs.items():
            if found.setdefault(name, path) != path:
                raise ValueError(f"figure {figure}: the input {name} is {found[name]} elsewhere")
    return found


def scaled(amount: int) -> Callable[[object, int], int]:
    """A resource (`mem_mb`, `runtime` in minutes) that grows with each attempt: what a cluster has
    ended for want of it gets more. A run on this machine has no limit of either."""
    return lambda wildcards, attempt: amount * attempt


def gpus(workflow: object) -> int | None:
    """How many GPUs the workflow may use on this machine; None where a cluster hands them out.

    While Snakemake reads a Snakefile it does not tell what executes the jobs: it is a cluster if
    their number is limited (`jobs` in its profile), not their cores, and GPUs are given (`gpu` of
    `resources` in its profile); or if this is a node of one.
    """
    given = workflow.global_resources.get("gpu").value or 0
    submits = workflow.global_resources["_nodes"].value is not None and given > 0
    return None if submits or workflow.remote_exec else given


def gpu(config: Mapping, gpus: int | None, wanted: int = 1) -> int:
    """The `gpu` resource of a rule that trains: as many as it wants, or as there are, of which the
    largest number that divides what it wants (a batch of equal parts stays one)."""
    if config["device"] == "cpu" or gpus == 0:
        found = 0
    else:
        found = wanted if gpus is None else min(wanted, gpus, devices.count())
    used = max((number for number in range(1, found + 1) if wanted % number == 0), default=0)
    if used < wanted and wanted > 1:
        _say_fewer(wanted, used)
    return used


@cache
def _say_fewer(wanted: int, used: int) -> None:
    """Once, however many rules want as many."""
    print(
        f"gpus: {wanted} wanted, {used} used; results are the same up to rounding",
        file=sys.stderr,
        flush=True,
    )


def prepare_environment(config: Mapping) -> None:
    """Let jobs find this checkout's package and this Python, and tell them the run they are of."""
    folder = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([folder, os.environ.get("PATH", os.defpath)])
    paths = [str(source.SOURCE), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    os.environ["PYTHONUTF8"] = "1"
    os.environ[provenance.RUN] = str(config["run"])
    os.environ[provenance.CONFIG_HASH] = config_hash(config)
