"""What jobs are and what they do: for the plan of a run's cost (plan.py) and the studies' work.py.

A job is the command line of a step, read from a dry run or from the record of a finished one. What
it does grows with its options: a study's work.py counts it.
"""

import importlib
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from attention_theory import code
from attention_theory.checksums import RECORDS
from attention_theory.errors import BadInput

CALLS = 5e7  # what the calls of a training step cost beside its arithmetic, in operations
DRAWING = 100  # the same for one random number
ALL = "all"  # the study of what belongs to none
COMMAND = "Shell command: "  # as Snakemake prints them
INFORMATION = ("Using workflow specific profile", "Config file ")
OUTSIDE = {"tables": "gather", "ledger_page": "claims_page"}  # as their records call them


class Options:
    """The options of a command line, by their names without dashes; each may be repeated."""

    def __init__(self, words: Sequence[str]) -> None:
        self.values: dict[str, list[str]] = {}
        name = ""
        for word in words:
            if word.startswith("--"):
                name, _, value = word[2:].partition("=")
                self.values.setdefault(name, []).extend([value] if value else [])
            elif name:
                self.values[name].append(word)

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def text(self, name: str) -> str:
        """The one value of an option."""
        return self.values[name][0]

    def number(self, name: str) -> float:
        """The one number of an option."""
        return float(self.text(name))

    def words(self, name: str) -> list[str]:
        """The values of an option that is repeated, or of a list `a,b,c`."""
        return [word for value in self.values.get(name, []) for word in value.split(",") if word]

    def numbers(self, name: str) -> list[float]:
        """The numbers of an option that is repeated, or of a list `1,2,4`."""
        return [float(word) for word in self.words(name)]


@dataclass(frozen=True)
class Job:
    """One job: the study and the step that its record names, and the options of its command."""

    study: str
    step: str
    options: Options

    @property
    def kind(self) -> tuple[str, str]:
        return self.study, self.step


class Work(NamedTuple):
    """What a job does: floating-point operations, bytes of memory for its arrays, bytes that it
    leaves on the disk, and bytes there while it runs.

    Operations may be off by a factor that is the same for every job of a step: throughput is
    measured in the same units. `None` on the disk: as much as such a job left in the finished run.
    """

    operations: float
    memory: float = 0.0
    disk: float | None = None
    scratch: float = 0.0


class Finished(NamedTuple):
    """A job that was run: CPU seconds in all and before its work began, its wall-clock seconds,
    whether on a GPU, bytes of memory at most and bytes left on the disk."""

    job: Job
    cpu_seconds: float
    startup_cpu_seconds: float
    seconds: float
    gpu: bool
    memory: float
    disk: float


def planned(configuration: Path | None) -> list[Job]:
    """The jobs of a run, from a dry run of the workflow in the working folder; nothing is run.

    `configuration` is laid over config/config.yaml. Raises BadInput with Snakemake's own line if
    the configuration is none.
    """
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--forceall", "--printshellcmds"]
    command += ["--cores", "1", "--config", "device=cpu"]  # a GPU is not needed for a plan
    command += ["--configfile", str(configuration)] if configuration else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if not line.startswith(INFORMATION)]
        raise BadInput((said or ["snakemake failed"])[-1])
    lines = (done.stdout + done.stderr).splitlines()
    commands = (line.removeprefix(COMMAND) for line in lines if line.startswith(COMMAND))
    return [_parse(command) for command in commands if command != "None"]  # a target has none


def finished(folder: Path) -> list[Finished]:
    """The jobs of a finished run, from their records. Raises BadInput if there are none."""
    paths = sorted(folder.rglob(f"{RECORDS}/*.json"))
    found = [_finished(path, path.parent.parent == folder) for path in paths]
    if not found:
        raise BadInput(f"{folder}: no finished run (it has no <study>/provenance/*.json)")
    return found


def works(jobs: Sequence[Job]) -> Iterator[Work | None]:
    """What each of a run's jobs does; None for those that no study counts."""
    for job in jobs:
        module = _work(job.study)
        count = module.STEPS.get(job.step) if module else None
        yield count(job.options, jobs) if count else None


def _work(study: str) -> ModuleType | None:
    """The module in which a study counts its work, if it has one."""
    there = study.isidentifier() and Path(code.SOURCE, code.PACKAGE, study, "work.py").is_file()
    return importlib.import_module(f"{code.PACKAGE}.{study}.work") if there else None


def _parse(command: str) -> Job:
    """The job of a rule's command line."""
    words = shlex.split(command.partition(" 2>&1 ")[0])
    words = words[words.index("-m") + 1 :]
    if words[0] == f"{code.PACKAGE}.piped":
        words = [f"{code.PACKAGE}.{words[1]}", *words[2:]]
    _, *place, step = words[0].split(".")
    options = Options(words[1:])
    study = Path(options.text("provenance")).parts[2]  # results/<run>/<study>/provenance/...
    study = ALL if study == RECORDS else study
    module = _work(study)
    recorded = module.RECORDED if module and place else OUTSIDE
    return Job(study, recorded.get(step, step), options)


def _finished(path: Path, of_none: bool) -> Finished:
    """The job of a record; `of_none`: it belongs to no study."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        study = ALL if of_none else record["study"]
        job = Job(study, record["step"], Options(record["command"]))
        left = [path.parent / name for name in record.get("outputs", {})]
        return Finished(
            job,
            record["cpu_seconds"],
            record["startup_cpu_seconds"],
            record["seconds"],
            record["device"] != "cpu",
            record["peak_memory_mb"] * 2**20,
            sum(file.stat().st_size for file in [path, *left] if file.is_file()),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path}: no record of a finished job ({error!r})") from None
