"""Processes that end together: what is said, by which, and that all are gone."""

import os
import subprocess
import sys

import pytest

from attention_theory.code import SOURCE

TEAM = """
import os, signal, subprocess, sys, time
from attention_theory import step
from attention_theory.errors import BadInput
from attention_theory.images.watching import Watch

def main():
    watch = Watch(children := [])
    if watch.first:
        for rank in ("1", "2"):
            own = os.environ | {"RANK": rank}
            children.append(subprocess.Popen([sys.executable, *sys.orig_argv[1:]], env=own))
    rank = int(os.environ.get("RANK", "0"))
    time.sleep(0.5)
    try:
        WORK
    except BaseException as error:
        watch.end(error)
        raise
    watch.end(None)

step.run(main)
"""
KILL = "os.kill(os.getpid(), signal.SIGKILL)"
OTHERS_FAIL = """
        if rank == 1: os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.1)
        raise RuntimeError("connection closed by peer")"""
CASES = {
    "the first fails": (
        "if rank == 0: raise BadInput('I')\n        time.sleep(50)",
        2,
        "team: I\n",
    ),
    "another fails": ("if rank == 2: raise BadInput('I')\n        time.sleep(50)", 2, "team: I\n"),
    "all fail": ("raise BadInput('I')", 2, "team: I\n"),
    "one is killed": (
        f"if rank == 1: {KILL}\n        time.sleep(50)",
        2,
        "team: process 2 of 3 was ended by signal 9\n",
    ),
    "one is killed, which fails the others": (
        OTHERS_FAIL,
        2,
        "team: process 2 of 3 was ended by signal 9\n",
    ),
    "the first is killed": (f"if rank == 0: {KILL}\n        time.sleep(50)", -9, ""),
    "all is well": ("time.sleep(rank / 10)", 0, ""),
}


@pytest.mark.parametrize(("work", "code", "said"), CASES.values(), ids=CASES)
def test_all_end_and_one_says_why(tmp_path, work, code, said):
    """That the pipe of their standard error is closed says that every process is gone."""
    (tmp_path / "team.py").write_text(TEAM.replace("WORK", work))
    (tmp_path / "own").mkdir()
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "TMPDIR": str(tmp_path / "own")}
    done = subprocess.run(
        [sys.executable, "team.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=40,
    )
    assert (done.returncode, done.stderr) == (code, said)
    assert code < 0 or not list((tmp_path / "own").iterdir())


def test_a_fault_of_the_program_keeps_its_traceback(tmp_path):
    work = "if rank == 1: raise KeyError('bug')\n        time.sleep(50)"
    (tmp_path / "team.py").write_text(TEAM.replace("WORK", work))
    done = subprocess.run(
        [sys.executable, "team.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=40,
    )
    assert done.returncode == 2
    assert done.stderr.count("Traceback") == 1 and done.stderr.endswith("KeyError: 'bug'\n")
