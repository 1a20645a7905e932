"""A copy of the project in a folder of its own, and the commands that run there."""

import os
import shutil
import subprocess
import sys
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
SMOKE = Path("results", "smoke")
STUDIES = sorted(path.parent.name for path in ROOT.glob("src/attention_theory/*/claims.py"))
# A make or a pytest that a test starts would take itself for a part of this one.
OUTSIDE = {
    name: value
    for name, value in os.environ.items()
    if "MAKE" not in name and not name.startswith("PYTEST_")
}


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
            words, cwd=self.folder, env=OUTSIDE | environment, capture_output=True, text=True,
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
        counted = {x[0] for x in lines if len(x) == 2 and x[0].isidentifier() and x[1].isdigit()}
        return counted - {"total", "all", "claims", *STUDIES}

    def summary(self) -> pd.DataFrame:
        """Snakemake's own table of the outputs, with their rules, logs and inputs."""
        done = self.snakemake("--detailed-summary")
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        start = next(i for i, row in enumerate(rows) if row[0] == "output_file")
        return pd.DataFrame(rows[start + 1 :], columns=rows[start])

    @cached_property
    def jobs(self) -> list[tuple[str, str, set[str]]]:
        """Rule, output and inputs of every output, of a finished run."""
        return [
            (row["rule"], row["output_file"], set(row["input-file(s)"].split(",")))
            for _, row in self.summary().iterrows()
        ]

    def downstream(self, changed: str) -> set[str]:
        """The rules that depend on a file, directly or through other rules' outputs."""
        jobs = self.jobs
        files, rules = {changed}, set()
        while True:
            found = {rule for rule, _, inputs in jobs if inputs & files} - rules
            if not found:
                return rules
            rules |= found
            files |= {output for rule, output, _ in jobs if rule in rules}

    def results(self) -> dict[str, str]:
        """The SHA-256 of every result by its path, but for what holds times: costs, provenance,
        logs."""
        found = {}
        for path in sorted((self.folder / SMOKE).rglob("*")):
            timed = path.name == "costs.csv" or bool(
                {"provenance", "logs"} & set(path.relative_to(self.folder).parts)
            )
            timed |= path.parent.name == "figures" and path.stem == "cost"
            if path.is_file() and not timed:
                found[str(path.relative_to(self.folder))] = sha256(path.read_bytes()).hexdigest()
        return found
