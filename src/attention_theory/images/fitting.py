"""Training and evaluation of one model from one seed: exact, keyed, with the data on the device.

Seeds are trained one after the other, not stacked as one model: docs/images.md says why.
"""

import math
import sys
import time
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
import torch
import torch._dynamo  # noqa: F401  (torch.optim loads it on first use: here it counts as an import)
from torch import nn
from torch.nn.functional import cross_entropy

from attention_theory import checkpoint
from attention_theory.checkpoint import Checkpoints
from attention_theory.errors import BadInput
from attention_theory.images import models
from attention_theory.images.engine import Engine
from attention_theory.images.parallel import ALONE, Team
from attention_theory.images.problem import Part, Problem, permuted
from attention_theory.images.settings import Architecture, Computation, Training
from attention_theory.images.snapshots import Snapshots
from attention_theory.progress import Progress
from attention_theory.streams import stream

DIVERGED = 100  # times the loss of a guess
EVALUATION_BATCH = 1024  # images; accuracy does not depend on it


class Evaluation(NamedTuple):
    """The share of images that a model labels right, and the mean cross-entropy, unsmoothed."""

    accuracy: float
    loss: float


class Fitted(NamedTuple):
    """A trained model, its test accuracy and loss after the last epoch, its snapshots, and what
    this process trained: images and seconds."""

    model: nn.Module
    accuracy: float
    loss: float
    snapshots: list[dict[str, np.ndarray]]
    images: int
    seconds: float


def fit(
    problem: Problem,
    architecture: Architecture,
    training: Training,
    base_seed: int,
    seed: int,
    label: str = "training",
    computation: Computation = Computation(),  # noqa: B008 - frozen
    checkpoints: Checkpoints | None = None,
    team: Team = ALONE,
) -> Fitted:
    """Train from one seed and look at the test images once, after the last epoch.

    Initial weights, order and shifts come from streams keyed by the seed alone: the settings of a
    seed, original and permuted, are paired. With checkpoints it goes on from the newest and ends
    with the same bits as without a break. Raises BadInput, naming step, setting and seed, when an
    epoch's mean loss, or the test loss, is not finite or above a hundred times that of a guess, or
    when weights or optimiser are not finite.
    """
    weights = stream(base_seed, "images.weights", seed)
    model = models.build(architecture, problem.shape, weights).to(problem.device)
    engine = Engine(model, problem, training, computation, base_seed, seed, team)
    snapshots = Snapshots(model, problem, architecture, training.epochs)
    snapshots.take(0)
    if checkpoints and (saved := checkpoints.load(aloud=team.first)):
        engine.restore(saved[0], snapshots.restore(saved[1]))
    started, trained = time.perf_counter(), training.epochs - engine.epoch
    _train(engine, training.epochs, label, checkpoints, snapshots)
    seconds = time.perf_counter() - started
    images = trained * engine.per_epoch * training.batch
    found = evaluate(model, problem, problem.test)
    _check_loss(found.loss, engine, label, checkpoints)
    return Fitted(model, *found, snapshots.taken, images, seconds)


def _train(
    engine: Engine,
    epochs: int,
    label: str,
    checkpoints: Checkpoints | None,
    snapshots: Snapshots,
) -> None:
    """Train up to `epochs`, with snapshots and checkpoints on the way and at the end."""
    every, first = engine.computation.checkpoint_every, engine.team.first
    with Progress(label, epochs) if first else nullcontext() as progress:
        if first and engine.epoch:
            print(f"{label}: resumed after epoch {engine.epoch} of {epochs}", file=sys.stderr)
            progress.advance(steps=engine.epoch)
        while engine.epoch < epochs:
            loss = engine.train_epoch()
            _check_loss(loss, engine, label, checkpoints)
            snapshots.take(engine.epoch)
            due = every and (engine.epoch % every == 0 or engine.epoch == epochs)
            if first and checkpoints and due:
                checkpoints.save(engine.epoch, engine.tensors() | snapshots.tensors())
            if first:
                progress.advance(f"loss {loss:.3f}")


def _check_loss(loss: float, engine: Engine, label: str, checkpoints: Checkpoints | None) -> None:
    """Raise BadInput unless a mean loss and a state, after some epochs, are ones to go on from."""
    if not loss <= DIVERGED * math.log(engine.problem.shape.classes):
        fault = f"the loss is {loss:.3g}"
    elif name := checkpoint.not_finite(engine.tensors()):
        fault = f"{name} is not finite"
    else:
        return
    # Another rate is another training: its checkpoints, of earlier seeds too, would be refused.
    saved = checkpoints and any(checkpoints.folder.parent.glob("*/*.checkpoint"))
    remove = f" and remove {checkpoints.folder.parent}" if saved else ""
    raise BadInput(
        f"{label}: {fault} in epoch {engine.epoch} (by step {engine.epoch * engine.per_epoch}, "
        f"seed {engine.key[1]}); lower rate{remove}"
    )


@torch.no_grad()
def evaluate(
    model: nn.Module, problem: Problem, part: Part, batch: int = EVALUATION_BATCH
) -> Evaluation:
    """Accuracy and loss of a model on a part: sums over images, in float64, whatever the batch."""
    model.eval()
    right, loss = 0, 0.0
    batches = (values.split(batch) for values in part)
    for images, labels in zip(*batches, strict=True):
        logits = model(permuted(images.to(problem.device), problem))
        right += (logits.argmax(1) == labels).sum().item()
        loss += cross_entropy(logits.double(), labels, reduction="sum").item()
    return Evaluation(right / len(part.labels), loss / len(part.labels))
