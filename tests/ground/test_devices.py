"""Slots: jobs of one machine take a GPU each, and wait where there is none left. No GPU needed."""

import subprocess
import sys

import pytest

from attention_theory import devices
from attention_theory.errors import BadInput

HOLD = """
import os, sys, time
from attention_theory import devices
devices.count = lambda: 2
devices.take_slot()
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


def test_slots_are_chosen_among_the_visible_devices(tmp_path):
    with hold(tmp_path, CUDA_VISIBLE_DEVICES="5,GPU-ab/c") as one:
        assert one.stdout.readline().strip() == "5"
        one.stdin.close()


def test_one_visible_device_needs_no_slot(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    devices.take_slot()
    assert devices.os.environ["CUDA_VISIBLE_DEVICES"] == "3" and not list(tmp_path.iterdir())


def test_a_gpu_where_there_is_none_is_refused_before_torch(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert devices.count() == 0
    with pytest.raises(BadInput, match="gpu: 1 is not allowed; it must be 0"):
        devices.prepare(1, 1)
