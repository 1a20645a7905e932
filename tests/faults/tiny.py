"""A workflow of one small job, or two, behind the project's own launcher: seconds, not minutes."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from checkout import OUTSIDE, ROOT

RESULTS = Path("results", "tiny")
PART, TABLE = RESULTS / "study" / "part.csv", RESULTS / "study" / "table.csv"
LAUNCH = (sys.executable, "-m", "attention_theory.launch")

# Rules in the form of the project's: a part and, where it is asked for, what is gathered of it.
SNAKEFILE = """
import sys
from attention_theory import rules as ours
from attention_theory import running

configfile: "config/config.yaml"
ours.prepare_environment(config)

onstart:
    running.hold()

rule all:
    input: "results/tiny/study/part.csv",

rule part:
    output:
        table="results/tiny/study/part.csv",
        provenance="results/tiny/study/provenance/part.json",
    log: "results/tiny/study/logs/part.log"
    shell:
        "python step.py --output {output.table:q} --provenance {output.provenance:q}"
        " 2>&1 | tee {log:q}"

rule table:
    input: parts="results/tiny/study/part.csv",
    output:
        table="results/tiny/study/table.csv",
        provenance="results/tiny/study/provenance/table.json",
    log: "results/tiny/study/logs/table.log"
    shell:
        "python -m attention_theory.tables {input.parts:q} --output {output.table:q}"
        " --provenance {output.provenance:q} 2>&1 | tee {log:q}"
"""

# Writes half a table, does what the file `fault` says, if there is one, and writes the rest.
STEP = '''
import os, signal, sys, time
from pathlib import Path
from typing import Annotated

import typer

from attention_theory import files, step

Named = Annotated[Path, typer.Option()]

def main(output: Named, provenance: Named) -> None:
    """A table in two halves."""
    with step.record(provenance, "tables", study="study", step="part"):
        with files.replacing(output) as temporary, temporary.open("w") as file:
            print("seed,value", file=file)
            file.flush()
            print("half a table", file=sys.stderr, flush=True)
            fault = Path("fault").read_text() if Path("fault").exists() else ""
            exec(fault)
            print("0,1.5", file=file)

step.run(main)
'''
WAIT = "time.sleep(60)"
LEDGER = "study,id,statement,source,measured,effect,ci_low,ci_high,n,verdict\n"
COSTS = (
    "study,step,setting,seconds,cpu_seconds,startup_cpu_seconds,peak_memory_mb,images_per_second\n"
)


def heard() -> None:
    """Let a child hear Ctrl-C, also where the tests run in the background of a shell."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Tiny:
    """The tiny workflow in a folder of its own."""

    def __init__(self, folder: Path, fault: str = "") -> None:
        self.folder = folder
        (folder / "config").mkdir(parents=True)
        shutil.copytree(ROOT / "workflow" / "profiles", folder / "profiles")
        (folder / "Snakefile").write_text(SNAKEFILE)
        (folder / "config" / "config.yaml").write_text("run: tiny\n")
        (folder / "step.py").write_text(STEP)
        (folder / RESULTS).mkdir(parents=True)
        (folder / RESULTS / "claims.csv").write_text(LEDGER)  # for the screen at the end
        (folder / RESULTS / "costs.csv").write_text(COSTS)
        self.fault(fault)

    @classmethod
    def copy(cls, other: "Tiny", folder: Path) -> "Tiny":
        """The same workflow with its results and Snakemake's books, in another folder."""
        shutil.copytree(other.folder, folder)
        tiny = cls.__new__(cls)
        tiny.folder = folder
        return tiny

    def fault(self, program: str = "") -> None:
        """What the first job does between the halves of its table."""
        (self.folder / "fault").write_text(program)

    def environment(self, **changes: str) -> dict[str, str]:
        here = {"PYTHONPATH": str(ROOT / "src"), "CORES": "1", "GPUS": "0"}
        return OUTSIDE | here | changes

    def launch(self, **changes: str) -> subprocess.CompletedProcess:
        """`make figures`, but for the set-up."""
        return subprocess.run(
            LAUNCH, cwd=self.folder, env=self.environment(**changes), capture_output=True,
            text=True, check=False,
        )  # fmt: skip

    def snakemake(self, *options: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-m", "snakemake", "--cores", "1", *options], cwd=self.folder,
            env=self.environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip

    def start(self, command: tuple[str, ...] = LAUNCH) -> subprocess.Popen:
        """Start it in a process group of its own, and return once half of the table is written."""
        process = subprocess.Popen(
            command, cwd=self.folder, env=self.environment(), start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=heard,
        )  # fmt: skip
        until(lambda: self.half_written() or process.poll() is not None)
        return process

    def half_written(self) -> list[Path]:
        return list((self.folder / RESULTS).rglob(".*"))

    def whole(self) -> bool:
        """Whether the results are those of an undisturbed run, and nothing else is there."""
        found = (self.folder / PART).read_text()
        return found == "seed,value\n0,1.5\n" and not self.half_written()


def until(condition: Callable[[], object], seconds: float = 120.0) -> None:
    """Wait for a condition; a test that waits in vain fails."""
    ended = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ended, "it did not come to pass"
        time.sleep(0.02)


def kill(process: subprocess.Popen) -> None:
    """Kill a process group at once, as a machine that goes down does."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
