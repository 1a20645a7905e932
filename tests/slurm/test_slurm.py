"""The workflow on a real Slurm: its queue, its limits, and runs that die before their jobs."""

import signal
import sys

import pytest
from checkout import Checkout
from queued import RESULTS, Queued
from tiny import kill, until

pytestmark = pytest.mark.slurm


@pytest.fixture(scope="module")
def mixed(node, tmp_path_factory):
    """One run, to its end, of jobs that go well and jobs that do not; and what it said."""
    jobs = "gpu_a gpu_b plain_free plain_fails plain_grows endless_job".split()
    folder = tmp_path_factory.mktemp("queued") / "it's a naïve folder"
    queued = Queued(folder, *jobs, retries=1, **{"keep-going": True})
    status, said = queued.launch()
    assert status == 1, said
    return queued, said


def test_the_smoke_run_gives_the_same_bytes(node, smoke_results, tmp_path):
    """Small jobs share allocations; tables and figures are made here."""
    checkout = Checkout(tmp_path / "a copy")
    options = {"PROFILE": "slurm", "CONFIG": "config/smoke.yaml", "GPUS": "0"}
    done = checkout.run(sys.executable, "-m", "attention_theory.launch", **options)
    assert done.returncode == 0, done.stderr[-3000:]
    expected, found = smoke_results(), checkout.results()
    assert [name for name in expected if expected[name] != found.get(name)] == []
    assert found.keys() == expected.keys()
    logs = checkout.folder / ".snakemake" / "slurm_logs"
    assert len(list(logs.glob("group_small_*/*.log"))) == 2, "15 small jobs, two allocations"
    assert not [path for path in logs.iterdir() if "figures" in path.name or "table" in path.name]
    assert not node.queue()


def test_each_gpu_job_sees_one_device(mixed):
    queued, _ = mixed
    devices = {line.split()[0]: line.split()[1:] for line in queued.journal("start")}
    assert {tuple(devices["gpu_a"]), tuple(devices["gpu_b"])} == {("0",), ("1",)}
    assert devices["plain_free"] == []
    assert queued.journal("twice") == []


def test_a_failing_jobs_log_is_found_and_printed(mixed):
    _, said = mixed
    log = RESULTS / "logs" / "plain_fails.log"
    assert f"A job failed. The end of its log {log}:\njob: a bad value\n" in said


def test_a_retried_job_gets_more_memory(mixed, node):
    queued, _ = mixed
    assert [node.job(job)["MinMemoryNode"] for job in queued.ids("plain_grows")] == ["100M", "200M"]
    assert "plain_grows" in queued.journal("end")


def test_a_job_over_its_time_leaves_no_output(mixed, node):
    queued, said = mixed
    (job, *_) = queued.ids("endless_job")
    assert node.job(job)["JobState"] == "TIMEOUT"
    assert queued.outputs() == {"gpu_a.csv", "gpu_b.csv", "plain_free.csv", "plain_grows.csv"}
    assert f"Slurm: JOB {job} ON " in said and "DUE TO TIME LIMIT" in said


def test_cancelling_leaves_no_job_in_the_queue(node, tmp_path):
    queued = Queued(tmp_path / "folder", "plain_long_a", "plain_long_b")
    process = queued.start()
    until(lambda: len(queued.journal("start")) == 2)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert said.splitlines()[-1] == "launch: stopped; the same command goes on from here"
    assert not node.queue() and queued.outputs() == set()


def test_recovery_after_a_kill_runs_no_job_twice_at_the_same_time(node, tmp_path):
    names = [f"plain_long_{name}" for name in "abcdef"]
    queued = Queued(tmp_path / "folder", *names)
    process = queued.start()
    until(lambda: len(queued.journal("start")) >= 2 and len(node.queue()) == len(names))
    kill(process)
    left = node.queue()
    assert len(left) == len(names), "they outlive the run"
    status, said = queued.launch(HURRIED="yes")  # its jobs inherit it
    assert status == 0, said
    assert queued.journal("twice") == []
    assert sorted(queued.journal("end")) == names
    assert len(queued.journal("start")) >= len(names) + 2, "the killed run's, and all of the next"
    lines = [line for line in said.splitlines() if line.startswith("a run in this folder died; c")]
    assert len(lines) == 1 and sorted(lines[0].split(": ")[1].split()) == sorted(left)
    assert {node.job(job)["JobState"] for job in left} == {"CANCELLED"}
    assert not node.queue()
