"""What is put in order before a run, and what is said of one that failed.

Each finding is one line on standard error. What a killed process left half-written goes; what is
damaged goes, and so is made again; logs of jobs that did not end are kept apart.
"""

import contextlib
import os
import re
import shlex
import shutil
import sys
import time
from pathlib import Path

import psutil

from attention_theory import checksums, cluster, code, files, walking

LOGS, EARLIER = "logs", "earlier"
SNAKEMAKE_LOGS = Path(".snakemake", "log")
FAILED = re.compile(r"\| tee (.+)' (?:returned non-zero|died with)")  # as every rule ends
LINES = 20  # of a failed job's log that are shown
FULL = 2**20  # bytes left on a disk, below which it counts as full


def tidy(folder: Path) -> None:
    """Put a run's folder in order. No other run may be alive in it."""
    if not folder.is_dir():
        return
    _remove_half_written(folder)
    for path in list(checksums.damaged(folder)):
        path.unlink()
        say(f"{path}: damaged since it was written (its SHA-256 has changed); it is made again")
    _bring_back_from_the_future(folder, code.SOURCE / code.PACKAGE)
    _keep_logs(folder)


def explain(since: float) -> None:
    """Show the end of the log of each job that failed since a time, and where the log is."""
    for log, why in _failed(since).items():
        text = log.read_text(encoding="utf-8", errors="replace").strip() if log.is_file() else ""
        said = text.splitlines()[-LINES:] or [f"(nothing: {_why_silent(log)})"]
        say("", f"A job failed. The end of its log {log}:", *said, *why)


def _why_silent(log: Path) -> str:
    """The likely reason why a failed job said nothing."""
    with contextlib.suppress(OSError):
        if shutil.disk_usage(log.parent).free < FULL:
            return f"the disk of {log.parent} is full"
    return "it was killed, perhaps for its memory"


def say(*lines: str) -> None:
    """Print lines on standard error, whatever its encoding."""
    for line in lines:
        print(line, file=sys.stderr, flush=True)


def _remove_half_written(folder: Path) -> None:
    for path in walking.files(folder, ".*"):
        name = files.HALF_WRITTEN.fullmatch(path.name)
        if name and path.is_file() and not psutil.pid_exists(int(name[1])):
            path.unlink()


def _bring_back_from_the_future(*folders: Path) -> None:
    """Give files whose time is yet to come the present: Snakemake would take all else for old."""
    now = time.time()
    found = [path for folder in folders for path in walking.files(folder)]
    late = []
    for path in (path for path in found if path.stat().st_mtime > now):
        try:
            os.utime(path, (now, now))
            late.append(path)
        except OSError as error:  # another user's
            say(f"{path}: its time is in the future and cannot be changed ({error.strerror})")
    if late:
        many = "1 file with a time" if len(late) == 1 else f"{len(late)} files with times"
        say(f"{late[0]}: {many} in the future; now the present")


def _keep_logs(folder: Path) -> None:
    """Move logs of jobs that left no record apart: the next attempt would write over them."""
    for log in walking.files(folder, "*.log"):
        if log.parent.name != LOGS:
            continue
        record = log.parent.with_name(checksums.RECORDS) / f"{log.stem}.json"
        if not record.exists() and log.stat().st_size:
            when = time.strftime("%Y-%m-%dT%H-%M-%S", time.localtime(log.stat().st_mtime))
            kept = log.parent / EARLIER / f"{log.stem}.{when}.log"
            kept.parent.mkdir(exist_ok=True)
            log.replace(kept)


def _failed(since: float) -> dict[Path, list[str]]:
    """The logs of the jobs that failed since a time, each with what a cluster says of its end.

    Snakemake's own newest log names them, or, of jobs on nodes, Slurm's logs do.
    """
    logs = [path for path in SNAKEMAKE_LOGS.glob("*.log") if path.stat().st_mtime >= since]
    found: dict[Path, list[str]] = {}
    if logs:
        newest = max(logs, key=lambda path: path.stat().st_mtime)
        found |= dict.fromkeys(_named(newest.read_text(encoding="utf-8", errors="replace")), [])
    for log, text, why in cluster.told(since):
        found |= dict.fromkeys(_named(text) or ([log] if why else []), why)
    return found


def _named(said: str) -> list[Path]:
    """The logs of the jobs that failed, as a Snakemake says it."""
    return [Path(shlex.split(word)[0]) for word in FAILED.findall(said)]
