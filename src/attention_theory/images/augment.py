"""Augmentation of whole chunks of images on the device: random crop, flip, AutoAugment, in order.

An epoch's images are augmented in chunks of about 1,024, whole batches each. What happens to an
image is drawn from streams keyed by (base seed, seed, epoch) and (…, chunk): nothing has to be
restored on a resume, and nothing depends on the number of processes.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from attention_theory.images.autoaugment import Policy
from attention_theory.images.problem import Problem
from attention_theory.images.procedures import AUTOAUGMENT
from attention_theory.images.settings import Training
from attention_theory.streams import stream

CHUNK = 1024  # images, about


class Draws(NamedTuple):
    """What happens to n images: shifts (n, 2) in 0 .. 2 `shift`; and where there is AutoAugment
    flips (n,) and operations (n, 2)."""

    shifts: np.ndarray
    flips: np.ndarray | None = None
    operations: np.ndarray | None = None

    def of(self, places: np.ndarray) -> "Draws":
        """The draws of the images at some places."""
        return Draws(*(None if values is None else values[places] for values in self))


class Augmentation:
    """The augmentation of the training images of a problem."""

    def __init__(self, training: Training, problem: Problem) -> None:
        self.shift, self.flip, self.policy = training.shift, False, None
        if training.augmentation == "autoaugment":
            self.flip, name = AUTOAUGMENT[problem.name]
            self.policy = Policy(name, problem.shape.size, problem.device)

    def draw(self, shifts: np.ndarray, *key: int) -> Draws:
        """Draw, for a chunk of images that are shifted so, the rest: from (base seed, *index)."""
        if self.policy is None:
            return Draws(shifts)
        rng = stream(key[0], "images.autoaugment", *key[1:])
        flips = rng.integers(2, size=len(shifts)) * self.flip
        return Draws(shifts, flips, self.policy.draw(rng, len(shifts)))

    def apply(self, images: Tensor, draws: Draws) -> Tensor:
        """Augmented images, (n, channels, size, size) uint8."""
        shifts, flips = (
            None if values is None else torch.from_numpy(values).to(images.device)
            for values in (draws.shifts, draws.flips)
        )
        images = crop(images, shifts, self.shift, flips)
        return images if self.policy is None else self.policy.apply(images, draws.operations)


def chunk_size(batch: int) -> int:
    """The images of a chunk: as many whole batches as 1,024 images hold, but one at least."""
    return batch * max(1, CHUNK // batch)


def crop(images: Tensor, shifts: Tensor, most: int, flips: Tensor | None = None) -> Tensor:
    """Move each image (n, channels, size, size) by (row, column) - `most` pixels, then mirror it.

    `shifts` is (n, 2) in 0 .. 2 `most`: the corner of a crop from the image padded by `most`; what
    enters at the border is 0. Where `flips` (n,) is not 0, left and right change places.
    """
    if most == 0 and flips is None:
        return images
    size = images.shape[-1]
    padded = pad(images, (most,) * 4)
    line = torch.arange(size, device=images.device)
    rows = shifts[:, 0, None] + line
    if flips is not None:
        line = torch.where(flips[:, None] != 0, line.flip(0), line)
    columns = shifts[:, 1, None] + line
    index = rows[:, :, None] * padded.shape[-1] + columns[:, None, :]
    index = index.flatten(1)[:, None].expand(-1, images.shape[1], -1)
    return padded.flatten(2).gather(2, index).view_as(images)
