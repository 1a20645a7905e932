"""Full disks, read-only and foreign ones, little memory, and a kill between write and rename."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import OUTSIDE, ROOT
from tiny import PART, RESULTS, Tiny

from attention_theory import tidying

pytestmark = pytest.mark.faults
HERE = Path(__file__).parent
ENVIRONMENT = OUTSIDE | {"PYTHONPATH": str(ROOT / "src")}


def mounted(mount: str, *command: object, cwd: Path | None = None) -> subprocess.CompletedProcess:
    """Run a command where a mount was made that nobody else sees, and that ends with it."""
    words = shlex.join(map(str, command))
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", f"{mount} && exec {words}"], cwd=cwd,
        env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip


MAY_MOUNT = (
    shutil.which("unshare") is not None
    and mounted("mount -t tmpfs -o size=64k tmpfs /mnt", "true").returncode == 0
)
mounting = pytest.mark.skipif(not MAY_MOUNT, reason="this user may not mount a disk")


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """What crowded.py says: on a real disk of 64 KiB where one may be mounted."""
    folder = tmp_path_factory.mktemp("crowded")
    if MAY_MOUNT:
        mount = f"mount -t tmpfs -o size=64k tmpfs {folder}"
        done = mounted(mount, sys.executable, HERE / "crowded.py", folder, "small")
    else:
        done = subprocess.run(
            [sys.executable, HERE / "crowded.py", folder, "limit"], env=ENVIRONMENT,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "name",
    ["table.csv", "arrays.npz", "record.json", "figure.pdf", "model.safetensors"],
)
def test_full_disk(crowded, name):
    """The file is named, the one that was there before is whole, and no half lies beside it."""
    said, left = crowded["outcomes"][name]
    assert f"{name}: not written (" in said and len(said.splitlines()) == 1
    assert left == {name: "whole"}


def test_full_disk_while_a_checkpoint_is_saved(crowded):
    said, left = crowded["outcomes"]["epoch-000002.checkpoint"]
    assert "epoch-000002.checkpoint: not written (" in said and len(said.splitlines()) == 1
    assert left == {"epoch-000002.checkpoint": "attention-theory checkpoint\n"}


def test_tensor_that_does_not_fit_in_memory(crowded):
    """Under RLIMIT_AS, in torch, which raises no MemoryError."""
    status, said = crowded["memory"]
    assert status == 2 and said.startswith("crowded: out of memory (")
    assert len(said.splitlines()) == 1


def test_array_that_does_not_fit_in_memory(tmp_path):
    done = step(
        Tiny(tmp_path / "tiny", "import resource, numpy; "
             "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31)); numpy.ones(2**29)")
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("step: Unable to allocate 4.00 GiB")
    assert len(done.stderr.splitlines()) == 2


def step(tiny: Tiny) -> subprocess.CompletedProcess:
    """The tiny workflow's job, without the workflow."""
    record = RESULTS / "study" / "provenance" / "part.json"
    command = ["step.py", "--output", str(PART), "--provenance", str(record)]
    return subprocess.run(
        [sys.executable, *command], cwd=tiny.folder, env=ENVIRONMENT, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


def test_kill_between_write_and_rename(tmp_path):
    """The half-written file stays, by a name that nobody reads, until the next run removes it."""
    tiny = Tiny(tmp_path / "tiny", "os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)")
    assert step(tiny).returncode == -signal.SIGKILL
    assert tiny.half_written() and not (tiny.folder / PART).exists()
    (tiny.folder / RESULTS / ".notes.txt").write_text("a user's own")
    alive = tiny.folder / RESULTS / f".table.{os.getpid()}.csv"
    alive.write_text("being written")
    tidying.tidy(tiny.folder / RESULTS)
    assert {path.name for path in tiny.half_written()} == {".notes.txt", alive.name}


@mounting
def test_read_only_folder(tmp_path):
    """One line, before any work; as root too, whom permissions would not stop."""
    tiny = Tiny(tmp_path / "tiny")
    here = shlex.quote(str(tiny.folder))
    read_only = f"mount --bind {here} {here} && mount -o remount,ro,bind {here} && cd {here}"
    done = mounted(read_only, sys.executable, "-m", "attention_theory.launch")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "Read-only file system" in done.stderr and "launch: " in done.stderr


@mounting
def test_read_only_results(tmp_path):
    """Found by the check of the configuration, before any job."""
    results = tmp_path / "results" / "laptop"
    results.mkdir(parents=True)
    program = (
        "import sys, yaml; from pathlib import Path; from attention_theory import config\n"
        "try: config.check(config.read(Path(sys.argv[1])), Path(sys.argv[2]))\n"
        "except config.BadInput as error: print(error)"
    )
    configuration, schema = ROOT / "config" / "config.yaml", ROOT / "config" / "schema.yaml"
    mount = f"mount -t tmpfs -o ro tmpfs {results} && cd {tmp_path}"
    done = mounted(mount, sys.executable, "-c", program, configuration, schema)
    assert done.stdout.startswith(f"config key run: cannot write to {results}"), done


@mounting
def test_results_and_data_on_other_disks(tmp_path):
    """Files are renamed within their own folder, never from one disk to another."""
    tiny = Tiny(tmp_path / "tiny")
    other = tmp_path / "other"
    other.mkdir()
    shutil.move(tiny.folder / "results", other / "results")
    (tiny.folder / "results").symlink_to(other / "results")
    mount = (
        f"mkdir {other}/kept && cp -r {other}/results {other}/kept && mount -t tmpfs tmpfs "
        f"{other}/results && cp -r {other}/kept/results/. {other}/results && cd {tiny.folder}"
    )
    check = "cat results/tiny/study/part.csv && exec 0</dev/null"
    launch = f"GPUS=0 CORES=1 {shlex.quote(sys.executable)} -m attention_theory.launch"
    done = mounted(mount, "sh", "-c", f"{launch} && {launch} && {check}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("seed,value\n0,1.5\n")
    assert "Nothing to be done" in done.stdout + done.stderr
