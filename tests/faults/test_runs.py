"""A run that is stopped, killed or started twice, through the launcher, with three small jobs."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from checkout import ROOT
from tiny import LAUNCH, PART, RESULTS, TABLE, WAIT, Tiny, kill, until

from attention_theory import running

pytestmark = pytest.mark.faults
SNAKEMAKE = (sys.executable, "-m", "snakemake", "--cores", "1")


@pytest.fixture
def tiny(tmp_path):
    return Tiny(tmp_path / "it's a naïve folder", WAIT)


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """A run that has ended."""
    tiny = Tiny(tmp_path_factory.mktemp("ended") / "folder")
    assert tiny.launch().returncode == 0 and tiny.whole()
    return tiny


@pytest.fixture
def finished(tmp_path, ended):
    """A copy of a run that has ended, whose files a test may damage."""
    return Tiny.copy(ended, tmp_path / "it's a naïve folder")


@contextlib.contextmanager
def held(folder):
    """A folder that a run holds: this process stands for a launcher."""
    with contextlib.chdir(folder), running.alone():
        yield


def goes_on(tiny):
    """Without the fault the next run ends as if nothing had been."""
    tiny.fault()
    done = tiny.launch()
    assert done.returncode == 0, done.stderr
    assert tiny.whole()
    return done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_to_the_launcher_alone(tiny, number):
    """As a cluster or `kill` sends it; the job would have slept for a minute."""
    process = tiny.start()
    below = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert said.splitlines()[-1] == "launch: stopped; the same command goes on from here"
    assert not any(each.is_running() for each in below)
    assert not (tiny.folder / PART).exists() and not tiny.half_written()
    assert not list((tiny.folder / ".snakemake" / "locks").glob("*")), "its books are in order"
    if number == signal.SIGINT:
        goes_on(tiny)


def test_interrupt_from_the_keyboard(tiny):
    """A terminal sends it to the whole group."""
    process = tiny.start()
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130 and "goes on from here" in said.splitlines()[-1]
    assert not (tiny.folder / PART).exists() and not tiny.half_written()


def test_job_that_does_not_hear_a_signal_is_killed(tiny):
    tiny.fault("signal.signal(signal.SIGTERM, signal.SIG_IGN); " + WAIT)
    process = tiny.start()
    until(lambda: "SIG_IGN" in (tiny.folder / "fault").read_text() and heard_nothing(process))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=40)
    assert process.returncode == 143 and not (tiny.folder / PART).exists()


def heard_nothing(process):
    """Whether the job has set SIGTERM aside (bit 14 of what it ignores)."""
    for each in psutil.Process(process.pid).children(recursive=True):
        if "step.py" in each.cmdline():
            status = Path("/proc", str(each.pid), "status").read_text()
            return int(re.search(r"SigIgn:\s*(\w+)", status)[1], 16) >> 14 & 1
    return False


def test_killed_group_leaves_stale_locks_that_are_cleared(tiny):
    process = tiny.start()
    kill(process)
    assert list((tiny.folder / ".snakemake" / "locks").iterdir())
    assert tiny.half_written()
    said = goes_on(tiny)
    assert "a run in this folder died; its locks are cleared, and it goes on" in said
    kept = list((tiny.folder / RESULTS / "study" / "logs" / "earlier").iterdir())
    assert [path.read_text() for path in kept] == ["half a table\n"]


@pytest.mark.parametrize("first", [LAUNCH, SNAKEMAKE], ids=["launcher", "snakemake"])
def test_second_run_gets_one_line(tiny, first):
    """The first is not disturbed, not even its half-written file or its log."""
    process = tiny.start(first)
    before = tiny.half_written()
    second = tiny.launch()
    assert second.returncode == 2 and len(second.stderr.splitlines()) == 1, second.stderr
    assert "launch: another run works in this folder" in second.stderr
    assert process.poll() is None and tiny.half_written() == before != []
    kill(process)


def test_a_plain_snakemake_beside_a_launcher_gets_one_line(tiny):
    """Also before the launcher has started its own Snakemake: it may be tidying for minutes."""
    with held(tiny.folder):
        second = tiny.snakemake("--quiet")
        assert second.returncode != 0 and not (tiny.folder / PART).exists()
        lines = [line for line in second.stderr.splitlines() if "another run works" in line]
        assert len(lines) == 1 and f"process {os.getpid()} on " in lines[0], second.stderr
        assert "Traceback" not in second.stderr
    goes_on(tiny)


def test_jobs_that_outlive_their_run_are_not_disturbed(tiny):
    process = tiny.start()
    jobs = psutil.Process(process.pid).children(recursive=True)[1:]  # all but the Snakemake
    for each in psutil.Process(process.pid).children():
        each.kill()
    process.kill()
    process.wait()
    second = tiny.launch()
    assert second.returncode == 2 and len(second.stderr.splitlines()) == 1, second.stderr
    assert "processes of another run are alive in this folder" in second.stderr
    assert str(next(each.pid for each in jobs if "step.py" in each.cmdline())) in second.stderr
    assert tiny.half_written()
    kill(process)


def test_a_failed_job_is_the_last_thing_on_the_screen(tiny):
    tiny.fault("from attention_theory.errors import BadInput; raise BadInput('a bad value')")
    done = tiny.launch()
    log = RESULTS / "study" / "logs" / "part.log"
    lines = done.stderr.splitlines()
    assert done.returncode == 1
    assert lines[-3:] == [
        f"A job failed. The end of its log {log}:",
        "half a table",
        "step: a bad value",
    ]
    goes_on(tiny)
    earlier = list((tiny.folder / log.parent / "earlier").iterdir())
    assert [path.read_text().splitlines()[-1] for path in earlier] == ["step: a bad value"]


def test_a_job_that_the_system_killed(tiny):
    """As the kernel does where memory ends."""
    tiny.fault("os.kill(os.getpid(), signal.SIGKILL)")
    done = tiny.launch()
    assert done.returncode == 1 and "part.log:" in done.stderr.splitlines()[-2]
    assert not (tiny.folder / PART).exists()


def test_keep_incomplete(tiny):
    """What Snakemake is told to keep of a failed job is not taken for its output."""
    tiny.fault("files.write_text(output.with_name('kept.csv'), 'x'); raise OSError('no more')")
    rules = tiny.folder / "Snakefile"
    named = f'table="{PART}"'
    also = f'kept="{PART.with_name("kept.csv")}"'
    rules.write_text(rules.read_text().replace(named, f"{named}, {also}"))
    assert tiny.snakemake("--keep-incomplete").returncode == 1
    kept = tiny.folder / RESULTS / "study" / "kept.csv"
    assert kept.read_text() == "x" and not tiny.half_written()
    tiny.fault("files.write_text(output.with_name('kept.csv'), 'y')")
    assert tiny.launch().returncode == 0
    assert kept.read_text() == "y" and tiny.whole()


def test_times_in_the_future(finished):
    """Of a result and of a file of code: nothing is run again, and nothing fails."""
    later = time.time() + 1e6
    for path in (PART, Path("step.py")):
        os.utime(finished.folder / path, (later, later))
    done = finished.launch()
    assert done.returncode == 0 and "1 file with a time in the future" in done.stderr
    assert "Nothing to be done" in done.stdout + done.stderr
    (finished.folder / PART).unlink()
    goes_on(finished)


def truncate(path):
    os.truncate(path, path.stat().st_size // 2)


def flip(path):
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)


RECORD = RESULTS / "study" / "provenance" / "part.json"


@pytest.mark.parametrize(
    ("damage", "name"), [(truncate, PART), (flip, RECORD)], ids=["table", "record"]
)
def test_damage_between_runs_is_named_and_made_good(finished, damage, name):
    damage(finished.folder / name)
    said = goes_on(finished)
    lines = [line for line in said.splitlines() if "damaged" in line]
    assert len(lines) == 1 and lines[0].startswith(f"{name}: damaged since it was written")


def test_plain_snakemake_refuses_a_damaged_input_by_name(finished):
    flip(finished.folder / PART)
    done = finished.snakemake(str(TABLE))
    assert done.returncode == 1
    assert f"tables: {PART}: damaged: its SHA-256 is not the one in" in done.stdout + done.stderr


def test_a_run_whose_name_is_no_name(tiny):
    for name in ("../elsewhere", "5", "[]"):
        (tiny.folder / "config" / "config.yaml").write_text(f"run: {name}\n")
        done = tiny.launch()
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
        assert "launch: config key run: " in done.stderr


def test_a_set_up_that_was_interrupted_starts_again(tmp_path):
    """And one that runs is not disturbed. A stand-in for pip waits in the place of a download."""
    (tmp_path / "envs").mkdir()
    for name in ("Makefile", "pyproject.toml", "envs/setup.sh", "envs/requirements.lock"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "envs" / "check.py").write_text("")
    python = tmp_path / "python"
    python.write_text(FAKE.format(python=sys.executable))
    python.chmod(0o755)
    command = ["make", "figures", f"PYTHON={python}"]
    environment = {key: value for key, value in os.environ.items() if "MAKE" not in key}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    first = subprocess.Popen(
        command, cwd=tmp_path, env=environment, start_new_session=True, **quiet
    )
    until((tmp_path / ".venv" / "half").exists)
    run = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True}
    second = subprocess.run(command, check=False, **run)
    assert second.returncode != 0 and "another make sets this folder up" in second.stderr
    kill(first)
    assert not list((tmp_path / ".venv").glob("installed-*"))
    third = subprocess.run(command, check=False, **run, input="")
    assert third.returncode == 0, third.stderr
    assert list((tmp_path / ".venv").glob("installed-*")) and "launched" in third.stdout
    with (tmp_path / "pyproject.toml").open("a") as file:
        file.write("# another stamp")
    with held(tmp_path):  # by a run, whose .venv this is
        fourth = subprocess.run(command, check=False, **run, input="")
    assert fourth.returncode != 0 and (tmp_path / ".venv" / "half").exists()
    assert "set-up: a run works in this folder" in fourth.stderr


FAKE = """#!/bin/sh
case "$*" in
    *"-m venv"*)
        again=$([ -e .venv/half ] && echo yes || echo no)
        rm -rf .venv; mkdir -p .venv/bin; cp "$0" .venv/bin/python
        echo $again >.venv/again ;;
    *"-m pip"*)
        touch .venv/half
        if [ "$(cat .venv/again)" = no ]; then sleep 60; fi ;;
    *attention_theory.launch*) echo launched ;;
    *) exec "{python}" "$@" ;;
esac
"""
