"""Prepared data sets: uint8 images with labels, splits and their statistics, in one file.

A prepared data set is an .npz file: images (n, channels, size, size) uint8 in 0..255, labels (n,)
int64, the index arrays train, validation and test (sorted, disjoint, together everything), classes
(a number), mean and std (channels,) of the training images in units of 255, dataset (its name) and
sha256 (of the source arrays as they were read). Each data set has a module and a step of its own
(digits.py), which alone touches its source.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer

from attention_theory import files, step
from attention_theory.errors import BadInput, require
from attention_theory.images.settings import Split
from attention_theory.streams import stream

KEYS = "images labels train validation test classes mean std dataset sha256".split()


class Source(NamedTuple):
    """What a data set's module reads: images (n, channels, size, size) uint8, labels (n,) int64 in
    0 .. classes - 1, and the SHA-256 of the source arrays."""

    images: np.ndarray
    labels: np.ndarray
    classes: int
    sha256: str


def sha256(*arrays: np.ndarray) -> str:
    """The SHA-256, in hex, of arrays: their shapes and little-endian values."""
    digest = hashlib.sha256()
    for array in arrays:
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        digest.update(f"{array.shape} {little.dtype.str}".encode() + little.tobytes())
    return digest.hexdigest()


def prepare(dataset: str, source: Source, split: Split, base_seed: int) -> dict[str, np.ndarray]:
    """A data set as its file holds it. The splits depend on the base seed, not on the labels."""
    images = source.images
    split.check_images(len(images))
    order = stream(base_seed, "images.split", dataset).permutation(len(images))
    train, validation, _ = split.sizes(len(images))
    parts = np.split(order, [train, train + validation])
    train, validation, test = map(np.sort, parts)
    mean, std = _statistics(images[train])
    found = (images, source.labels, train, validation, test, source.classes, mean, std)
    found = (*found, dataset, source.sha256)
    return {name: np.asarray(value) for name, value in zip(KEYS, found, strict=True)}


def read(path: Path) -> dict[str, np.ndarray]:
    """Read a prepared data set. Raises BadInput if it is none."""
    data = files.read_arrays(path)
    missing = [key for key in KEYS if key not in data]
    if missing:
        raise BadInput(f"{path}: no prepared data set (it lacks {missing[0]})")
    return data


def _statistics(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation a channel, float32, of images in units of 255."""
    scaled = images / 255
    mean, std = scaled.mean(axis=(0, 2, 3)), scaled.std(axis=(0, 2, 3))
    return mean.astype(np.float32), std.astype(np.float32)


def run(dataset: str, load: Callable[[], Source]) -> None:
    """Run a data set's preparation step: `python -m attention_theory.images.<dataset>`."""

    def main(
        split: Split,
        base_seed: step.BaseSeed,
        output: Annotated[Path, typer.Option(help="the prepared data set (.npz)")],
        provenance: step.Provenance = None,
    ) -> None:
        require(output.suffix == ".npz", "output", str(output), "end in .npz")
        with step.record(
            provenance, f"images.{dataset}", dataset, step="data", base_seed=base_seed
        ):
            files.write_arrays(output, **prepare(dataset, load(), split, base_seed))

    main.__doc__ = f"Prepare {dataset}: uint8 images, labels, splits, mean and deviation."
    step.run(main)
