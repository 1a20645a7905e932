"""The share of the laptop run's CPU seconds that is not a step's own work."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
from harness import Row

ROOT = Path(__file__).resolve().parents[1]


def rows() -> list[Row]:
    """Run the laptop workflow afresh in a copy, one core; Snakemake and imports are outside."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "checkout")
        ignore = shutil.ignore_patterns(".venv", ".snakemake", ".git", "__pycache__", "results")
        shutil.copytree(ROOT, copy, symlinks=True, ignore=ignore)
        before = sum(os.times()[2:4])
        command = [sys.executable, "-m", "snakemake", "--cores", "1", "--quiet", "all"]
        subprocess.run(command, cwd=copy, check=True)
        total = sum(os.times()[2:4]) - before
        costs = pd.read_csv(copy / "results" / "laptop" / "costs.csv")
    work = float((costs.cpu_seconds - costs.startup_cpu_seconds).sum())
    share = 1 - work / total
    name = "share of CPU seconds outside steps (Snakemake, imports); at most .2"
    return [Row(name, share, share, share, 1e3 * (total - work), 1e3 * total, 1)]
