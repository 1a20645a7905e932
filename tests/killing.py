"""Trainings in processes of their own that kill themselves where a test says: nothing cleans up."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path

from attention_theory.images.settings import Architecture, Computation, Training

SERVER = multiprocessing.get_context("forkserver")  # imports once; each fork is a new process
SERVER.set_forkserver_preload(["attention_theory.images.fitting", "torch._dynamo"])

VIT = Architecture("vit", "self", patch=2, width=8, layers=1, heads=2, mlp=8, position_std=0.02)
TRAINING = Training(epochs=5, batch=64, rate=2e-3, weight_decay=0.01, smoothing=0.1, shift=1)
SEEDS = 2

# The end of every write is a rename; a checkpoint is before it forced to the disk, and after it the
# folder is, then older checkpoints go.
PLACES = ("step", "force", "rename", "renamed", "unlink")


def train(folder: Path, prepared: Path, training: Training = TRAINING, every: int = 1) -> None:
    """The training step, in this process: its outputs below `folder`."""
    from attention_theory.images import training as step

    step.main(
        setting="tiny",
        data=prepared / "digits.npz",
        permutation=prepared / "patch.npz",
        architecture=VIT,
        training=training,
        seeds=SEEDS,
        base_seed=0,
        table=folder / "table.csv",
        models=folder / "models",
        snapshots=folder / "snapshots",
        computation=Computation(checkpoint_every=every),
        checkpoints=folder / "checkpoints",
    )


def killed(place: str, count: int, *arguments: object) -> bool:
    """Train in a new process that SIGKILLs itself at a place's `count`-th turn; False: it ended
    before."""
    process = SERVER.Process(target=_train, args=(place, count, *arguments))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def _train(place: str, count: int, *arguments: object) -> None:
    from attention_theory import checkpoint
    from attention_theory.images.engine import Engine

    owner, name = {
        "step": (Engine, "_step"),
        "force": (os, "fsync"),
        "rename": (os, "replace"),
        "renamed": (checkpoint, "_force_names"),
        "unlink": (os, "unlink"),
    }[place]
    setattr(owner, name, _deadly(getattr(owner, name), count))
    train(*arguments)


def _deadly(function: Callable, count: int) -> Callable:
    left = [count]

    def call(*arguments: object, **options: object) -> object:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)

    return call
