"""Pretraining on one half of the classes and fine-tuning on the other, in stacks (experiment 4)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attention_theory.errors import BadInput, require
from attention_theory.images import halves, schedule
from attention_theory.images.augment import crop
from attention_theory.images.halves import Draw
from attention_theory.images.problem import Part, Problem, permuted
from attention_theory.images.stacked import Adam, Stack
from attention_theory.images.transfer_settings import Finetuning, Pretraining

EVALUATION_BATCH = 1024  # images; accuracy does not depend on it


class Run(NamedTuple):
    """One fine-tuning: initial weights and which are trained (parameters,), its rate, its data."""

    weights: Tensor
    trained: Tensor
    rate: float
    images: Tensor
    labels: Tensor


class Tuned(NamedTuple):
    """What a run ends with: weights, training loss at these weights, and the steps taken."""

    weights: Tensor
    loss: float
    steps: int


class Pretrained(NamedTuple):
    """Weights (draws, parameters) and each model's mean loss in the last tenth of the steps."""

    weights: Tensor
    losses: list[float]


def pretrain(
    stack: Stack, problem: Problem, draws: list[Draw], settings: Pretraining
) -> Pretrained:
    """Train a model a draw on its half of the classes.

    Raises BadInput if a loss is not finite.
    """
    labels = problem.train.labels.cpu().numpy()
    shape = (settings.steps, settings.batch)
    places = np.stack([halves.batches(draw, labels, *shape) for draw in draws], axis=1)
    right = np.stack(
        [halves.renamed(labels[places[:, i]], draw.pretrained) for i, draw in enumerate(draws)],
        axis=1,
    )
    moves = 2 * settings.shift + 1
    shifts = np.stack(
        [draw.stream("shifts").integers(0, moves, (*shape, 2)) for draw in draws], axis=1
    )
    adam = Adam(stack.initial(draw.stream("pretraining") for draw in draws), settings.weight_decay)
    last, total = max(1, settings.steps // 10), torch.zeros(len(draws), device=problem.device)
    for step in range(settings.steps):
        images = _chosen(problem.train, places[step], problem.device)
        moved = torch.from_numpy(shifts[step].reshape(-1, 2)).to(problem.device)
        images = permuted(crop(images, moved, settings.shift), problem)
        images = images.unflatten(0, places[step].shape)
        wanted = torch.from_numpy(right[step]).to(problem.device)
        losses, gradients = stack.gradients(adam.weights, images, wanted, settings.smoothing)
        _check(losses, f"pretraining, step {step}", "peak")
        adam.step(gradients, settings.peak * schedule.one_cycle(step, settings.steps))
        total += losses * (step >= settings.steps - last)
    return Pretrained(adam.weights, (total / last).tolist())


def _chosen(part: Part, places: np.ndarray, device: str) -> Tensor:
    """The images at some places, one after the other, on the device."""
    index = torch.from_numpy(places.reshape(-1)).to(part.images.device)
    return part.images[index].to(device)


def samples(problem: Problem, draw: Draw, most: int) -> Part:
    """The samples of a draw as a model sees them, most x classes: the first k x classes are k a
    class. Labels are those within the half."""
    labels = problem.train.labels.cpu().numpy()
    places = halves.samples(draw, labels, most).reshape(-1)
    images = permuted(_chosen(problem.train, places, problem.device), problem)
    own = torch.from_numpy(halves.renamed(labels[places], draw.other))
    return Part(images, own.to(problem.device))


def finetune(stack: Stack, runs: list[Run], settings: Finetuning) -> list[Tuned]:
    """Run Adam on all of a run's samples at each step until its loss is below the level.

    A run leaves the stack at the first state whose loss is, or after `most` steps; the others go
    on. Raises BadInput if a loss is not finite.
    """
    adam = Adam(torch.stack([run.weights for run in runs]))
    rates = torch.stack([run.rate * run.trained for run in runs])
    images, labels = (torch.stack([getattr(run, name) for run in runs]) for name in Part._fields)
    left = torch.arange(len(runs), device=rates.device)  # the runs that are still in the stack
    ended: dict[int, Tuned] = {}
    for step in range(settings.most + 1):
        losses, gradients = stack.gradients(adam.weights, images, labels)
        _check(losses, f"fine-tuning, step {step}", "rates")
        go = (losses >= settings.level) & (step < settings.most)
        for row in (~go).nonzero()[:, 0].tolist():
            ended[int(left[row])] = Tuned(adam.weights[row].clone(), losses[row].item(), step)
        if len(ended) == len(runs):
            break
        if not go.all():
            adam.keep(go)
            left, rates, images, labels, gradients = (
                x[go] for x in (left, rates, images, labels, gradients)
            )
        adam.step(gradients, rates)
    return [ended[number] for number in range(len(runs))]


def _check(losses: Tensor, place: str, key: str) -> None:
    if not losses.isfinite().all():
        raise BadInput(f"{place}: a loss is not finite; lower {key}")


def images_of(problem: Problem, part: Part, half: np.ndarray) -> Tensor:
    """Images of a part that are of some classes, as a model sees them; a batch of them at most,
    evenly spread: a folder lists them class by class."""
    places = _of(part, half)
    most = min(len(places), EVALUATION_BATCH)
    spread = places[np.arange(most) * len(places) // most]
    return permuted(_chosen(part, spread, problem.device), problem)


def _of(part: Part, half: np.ndarray) -> np.ndarray:
    """The places of a part's images of some classes. Raises BadInput if there are none."""
    places = halves.of(part.labels.cpu().numpy(), half)
    allowed = f"have validation and test images of the classes {half.tolist()}"
    require(len(places) > 0, "data", f"{len(part.labels)} images", allowed)
    return places


@torch.no_grad()
def accuracy(stack: Stack, row: Tensor, problem: Problem, part: Part, half: np.ndarray) -> float:
    """The share of the images of a part's half that a model labels right."""
    labels = part.labels.cpu().numpy()
    places, model, right = _of(part, half), stack.model(row), 0
    for own in np.array_split(places, -(-len(places) // EVALUATION_BATCH)):
        logits = model(permuted(_chosen(part, own, problem.device), problem))
        wanted = torch.from_numpy(halves.renamed(labels[own], half)).to(problem.device)
        right += (logits.argmax(1) == wanted).sum().item()
    return right / len(places)


def chunks(runs: list, size: int) -> Iterator[list]:
    """Lists of at most `size` runs, in order."""
    for start in range(0, len(runs), size):
        yield runs[start : start + size]
