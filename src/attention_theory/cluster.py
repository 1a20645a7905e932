"""A run whose jobs go to a cluster: its profile, and on Slurm the jobs it leaves in the queue.

Jobs in a queue outlive the run that submitted them. The plugin gives each the folder of the run for
its working directory and the run's identifier, a UUID, for its name: by these two they are found
again, cancelled, and waited for.
"""

import importlib.util
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from attention_theory import config
from attention_theory.errors import BadInput, require

PROFILES = Path("profiles")  # the link to workflow/profiles that Snakemake looks for, too
LOGS = Path(".snakemake", "slurm_logs")  # the plugin's, made before its first job
NAME = re.compile(r"(?:\w[\w-]*_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ENDED = re.compile(r"error: (?:\*\*\* )?(JOB .*?|.*oom.kill.*?)(?: \*\*\*)?$", re.MULTILINE)
PATIENCE = 180.0  # seconds that cancelled jobs may take: Slurm kills them 30 s after its signal


def executor(profile: str) -> str:
    """What executes the jobs of a profile: `local`, `slurm` or another of Snakemake's plugins.

    Raises BadInput if there is no such profile, or not what it needs to submit a job.
    """
    check(profile)
    named = config.read(PROFILES / profile / "config.yaml").get("executor", "local")
    there = named != "slurm" or shutil.which("sbatch") is not None
    require(there, "PROFILE", profile, "be another where Slurm's sbatch is not on the PATH")
    plugin = f"snakemake-executor-plugin-{named}"
    there = named == "local" or importlib.util.find_spec(plugin.replace("-", "_")) is not None
    require(there, "PROFILE", profile, f"be another while {plugin} is not installed (pip install)")
    return named


def check(profile: str) -> None:
    """Raise BadInput if there is no such profile."""
    names = sorted(path.parent.name for path in PROFILES.glob("*/config.yaml"))
    require(profile in names, "PROFILE", profile, f"be one of: {', '.join(names)}")


def options(cores: str, gpus: str) -> list[str]:
    """Snakemake's options for a cluster: how many jobs there are at once, it decides itself.

    `cores` are this machine's, for tables and figures; `gpus` caps the GPUs that jobs hold at once.
    """
    words = ["--local-cores", cores] if cores != "all" else []
    return words + (["--resources", f"gpu={gpus}"] if gpus not in ("all", "0") else [])


def clear() -> list[str]:
    """Cancel this folder's jobs in Slurm's queue and wait until they are gone; returns their ids.

    Nothing is asked where no run has submitted any, or where there is no Slurm. The caller holds
    the folder, or it would cancel the jobs of a run that is alive. Raises BadInput if the queue
    does not answer, or if they do not end.
    """
    if not LOGS.is_dir() or shutil.which("squeue") is None:
        return []
    cancelled: list[str] = []
    ended = time.monotonic() + PATIENCE
    while waiting := _queued():
        if time.monotonic() > ended:
            jobs = " ".join(waiting)
            raise BadInput(f"this folder's jobs {jobs} are cancelled but do not end; wait for them")
        if new := [job for job in waiting if job not in cancelled]:
            # It fails for a job that has ended by itself: the queue will tell.
            subprocess.run(["scancel", *new], capture_output=True, check=False)
            cancelled += new
        time.sleep(0.5)
    return cancelled


def told(since: float) -> Iterator[tuple[Path, str, list[str]]]:
    """Slurm's log of the last attempt of each job, if it was written to since a time: where it is,
    its text, and why Slurm ended the job, if it did."""
    last: dict[Path, Path] = {}
    for log in sorted(LOGS.rglob("*.log"), key=lambda log: log.stat().st_mtime):
        if log.stat().st_mtime >= since:
            last[log.parent] = log  # a folder a job
    for log in last.values():
        text = log.read_text(encoding="utf-8", errors="replace")
        yield log, text, [f"Slurm: {why}" for why in dict.fromkeys(ENDED.findall(text))]


def _queued() -> list[str]:
    """The ids of this folder's jobs that wait, run, or come to their end."""
    here, found = Path.cwd().resolve(), []
    for line in _ask("squeue", "--me", "--noheader", "--format=%i %j %Z").splitlines():
        job, name, folder = line.split(" ", 2)
        if NAME.fullmatch(name) and Path(folder).resolve() == here:
            found.append(job)
    return found


def _ask(*command: str) -> str:
    """What one of Slurm's commands prints. Raises BadInput, with its message, if it fails again
    and again: a busy controller does not answer at once."""
    for wait in (1.0, 3.0, 0.0):
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="surrogateescape", check=False
        )
        if done.returncode == 0:
            break
        time.sleep(wait)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise BadInput(f"Slurm's {command[0]} failed, so that no job can be looked after ({said})")
    return done.stdout
