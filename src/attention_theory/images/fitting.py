"""Training of one model from one seed: exact, keyed, with the data on the device.

Seeds are trained one after the other: stacked with torch.func and vmap three seeds took 43 ms a
step for the ViT against 3 x 11.7 ms in a loop, 23 against 3 x 7.1 ms for the CNN (batch 64, one
core).
"""

import math
import time
from typing import NamedTuple

import numpy as np
import torch
import torch._dynamo  # noqa: F401  (torch.optim loads it on first use: here it counts as an import)
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, pad

from attention_theory.errors import BadInput
from attention_theory.images import models
from attention_theory.images.permutation import Permutation, pixel_order
from attention_theory.images.settings import Architecture, DataSet, Training
from attention_theory.progress import Progress
from attention_theory.streams import stream

WARM_UP, START, END = 0.3, 1 / 25, 1 / 25e4  # of the steps; of the highest rate; the usual choice
DIVERGED = 100  # times the loss of a guess
EVALUATION_BATCH = 1024  # images; accuracy does not depend on it


class Part(NamedTuple):
    """Images (n, channels, size, size) uint8 and labels (n,) on the device."""

    images: Tensor
    labels: Tensor


class Problem(NamedTuple):
    """A data set on the device, not permuted, and the permutation that every batch goes through."""

    train: Part
    validation: Part
    test: Part
    mean: Tensor
    std: Tensor
    pixels: Tensor
    shape: DataSet


class Fitted(NamedTuple):
    """A trained model, its test accuracy after the last epoch, its snapshots, and the speed."""

    model: nn.Module
    accuracy: float
    snapshots: list[dict[str, np.ndarray]]
    images: int
    seconds: float


def load(data: dict[str, np.ndarray], permutation: Permutation, device: str) -> Problem:
    """Put a prepared data set on the device."""

    def part(name: str) -> Part:
        chosen = (data[key][data[name]] for key in ("images", "labels"))
        return Part(*(torch.from_numpy(array).to(device) for array in chosen))

    images = data["images"]
    return Problem(
        *map(part, ("train", "validation", "test")),
        *(torch.from_numpy(data[key]).view(1, -1, 1, 1).to(device) for key in ("mean", "std")),
        torch.from_numpy(pixel_order(permutation)).to(device),
        DataSet(len(images), images.shape[-1], images.shape[1], data["classes"].item()),
    )


def fit(
    problem: Problem,
    architecture: Architecture,
    training: Training,
    base_seed: int,
    seed: int,
    device: str = "cpu",
    label: str = "training",
) -> Fitted:
    """Train from one seed and look at the test images once, after the last epoch.

    Initial weights, order and shifts come from streams keyed by the seed alone: the settings of a
    seed, original and permuted, are paired. Raises BadInput, naming step, setting and seed, when
    an epoch's mean loss is not finite or above a hundred times that of a guess.
    """
    weights = stream(base_seed, "images.weights", seed)
    model = models.build(architecture, problem.shape, weights).to(device)
    optimizer = torch.optim.AdamW(
        model.parameters(), training.rate, weight_decay=training.weight_decay, fused=True
    )
    per_epoch = len(problem.train.labels) // training.batch
    snapshots = [snapshot(model, problem, architecture, 0)]
    started = time.perf_counter()
    with Progress(label, training.epochs) as progress:
        for epoch in range(training.epochs):
            loss = _epoch(model, optimizer, problem, training, base_seed, seed, epoch)
            if not loss <= DIVERGED * math.log(problem.shape.classes):
                raise BadInput(
                    f"{label}: the loss is {loss:.3g} in epoch {epoch + 1} "
                    f"(by step {(epoch + 1) * per_epoch}, seed {seed}); lower rate"
                )
            progress.advance(f"loss {loss:.3f}")
    seconds = time.perf_counter() - started
    snapshots.append(snapshot(model, problem, architecture, training.epochs))
    images = training.epochs * per_epoch * training.batch
    return Fitted(model, accuracy(model, problem, problem.test), snapshots, images, seconds)


def _epoch(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    problem: Problem,
    training: Training,
    base_seed: int,
    seed: int,
    epoch: int,
) -> float:
    """One pass over the training images, but for those that fill no batch; the mean loss."""
    n = len(problem.train.labels)
    per_epoch = n // training.batch
    rng = stream(base_seed, "images.epoch", seed, epoch)
    order = torch.from_numpy(rng.permutation(n)[: per_epoch * training.batch])
    shifts = torch.from_numpy(rng.integers(0, 2 * training.shift + 1, (len(order), 2)))
    device = problem.train.images.device
    order, shifts = order.to(device), shifts.to(device)
    model.train()
    total = torch.zeros((), device=device)
    batches = zip(order.split(training.batch), shifts.split(training.batch), strict=True)
    for step, (chosen, moves) in enumerate(batches, epoch * per_epoch):
        images = shift(problem.train.images[chosen], moves, training.shift)
        logits = model(permuted(images, problem))
        labels = problem.train.labels[chosen]
        loss = cross_entropy(logits, labels, label_smoothing=training.smoothing)
        optimizer.zero_grad()
        loss.backward()
        for group in optimizer.param_groups:
            group["lr"] = training.rate * one_cycle(step, training.epochs * per_epoch)
        optimizer.step()
        total += loss.detach()
    return total.item() / per_epoch


def one_cycle(step: int, steps: int) -> float:
    """The learning rate of a step, of `steps`, in units of the highest: a pure function.

    Two half cosines: from 1/25 up to 1 at 30 % of the steps, then down to 1/250,000.
    """
    peak = WARM_UP * (steps - 1)
    if step <= peak:
        low, part = START, 1 - (step / peak if peak else 1)
    else:
        low, part = END, (step - peak) / (steps - 1 - peak)
    return low + (1 - low) * (1 + math.cos(math.pi * part)) / 2


def shift(images: Tensor, shifts: Tensor, most: int) -> Tensor:
    """Move each image (batch, channels, size, size) by (row, column) - `most` pixels.

    `shifts` is (batch, 2) in 0 .. 2 `most`; what enters at the border is 0, the background.
    """
    if most == 0:
        return images
    size = images.shape[-1]
    padded = pad(images, (most,) * 4)
    line = torch.arange(size, device=images.device)
    rows, columns = (shifts[:, axis, None] + line for axis in (0, 1))
    index = rows[:, :, None] * padded.shape[-1] + columns[:, None, :]
    index = index.flatten(1)[:, None].expand(-1, images.shape[1], -1)
    return padded.flatten(2).gather(2, index).view_as(images)


def permuted(images: Tensor, problem: Problem) -> Tensor:
    """What a model sees of uint8 images: pixels permuted, then normalised (float32)."""
    shuffled = images.flatten(2)[..., problem.pixels].view_as(images)
    return (shuffled / 255 - problem.mean) / problem.std


@torch.no_grad()
def accuracy(model: nn.Module, problem: Problem, part: Part) -> float:
    """The share of a part's images that the model labels right."""
    model.eval()
    right = 0
    batches = (values.split(EVALUATION_BATCH) for values in part)
    for images, labels in zip(*batches, strict=True):
        right += (model(permuted(images, problem)).argmax(1) == labels).sum().item()
    return right / len(part.labels)


def snapshot(
    model: nn.Module, problem: Problem, architecture: Architecture, epoch: int
) -> dict[str, np.ndarray]:
    """What a model with tokens knows of space: positions (tokens, width) and attention_matrices
    (layers, tokens, tokens), averaged over heads and validation images.

    Tokens are those of the permuted images. A model without tokens leaves the epoch alone.
    """
    found = {"epoch": np.asarray(epoch)}
    if architecture.has_tokens:
        images = permuted(problem.validation.images[:EVALUATION_BATCH], problem)
        found["positions"] = model.positions.detach().cpu().numpy().copy()
        found["attention_matrices"] = model.attention_matrices(images).mean(1).cpu().numpy()
    return found
