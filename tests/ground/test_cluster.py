"""Whose jobs are cancelled, and what Slurm tells: with stand-ins for its commands."""

import errno
import fcntl
import os
import uuid

import pytest

from attention_theory import cluster, running
from attention_theory.errors import BadInput

SQUEUE = '#!/bin/sh\n[ -e fails ] && { echo "squeue: error: no answer" >&2; exit 1; }\ncat queue\n'
SCANCEL = '#!/bin/sh\necho "$@" >> cancelled\nfor job; do sed -i "/^$job /d" queue; done\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder from which a run has submitted jobs, on a machine with a queue."""
    here = tmp_path / "it's a naïve folder"
    commands = tmp_path / "bin"
    cluster_logs = here / cluster.LOGS
    cluster_logs.mkdir(parents=True)
    commands.mkdir()
    for name, program in {"squeue": SQUEUE, "scancel": SCANCEL}.items():
        (commands / name).write_text(program)
        (commands / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    monkeypatch.chdir(here)
    (here / "queue").write_text("")
    return here


def test_only_this_folders_jobs_of_a_run_are_cancelled(folder):
    run = uuid.uuid4()
    lines = [
        f"11 {run} {folder}",
        f"12 mysite_{run} {folder}",
        f"13 {run} {folder.parent}",
        f"14 {run} {folder}/below",
        f"15 own-job {folder}",
        f"16 {str(run)[:-1]} {folder}",
    ]
    (folder / "queue").write_text("".join(f"{line}\n" for line in lines))
    assert cluster.clear() == ["11", "12"]
    assert (folder / "cancelled").read_text() == "11 12\n"
    assert cluster.clear() == []


def test_nothing_is_cancelled_where_nobody_can_say_that_no_run_is_alive(folder, monkeypatch):
    """On a file system without locks a run on another machine cannot be seen."""

    def no_locks(*_):
        raise OSError(errno.ENOSYS, "Function not implemented")

    (folder / "queue").write_text(f"11 {uuid.uuid4()} {folder}\n")
    with monkeypatch.context() as without:
        without.setattr(fcntl, "flock", no_locks)
        with running.alone(cluster.clear):
            pass
    assert not (folder / "cancelled").exists()
    with running.alone(cluster.clear):
        pass
    assert (folder / "cancelled").exists()


def test_a_queue_that_does_not_answer_once(folder):
    squeue = folder.parent / "bin" / "squeue"
    squeue.write_text(squeue.read_text().replace("exit 1", "rm fails; exit 1"))
    (folder / "fails").touch()
    (folder / "queue").write_text(f"11 {uuid.uuid4()} {folder}\n")
    assert cluster.clear() == ["11"]


def test_a_queue_that_does_not_answer_is_one_line(folder):
    (folder / "fails").touch()
    with pytest.raises(BadInput, match=r"Slurm's squeue failed.*\(squeue: error: no answer\)"):
        cluster.clear()


def test_jobs_that_do_not_end_are_named(folder, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.1)
    (folder.parent / "bin" / "scancel").write_text("#!/bin/sh\n")
    (folder / "queue").write_text(f"7 {uuid.uuid4()} {folder}\n")
    with pytest.raises(BadInput, match="this folder's jobs 7 are cancelled but do not end"):
        cluster.clear()


def test_nothing_is_asked_where_no_run_submitted_jobs(folder):
    (folder / cluster.LOGS).rmdir()
    (folder / "fails").touch()
    assert cluster.clear() == []


def test_why_slurm_ended_a_job_and_its_last_attempt_alone(folder):
    logs = folder / cluster.LOGS / "rule_part"
    logs.mkdir()
    (logs / "8.log").write_text("failed\n")
    os.utime(logs / "8.log", (1000, 1000))
    (logs / "9.log").write_text(
        "slurmstepd-n1: error: *** STEP 9.0 ON n1 CANCELLED AT noon DUE TO TIME LIMIT ***\n"
        "slurmstepd-n1: error: *** JOB 9 ON n1 CANCELLED AT noon DUE TO TIME LIMIT ***\n"
        "slurmstepd: error: Detected 1 oom_kill event in StepId=9.0.\n"
    )
    ((log, text, why),) = cluster.told(0.0)
    assert log == cluster.LOGS / "rule_part" / "9.log" and text.count("\n") == 3
    assert why == [
        "Slurm: JOB 9 ON n1 CANCELLED AT noon DUE TO TIME LIMIT",
        "Slurm: Detected 1 oom_kill event in StepId=9.0.",
    ]
    assert list(cluster.told(1e12)) == []
