"""Whether a run is finished, asked of Snakemake; in one line what is missing if it is not."""

import re
import subprocess
import sys
from pathlib import Path

from attention_theory import checksums, walking
from attention_theory.errors import BadInput
from attention_theory.options import Asked

SNAKEMAKE = [sys.executable, "-m", "snakemake", "--cores", "1"]
JOBS = re.compile(r"^(\w+) +(\d+)$", re.MULTILINE)  # of a dry run's table
SHOWN = 3  # rules that are named


def require_finished(asked: Asked) -> Path:
    """The results folder of a run of which every job is done, by today's configuration and code.

    Raises BadInput, with the command that helps, for any other.
    """
    folder = asked.folder
    help = f"`{asked.make('figures')}` makes it"
    if not (folder / "claims.csv").is_file():
        raise BadInput(f"{folder} holds no finished run; {help}")
    for path in checksums.damaged(folder):
        raise BadInput(f"{path}: damaged since it was written; {help} again")
    _require_seed(folder, asked)
    dry = snakemake([*asked.snakemake(), "--dry-run", "--quiet", "host", "reason"])
    jobs = {rule: int(number) for rule, number in JOBS.findall(dry)}
    left = {rule: number for rule, number in jobs.items() if rule not in ("all", "total")}
    if left:
        named = ", ".join([*left][:SHOWN]) + (", ..." if len(left) > SHOWN else "")
        raise BadInput(
            f"{folder} is not a finished run of this configuration and code: "
            f"{sum(left.values())} jobs are to run ({named}); {help}"
        )
    return folder


def _require_seed(folder: Path, asked: Asked) -> None:
    """Raise BadInput if a job of the run had another base seed: its record says so, whoever ran it
    and wherever."""
    for path in walking.files(folder, "*.json"):
        if path.parent.name == checksums.RECORDS:
            seed = checksums.read(path).get("base_seed")
            if seed not in (None, asked.base_seed):
                made = f"`{asked.make('figures')}` makes it anew"
                raise BadInput(f"{path}: of base seed {seed}, not {asked.base_seed}; {made}")


def snakemake(words: list[str]) -> str:
    """What a Snakemake with these options prints; its last line as BadInput if it fails."""
    done = subprocess.run([*SNAKEMAKE, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BadInput((done.stderr.strip().splitlines() or ["snakemake failed"])[-1])
    return done.stdout + done.stderr
