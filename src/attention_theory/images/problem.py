"""What a model is trained and evaluated on: a data set on the device, and its permutation."""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attention_theory.images.decoding import Images
from attention_theory.images.parallel import ALONE, Team
from attention_theory.images.permutation import Permutation, pixel_order
from attention_theory.images.settings import DataSet

SHARE = 0.5  # of a GPU's free memory that images may take; else they stay in the host's


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
    name: str
    device: str


def load(
    data: dict[str, np.ndarray | Images],
    permutation: Permutation,
    device: str,
    statistics: tuple[tuple, tuple] | None = None,
    team: Team = ALONE,
) -> Problem:
    """Put a prepared data set (data.read) on the device.

    Images that are still in their files are decoded first, once for all processes of a team. Where
    the images would take too much of a GPU's memory they stay in the host's, and go to the device a
    batch or a chunk at a time.

    `statistics`, mean and standard deviation a channel, stand in for the data's own.
    """
    images = data["images"]
    keep = device if _fits(math.prod(images.shape), device) else "cpu"

    def part(name: str) -> Part:
        chosen, labels = data[name], torch.from_numpy(data["labels"][data[name]])
        if isinstance(images, Images):
            shape = (len(chosen), *images.shape[1:])
            found = team.filled(shape, lambda array: images.decode_into(array, chosen))
        else:
            found = images[chosen]
        return Part(torch.from_numpy(found).to(keep), labels.to(device))

    mean, std = (
        torch.tensor(values, dtype=torch.float32)
        for values in (statistics or (data["mean"], data["std"]))
    )
    return Problem(
        *map(part, ("train", "validation", "test")),
        *(values.view(1, -1, 1, 1).to(device) for values in (mean, std)),
        torch.from_numpy(pixel_order(permutation)).to(device),
        DataSet(len(images), images.shape[-1], images.shape[1], data["classes"].item()),
        data["dataset"].item(),
        device,
    )


def permuted(images: Tensor, problem: Problem) -> Tensor:
    """What a model sees of uint8 images: pixels permuted, then normalised (float32)."""
    shuffled = images.flatten(2)[..., problem.pixels].view_as(images)
    return (shuffled / 255 - problem.mean) / problem.std


def _fits(nbytes: int, device: str) -> bool:
    """Whether images of so many bytes may lie in the device's memory."""
    return device == "cpu" or nbytes <= SHARE * torch.cuda.mem_get_info()[0]
