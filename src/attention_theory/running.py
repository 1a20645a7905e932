"""One run in a folder at a time: who holds it, what a dead run left locked, how a run ends.

A run holds an OS lock on a file below .snakemake/, which its Snakemake inherits: it lasts until the
last of them is gone, however they end, and so needs no clearing. Snakemake's own locks do; they are
a dead run's only if nothing that belongs to a run is alive in the folder.
"""

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil

from attention_theory import provenance
from attention_theory.errors import BadInput

LOCK = Path(".snakemake", "running")
HELD = "ATTENTION_THEORY_HELD"  # in the environment of what a holder of the lock started
SNAKEMAKES = Path(".snakemake", "locks")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE = 10.0  # seconds that jobs have to end after a signal
PATIENCE = 2.0  # seconds that what was just killed may take to be gone


@contextlib.contextmanager
def alone(clear: Callable[[], object] = lambda: None) -> Iterator[int]:
    """Hold the working folder; yields the descriptor of the lock, for a child to inherit.

    `clear` ends what a dead run has left elsewhere: it is called once the folder is held, and again
    when nothing is alive here that could have left more; not where the file system has no locks,
    which may hide a run that is alive. Raises BadInput, in one line, if another run holds it, or if
    jobs of one are left over.
    """
    lock = _patiently(_hold, lambda lock: lock is not None)
    if lock is None:
        raise BadInput(f"another run works in this folder ({_holder()}); wait for it, or end it")
    try:
        if _locks(lock):  # else a run may be alive where this machine cannot see it
            clear()
        others = " ".join(map(str, _patiently(_alive, lambda alive: not alive)))
        if others:
            raise BadInput(
                f"processes of another run are alive in this folder ({others}); wait for them, or "
                f"end them: kill {others}"
            )
        if _locks(lock):
            clear()
        os.environ[HELD] = str(os.getpid())
        yield lock
    finally:
        os.environ.pop(HELD, None)
        os.close(lock)


def hold() -> None:
    """Hold the folder until this process ends, unless the run that started it already does.

    For a plain `snakemake`, which has locked the folder in its own way before. Ends the process, in
    one line, if another run holds it.
    """
    if HELD not in os.environ and _hold() is None:  # the descriptor stays open
        sys.exit(f"another run works in this folder ({_holder()}); wait for it, or end it")


def clear_locks(command: Sequence[str]) -> bool:
    """Clear Snakemake's locks, if there are any: those of a dead run, for `alone` has looked.

    `command` is the snakemake command, without what says how jobs are run. Raises BadInput if it
    cannot.
    """
    if not SNAKEMAKES.is_dir() or not any(SNAKEMAKES.iterdir()):
        return False
    unlock = ["--cores", "1", "--config", "device=cpu", "--unlock"]  # it demands no GPU
    done = subprocess.run(
        [*command, *unlock], capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    if done.returncode:
        raise BadInput((done.stderr.strip().splitlines() or ["snakemake --unlock failed"])[-1])
    return True


def run(command: Sequence[str], lock: int) -> int:
    """Run a command to its end and return its exit status; it inherits the lock.

    A signal ends its jobs, so that it ends by itself and puts its books in order; what is left
    after GRACE seconds is killed. Returns 128 + the signal then.
    """
    caught: list[int] = []
    kept = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in kept.items():
        if handler != signal.SIG_IGN:  # as under nohup
            signal.signal(number, lambda number, _: caught.append(number))
    try:
        with subprocess.Popen(command, pass_fds=[lock]) as child:
            while _waits(child, 0.2):
                if caught:
                    _end(child)
            return 128 + caught[0] if caught else child.returncode
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _end(child: subprocess.Popen) -> None:
    """End a Snakemake: no new jobs (its SIGTERM), and those that run are terminated."""
    child.terminate()
    ended = time.monotonic() + GRACE
    while time.monotonic() < ended:
        for process in _below(child):
            with contextlib.suppress(psutil.Error, IndexError):  # gone
                if _is_python(process):  # shells and logs outlive it to hear of it
                    process.terminate()
        if not _waits(child, 1.0):
            return
    for process in _below(child):
        with contextlib.suppress(psutil.Error):
            process.kill()
    child.kill()


def _waits(child: subprocess.Popen, seconds: float) -> bool:
    """Whether a child is still alive after so many seconds."""
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        return True
    return False


def _below(child: subprocess.Popen) -> list[psutil.Process]:
    with contextlib.suppress(psutil.Error):
        return psutil.Process(child.pid).children(recursive=True)
    return []


def _is_python(process: psutil.Process) -> bool:
    return Path(process.cmdline()[0]).name.startswith("python")


def _hold() -> int | None:
    """The descriptor of the lock, held until it is closed everywhere; None if another has it."""
    LOCK.parent.mkdir(exist_ok=True)
    lock = os.open(LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    except OSError as error:  # a file system without locks: processes are still looked for
        print(f"this folder cannot be locked ({error.strerror})", file=sys.stderr)
    about = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.ctime()}
    try:
        os.ftruncate(lock, 0)
        os.pwrite(lock, json.dumps(about).encode(), 0)
    except OSError as error:
        raise BadInput(f"{LOCK}: not written ({error.strerror})") from None
    return lock


def _locks(lock: int) -> bool:
    """Whether the file system has locks; this one is held, if it has."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _holder() -> str:
    """Who holds the lock, in words."""
    try:
        about = json.loads(LOCK.read_text())
        here = about["host"] == socket.gethostname()
        if here and not psutil.pid_exists(about["pid"]):  # what it started outlives it
            return f"started by process {about['pid']}, which is gone, since {about['since']}"
        return f"process {about['pid']} on {about['host']}, since {about['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "it does not say which"


def _patiently(look: Callable[[], Any], found: Callable[[Any], bool]) -> Any:
    """Look until it is found, or for PATIENCE seconds; what was seen last."""
    ended = time.monotonic() + PATIENCE
    while not found(seen := look()) and time.monotonic() < ended:
        time.sleep(0.1)
    return seen


def _alive() -> list[int]:
    """Processes of this machine, but for this one, that belong to a run in this folder."""
    here, found = str(Path.cwd().resolve()), []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):  # gone, or another user's
            if process.pid != os.getpid() and process.cwd() == here and _of_a_run(process):
                found.append(process.pid)
    return found


def _of_a_run(process: psutil.Process) -> bool:
    """Whether a process is a Snakemake or was started by one, as its environment tells."""
    if any(Path(word).name == "snakemake" for word in process.cmdline()[:3]):
        return True
    return provenance.RUN in process.environ()
