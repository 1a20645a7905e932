"""Killed at any point and started again, a training ends with the bits of an undisturbed one."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import killing
import numpy as np
import pytest

from attention_theory import code
from attention_theory.errors import BadInput
from attention_theory.images import training

OUTPUTS = "table.csv", "models", "snapshots"


def written(folder) -> dict[str, bytes]:
    """Every result by its path."""
    paths = [path for name in OUTPUTS for path in sorted(folder.glob(f"{name}/**/*"))]
    paths += [folder / "table.csv"]
    return {str(p.relative_to(folder)): p.read_bytes() for p in paths if p.name[0] != "."}


def as_snakemake_does(folder) -> None:
    """Remove the outputs of a job that was cut off."""
    for name in OUTPUTS:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, prepared):
    folder = tmp_path_factory.mktemp("undisturbed")
    killing.train(folder, prepared, every=0)
    return written(folder)


def test_checkpoints_change_nothing_and_go_when_the_outputs_are_whole(
    undisturbed, prepared, tmp_path
):
    killing.train(tmp_path, prepared)
    assert written(tmp_path) == undisturbed
    assert not (tmp_path / "checkpoints").exists()


@pytest.mark.parametrize("run", range(4))
def test_killed_again_and_again(undisturbed, prepared, tmp_path, run):
    """At steps, in saves and between outputs, as drawn."""
    rng, deaths = np.random.default_rng(run), 0
    while deaths < 4:
        place = killing.PLACES[rng.integers(len(killing.PLACES))]
        most = 40 if place == "step" else 8
        if not killing.killed(place, int(rng.integers(most)), tmp_path, prepared):
            break
        deaths += 1
        as_snakemake_does(tmp_path)
    else:
        killing.train(tmp_path, prepared)
    assert deaths > 0
    assert written(tmp_path) == undisturbed
    assert not (tmp_path / "checkpoints").exists()


@pytest.mark.parametrize("place", killing.PLACES[1:])
def test_killed_in_every_save(undisturbed, prepared, tmp_path, place):
    """Each process gets one turn further than the one before, so that each turn is a death once."""
    turn = 0
    while killing.killed(place, turn, tmp_path, prepared):
        as_snakemake_does(tmp_path)
        turn += 1
    assert turn > 1
    as_snakemake_does(tmp_path)
    killing.train(tmp_path, prepared)
    assert written(tmp_path) == undisturbed


def test_a_damaged_newest_checkpoint_costs_an_epoch_and_no_bit(
    undisturbed, prepared, tmp_path, capsys
):
    assert killing.killed("step", 18, tmp_path, prepared)
    newest = sorted(tmp_path.glob("checkpoints/seed0/*.checkpoint"))[-1]
    assert newest.name == "epoch-000003.checkpoint"
    newest.write_bytes(newest.read_bytes()[:-9])
    killing.train(tmp_path, prepared)
    assert f"{newest}: damaged checkpoint" in capsys.readouterr().err
    assert written(tmp_path) == undisturbed


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rate": 3e-3}, "schedule is"),
        ({"weight_decay": 0.02}, "training.weight_decay is 0.01 there and 0.02 here"),
        ({"epochs": 6}, "schedule is"),
    ],
)
def test_a_changed_training_is_refused(prepared, tmp_path, change, words):
    assert killing.killed("step", 8, tmp_path, prepared)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(BadInput, match=f"a checkpoint of another training: {words}"):
        killing.train(tmp_path, prepared, replace(killing.TRAINING, **change))
    assert sorted(tmp_path.rglob("*")) == before


def test_other_sources_or_packages_are_refused(prepared, tmp_path, monkeypatch):
    """They may change the last digits, or all: what is named is the file, or the package."""
    assert killing.killed("step", 8, tmp_path, prepared)
    engine = "attention_theory/images/engine.py"
    there = training._sources()
    assert there.keys() == {
        str(p.relative_to(code.SOURCE)) for p in code.closure("images.training")
    }
    with monkeypatch.context() as changed:
        changed.setattr(training, "_sources", lambda: there | {engine: "edited"})
        words = f"source.{engine} is '{there[engine]}' there and 'edited' here"
        with pytest.raises(BadInput, match=f"a checkpoint of another training: {words}"):
            killing.train(tmp_path, prepared)
    version = training.metadata.version
    for name in ("numpy", "torch", "torchvision"):
        with monkeypatch.context() as changed:
            changed.setattr(
                training.metadata, "version", lambda p, n=name: "0" if p == n else version(p)
            )
            words = f"another training: arithmetic.{name} is '.*' there and '0' here"
            with pytest.raises(BadInput, match=words):
                killing.train(tmp_path, prepared)


COMMAND = (
    "--setting tiny --model vit --attention self --patch 2 --width 8 --layers 1 --heads 2 --mlp 8 "
    "--position-std .02 --epochs 60 --batch 64 --rate .002 --weight-decay .01 --smoothing .1 "
    "--shift 1 --seeds 1 --base-seed 0 --table table.csv --models models --snapshots snapshots "
    "--checkpoint-every 1 --checkpoints checkpoints"
)


def test_the_command_killed_from_outside(prepared, tmp_path):
    """kill -9 at whatever it is doing, once it has saved something; then the same command."""
    words = [sys.executable, "-m", "attention_theory.images.training", *COMMAND.split()]
    words += ["--data", prepared / "digits.npz", "--permutation", prepared / "patch.npz"]
    environment = os.environ | {"PYTHONPATH": str(code.SOURCE)}
    (tmp_path / "alone").mkdir()
    (tmp_path / "killed").mkdir()
    subprocess.run(words, cwd=tmp_path / "alone", env=environment, check=True)
    folder = tmp_path / "killed"
    with subprocess.Popen(words, cwd=folder, env=environment) as process:
        while process.poll() is None and not list(folder.glob("checkpoints/*/epoch-*")):
            time.sleep(0.01)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    as_snakemake_does(folder)
    subprocess.run(words, cwd=folder, env=environment, check=True)
    assert written(folder) == written(tmp_path / "alone")


def test_a_checkpoint_of_a_later_seed_is_refused_before_the_first_is_trained(prepared, tmp_path):
    foreign = tmp_path / "checkpoints" / "seed1" / "epoch-000001.checkpoint"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("a note")
    with pytest.raises(BadInput, match="seed1/epoch-000001.checkpoint"):
        killing.train(tmp_path, prepared)
    assert not (tmp_path / "models").exists() and foreign.read_text() == "a note"
