"""One smoke run of the whole workflow, in a folder whose name has a space, a quote, an accent."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
SMOKE = Path("results", "smoke")


class Checkout:
    """A copy of the project's files in a folder of its own, and the commands that run there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        for name in filter(None, listed.split("\0")):
            source, target = ROOT / name, folder / name
            if source.exists() or source.is_symlink():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target, follow_symlinks=False)

    def run(self, *command: object, **environment: str) -> subprocess.CompletedProcess:
        words = [str(word) for word in command]
        return subprocess.run(
            words, cwd=self.folder, env=os.environ | environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    def snakemake(self, *options: object, **environment: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "snakemake", "--configfile", "config/smoke.yaml"]
        return self.run(*command, *options, **environment)

    def waiting(self) -> set[str]:
        """The rules of which a dry run would execute a job, targets left out."""
        dry = self.snakemake("--cores", 1, "--dry-run", "--quiet", "host", "reason")
        assert dry.returncode == 0, dry.stderr
        lines = [line.split() for line in dry.stdout.splitlines() + dry.stderr.splitlines()]
        counted = {line[0] for line in lines if len(line) == 2 and line[1].isdigit()}
        return counted - {"total", "all", "claims", "spatial", "images"}

    def summary(self) -> pd.DataFrame:
        """Snakemake's own table of the outputs, with their rules, logs and inputs."""
        done = self.snakemake("--detailed-summary")
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        start = next(i for i, row in enumerate(rows) if row[0] == "output_file")
        return pd.DataFrame(rows[start + 1 :], columns=rows[start])

    def results(self) -> dict[str, bytes]:
        """Every result by its path, but for what holds times: costs, provenance, logs."""
        found = {}
        for path in sorted((self.folder / SMOKE).rglob("*")):
            timed = path.name == "costs.csv" or path.parent.name in ("provenance", "logs")
            if path.is_file() and not timed:
                found[str(path.relative_to(self.folder))] = path.read_bytes()
        return found


@pytest.fixture(scope="session")
def smoke(tmp_path_factory) -> Checkout:
    """A finished smoke run with two cores, whose logs name the modules that each job imported."""
    checkout = Checkout(tmp_path_factory.mktemp("it's a naïve copy"))
    done = checkout.snakemake("--cores", 2, PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0, done.stderr[-3000:]
    return checkout
