"""A dry run of a sweep of 5,000 jobs against bare Snakefiles of as many jobs, in CPU seconds.

python benchmarks/scale.py     # these rows alone; some minutes
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from harness import Row, row

from attention_theory import code

ROOT = Path(__file__).resolve().parents[1]
JOBS, ROUNDS = 5000, 3
TARGET = 1 / 1.5  # at most 1.5 times as long
TABLE = "results/many/spatial/pretraining.csv"
# A sweep of one seed a setting: four outputs a job, and a log.
SWEEP = {
    "run": "many",
    "spatial": {
        "pretraining": {
            "seeds": 1,
            "sweeps": {"main": [{}], "N": [{"N": 1000 + i} for i in range(1, JOBS)]}
            | dict.fromkeys(("q", "beta", "omega", "D"), ()),
        },
        "transfer": {"seeds": 1, "settings": ["main-0"]},
    },
}
GATHERED = """
rule all:
    input: expand("results/{i}.csv", i=range(%d))
    output: "results/all.csv"
    shell: "cat {input} > {output}"
"""
ONE_FILE = """
rule one:
    output: "results/{i}.csv"
    shell: "echo {wildcards.i} > {output}"
"""
AS_MANY_FILES = """
rule one:
    input: config["code"]
    output:
        table="results/{i}.csv",
        trajectory="results/{i}-trajectory.csv",
        model="results/{i}.npz",
        provenance="results/{i}.json",
    log: "results/{i}.log"
    wildcard_constraints: i="[0-9]+"
    shell: "echo {wildcards.i} > {output}"
"""


class Spent(NamedTuple):
    """CPU seconds and peak memory of a process and of those that it waited for."""

    seconds: float
    megabytes: float


def rows() -> list[Row]:
    """Ours in a copy of the checkout, and the bare ones beside it, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        ours, one, many = places = [Path(folder, name) for name in ("ours", "one", "many")]
        ignore = shutil.ignore_patterns(".venv", ".snakemake", ".git", "__pycache__", "results")
        shutil.copytree(ROOT, ours, symlinks=True, ignore=ignore)
        (ours / "results").mkdir()
        (ours / "sweep.json").write_text(json.dumps(SWEEP))
        for place, rule in ((one, ONE_FILE), (many, AS_MANY_FILES)):
            place.mkdir()
            (place / "Snakefile").write_text(GATHERED % JOBS + rule)
        files = [str(path) for path in code.closure("spatial.pretraining")]
        (many / "sweep.json").write_text(json.dumps({"code": files}))
        (one / "sweep.json").write_text("{}")
        targets = {ours: TABLE, one: "all", many: "all"}
        rounds = [[_dry_run(place, targets[place]) for place in places] for _ in range(ROUNDS)]
    seconds = np.array([[spent.seconds for spent in each] for each in rounds]).T
    memory = np.array([[spent.megabytes for spent in each] for each in rounds]).max(axis=0)
    named = ("as many files a job", seconds[2], memory[2]), ("a file a job", seconds[1], memory[1])
    return [
        row(
            f"dry run of {JOBS} jobs (CPU, {memory[0]:.0f} MB) against a bare Snakefile's, "
            f"{what} ({megabytes:.0f} MB)",
            seconds[0],
            other,
            target=TARGET,
        )
        for what, other, megabytes in named
    ]


def _dry_run(folder: Path, target: str) -> Spent:
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--dry-run", "--quiet", "all"]
    command += ["--configfile", "sweep.json", "--", target]
    child = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{' '.join(command)} in {folder}: exit status {child.returncode}")
    return Spent(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    print(pd.DataFrame(rows()).to_string(index=False, float_format="{:.3g}".format))
