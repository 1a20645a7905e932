"""Processes of one training end together: the first that fails says why, in its one line.

A process that waits for a failed one would wait for long, inside a library where no signal reaches
Python. So a thread of each looks at the others: the first process, which started them, at how they
ended; each of them at whether the first still runs. Which failure is told is settled by a file that
one process alone can make.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from attention_theory.errors import BadInput

TEAM = "ATTENTION_THEORY_TEAM"  # the first process and a folder of its own, for those it starts
EVERY = 0.2  # seconds between two looks
GRACE = 3.0  # seconds in which a process may end by itself, or learn that another failed
OWN = (BadInput, OSError, MemoryError)  # failures of a process itself; others may be consequences


class Watch:
    """A thread that ends this process soon after another has failed or was killed.

    `children` are the processes that this one starts, if any; the list may grow.
    """

    def __init__(self, children: list[subprocess.Popen]) -> None:
        self.children, self.first = children, TEAM not in os.environ
        if self.first:
            os.environ[TEAM] = f"{os.getpid()} {tempfile.mkdtemp(prefix='attention-theory-')}"
        owner, _, folder = os.environ[TEAM].partition(" ")
        self.owner, self.folder = int(owner), Path(folder)
        self.lock, self.over, self.ended = threading.Lock(), False, False
        threading.Thread(target=self._look, daemon=True).start()

    def end(self, error: BaseException | None) -> None:
        """This process ends, by an error or well. Exits in silence if another has told its own."""
        try:
            if isinstance(error, Exception) and not isinstance(error, OWN):
                time.sleep(GRACE)  # another's end may be the cause: then this process is ended here
            with self.lock:
                self.over = True
        except SystemExit:
            self.ended = True
        silent = self.ended or (isinstance(error, Exception) and not self._claim())
        self._clean()
        if silent:
            sys.exit(2)

    def _look(self) -> None:
        while not self.over:
            time.sleep(EVERY)
            if not self.first:
                if os.getppid() != self.owner:
                    os._exit(2)
                continue
            ends = {rank: child.poll() for rank, child in enumerate(self.children, 1)}
            failed = {rank: code for rank, code in ends.items() if code}
            with self.lock:
                self.ended = bool(failed) and not self.over
                if self.ended:
                    self._end_others(*next(iter(failed.items())))
            if self.ended:
                os.kill(os.getpid(), signal.SIGTERM)  # this one ends by its own means if it can
                time.sleep(GRACE)
                os._exit(2)

    def _end_others(self, rank: int, code: int) -> None:
        """Say how a process ended, if it could not; end those that are left."""
        if code < 0 and self._claim():
            print(
                f"{Path(sys.argv[0]).stem}: process {rank + 1} of {len(self.children) + 1} was "
                f"ended by signal {-code}",
                file=sys.stderr,
                flush=True,
            )
        for child in self.children:
            child.kill()
        self._clean()

    def _claim(self) -> bool:
        """Whether this process is the first to tell of a failure."""
        try:
            os.close(os.open(self.folder / "failed", os.O_CREAT | os.O_EXCL))
        except OSError:  # another was first, or the first process is gone already
            return False
        return True

    def _clean(self) -> None:
        if self.first:
            os.environ.pop(TEAM, None)
            shutil.rmtree(self.folder, ignore_errors=True)
