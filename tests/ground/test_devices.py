"""Slots: jobs of one machine take a GPU each, and wait where there is none left. No GPU needed."""

import select
import subprocess
import sys

import pytest

from attention_theory import devices
from attention_theory.errors import BadInput

HOLD = """
import os, sys, time
from attention_theory import devices
devices.count = lambda: 3 if "MANY" in os.environ else 2
devices.take_slots(int(os.environ.get("MANY", 1)))
print(os.environ["CUDA_VISIBLE_DEVICES"], flush=True)
sys.stdin.read()
"""


def hold(folder, **environment):
    """A process that takes a slot and keeps it until its standard input closes."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLD],
        env={"TMPDIR": str(folder), **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_each_job_sees_a_gpu_of_its_own_and_a_third_waits(tmp_path):
    with hold(tmp_path) as one, hold(tmp_path) as two:
        seen = {one.stdout.readline().strip(), two.stdout.readline().strip()}
        assert seen == {"0", "1"}
        with hold(tmp_path) as three:
            one.kill()  # a killed job gives its slot back
            one.wait()
            assert three.stdout.readline().strip() in seen
            three.stdin.close()
        two.stdin.close()


def test_jobs_of_two_gpus_each_do_not_wait_for_each_other(tmp_path):
    """Of three GPUs a job takes two at once or none."""
    with hold(tmp_path, MANY="2") as one, hold(tmp_path, MANY="2") as two:
        jobs = {job.stdout: job for job in (one, two)}
        first = jobs.pop(select.select(list(jobs), [], [])[0][0])
        seen = first.stdout.readline().strip().split(",")
        assert len(set(seen)) == 2 and set(seen) < {"0", "1", "2"}
        first.kill()
        first.wait()
        (second,) = jobs.values()
        assert len(set(second.stdout.readline().strip().split(","))) == 2
        second.stdin.close()


def test_all_gpus_at_once_are_a_slot_each_too(tmp_path):
    """Two jobs that want every GPU come one after the other, though there is nothing to choose."""
    with hold(tmp_path, MANY="3") as one, hold(tmp_path, MANY="3") as two:
        jobs = {job.stdout: job for job in (one, two)}
        first = jobs.pop(select.select(list(jobs), [], [])[0][0])
        assert first.stdout.readline().strip() == "0,1,2"
        (second,) = jobs.values()
        assert not select.select([second.stdout], [], [], 2)[0]
        first.kill()
        first.wait()
        assert second.stdout.readline().strip() == "0,1,2"
        second.stdin.close()


def test_slots_are_chosen_among_the_visible_devices(tmp_path):
    with hold(tmp_path, CUDA_VISIBLE_DEVICES="5,GPU-ab/c") as one:
        assert one.stdout.readline().strip() == "5"
        one.stdin.close()


def test_one_visible_device_needs_no_slot(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    devices.take_slots()
    assert devices.os.environ["CUDA_VISIBLE_DEVICES"] == "3" and not list(tmp_path.iterdir())


def test_a_gpu_where_there_is_none_is_refused_before_torch(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert devices.count() == 0
    with pytest.raises(BadInput, match="gpu: 1 is not allowed; it must be 0"):
        devices.prepare(1, 1)


def test_more_gpus_than_there_are_are_refused(monkeypatch):
    monkeypatch.setattr(devices, "count", lambda: 2)
    with pytest.raises(BadInput, match="gpu: 3 is not allowed; it must be at most 2"):
        devices.prepare(3, 1)


def test_the_driver_is_not_initialised_before_a_slot_is_taken(monkeypatch):
    """It would read CUDA_VISIBLE_DEVICES too early: another process asks it."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(devices.ctypes, "CDLL", lambda name: object())  # has no cuInit to call
    monkeypatch.setattr(devices, "ASK", "print(7)")
    assert devices.count() == 7
    monkeypatch.setattr(devices, "ASK", "import no_such_module")
    assert devices.count() == 0
