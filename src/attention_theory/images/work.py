"""What the study's steps compute, counted from their options (for the plan of a run's cost).

A model's arithmetic is that of images/describe.py, by torch's counter on shapes alone. A class of
a user's own is not counted, for that would run it; nor is a folder of images, of unknown number.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache
from math import log2
from pathlib import Path
from typing import NamedTuple

from attention_theory import own
from attention_theory.images.datasets import KNOWN
from attention_theory.images.settings import Architecture, DataSet, Split
from attention_theory.images.transfer_settings import POSITIONS
from attention_theory.planning import CALLS, Job, Options, Work

DATASETS = {name: known.data for name, known in KNOWN.items() if known.data}
RECORDED = dict.fromkeys(KNOWN, "data") | {"measuring": "similarity"}
TESTED = {"fashion_mnist": 10_000, "cifar10": 10_000, "cifar100": 10_000, "svhn": 26_032}


class Counted(NamedTuple):
    """A model: operations of training on an image, numbers trained, numbers kept of an image."""

    operations: float
    parameters: int
    kept: float


def data(o: Options, _: Sequence[Job]) -> Work | None:
    """The prepared images, a byte a number, with labels and splits."""
    name = Path(o.text("output")).stem
    if name not in DATASETS:
        return None
    shape = DATASETS[name]
    images = shape.images + TESTED.get(name, 0)
    size = images * (shape.channels * shape.size**2 + 16)
    return Work(20 * size, memory=4 * size, disk=size + 5000)


def training(o: Options, jobs: Sequence[Job]) -> Work | None:
    """Every epoch of every seed; weights and snapshots; two checkpoints of one seed at a time."""
    name, architecture = Path(o.text("data")).stem, _group(Architecture, o)
    if name not in DATASETS or own.is_own(architecture.model) or own.is_own(architecture.attention):
        return None
    shape, seeds, epochs = DATASETS[name], o.number("seeds"), o.number("epochs")
    model, batch = _counted(architecture, shape), o.number("batch")
    images = _images(name, jobs)
    steps = epochs * (images // batch)
    tokens = architecture.tokens(shape.size)
    states = 3 + int(log2(epochs)) if tokens else 2
    snapshots = 4 * states * (tokens * architecture.width + architecture.layers * tokens**2)
    weights = 4 * model.parameters
    held = shape.images * shape.channels * shape.size**2 + 8 * batch * model.kept + 4 * weights
    return Work(
        seeds * steps * (batch * model.operations + CALLS),
        memory=held,
        disk=seeds * (weights + snapshots + 4000),
        scratch=2 * (3 * weights + snapshots) if o.number("checkpoint-every") else 0.0,
    )


def transfer(o: Options, jobs: Sequence[Job]) -> Work | None:
    """Pretraining of every draw, and fine-tuning of every arm, as many steps as it may take."""
    name = Path(o.text("data")).stem
    if name not in DATASETS:
        return None
    shape = DATASETS[name]
    half = shape._replace(classes=shape.classes // 2)
    draws, tuned = o.number("draws"), o.number("tuning-draws")
    if not draws:
        return Work(0.0)
    runs = len(POSITIONS) * (len(o.words("rates")) * tuned + draws)
    operations = kept = 0.0
    for attention in o.words("attention"):
        model = _counted(_group(Architecture, o, model="vit", attention=attention), half)
        pretrained = (draws + tuned) * o.number("steps") * o.number("batch")
        seen = sum(runs * o.number("most") * k * half.classes for k in o.numbers("samples"))
        operations += (pretrained + seen) * model.operations
        kept = max(kept, model.kept)
    stacks = len(o.words("attention")) * (o.number("steps") + o.number("most"))
    return Work(operations + stacks * CALLS, 8 * o.number("at-once") * kept)


def _images(dataset: str, jobs: Sequence[Job]) -> int:
    """The number of training images, by the options of the data set's own job."""
    for job in jobs:
        if job.kind == ("images", "data") and Path(job.options.text("output")).stem == dataset:
            return _group(Split, job.options).sizes(DATASETS[dataset].images)[0]
    return DATASETS[dataset].images


def _group(group: type, o: Options, **given: str) -> Split | Architecture:
    """The settings of one group that a command line holds."""
    named = {field.name: field.name.replace("_", "-") for field in fields(group)}
    found = {
        field.name: field.type(o.text(named[field.name]))
        for field in fields(group)
        if named[field.name] in o and field.name not in given
    }
    return group(**found, **given)


@cache
def _counted(architecture: Architecture, shape: DataSet) -> Counted:
    from attention_theory.images import describe, models
    from attention_theory.streams import stream

    model = models.build(architecture, shape, stream(0, "images.work"))
    kept = [0]  # by the modules that have no parts
    for module in model.modules():
        if not list(module.children()):
            module.register_forward_hook(lambda _m, _i, out: kept.append(out.numel()))
    operations = describe.training_flop(model, shape)
    scores = architecture.heads * architecture.layers * architecture.tokens(shape.size) ** 2
    return Counted(operations, models.parameters(model), sum(kept) / describe.BATCH + scores)


STEPS: dict[str, Callable[[Options, Sequence[Job]], Work | None]] = {
    "data": data,
    "training": training,
    "transfer": transfer,
}
