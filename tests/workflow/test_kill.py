"""A workflow that is killed goes on from its checkpoints, although its outputs are gone."""

import os
import signal
import subprocess
import sys
import time

from checkout import OUTSIDE, SMOKE, Checkout

LONG = """
images:
  training: { epochs: 30 }
  computation: { checkpoint_every: 1 }
"""
TABLE = SMOKE / "images" / "training" / "digits-vit-patch.csv"


def test_a_killed_training_ends_with_the_same_bytes(tmp_path):
    checkout = Checkout(tmp_path)
    (tmp_path / "long.yaml").write_text(LONG)
    command = ["long.yaml", "--cores", 1, str(TABLE)]
    words = [sys.executable, "-m", "snakemake", "--configfile", "config/smoke.yaml"]
    images = tmp_path / SMOKE / "images"
    with subprocess.Popen(
        [*words, *map(str, command)],
        cwd=tmp_path,
        env=OUTSIDE,
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    ) as process:
        while process.poll() is None and not list(images.glob("checkpoints/*/seed1/epoch-*")):
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / TABLE).exists()

    assert checkout.snakemake(*command, "--unlock").returncode == 0
    done = checkout.snakemake(*command)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "resumed" in done.stdout + done.stderr
    assert not (images / "checkpoints" / "digits-vit-patch").exists()
    results = {path: path.read_bytes() for path in written(images)}
    assert len(results) == 5

    done = checkout.snakemake(*command, "--forcerun", "images_training_patch")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "resumed" not in done.stdout + done.stderr
    assert {path: path.read_bytes() for path in written(images)} == results


def written(images):
    """The table, the weights and the snapshots of the setting."""
    folders = ("training", "models", "snapshots")
    return [path for name in folders for path in images.glob(f"{name}/digits-vit-patch*")]
