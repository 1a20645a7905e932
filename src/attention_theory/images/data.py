"""The preparation step: a data set as uint8 images with labels, splits and their statistics.

A prepared data set is an .npz file: images (n, channels, size, size) uint8 in 0..255, labels (n,)
int64, the index arrays train, validation and test (sorted, disjoint, together everything), classes
(a number), mean and std (channels,) of the training images in units of 255, dataset (its name) and
sha256 (of the source arrays as they were read). Nothing but this step touches a source.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from attention_theory import files, step
from attention_theory.errors import BadInput, require
from attention_theory.images import settings
from attention_theory.images.settings import Split
from attention_theory.streams import stream

KEYS = "images labels train validation test classes mean std dataset sha256".split()


def load_digits() -> tuple[np.ndarray, np.ndarray, str]:
    """scikit-learn's 1,797 digits of 8 x 8 pixels (UCI's test part); ships inside the library.

    Its grey values are whole numbers 0..16; they become round(value 255 / 16), which keeps all 17
    apart, so that every data set has the range 0..255.
    """
    from sklearn import datasets

    source = datasets.load_digits()
    values, labels = source.images.astype(np.float64), source.target.astype(np.int64)
    images = np.rint(values * 255 / 16).astype(np.uint8)[:, None]
    return images, labels, sha256(values, labels)


# name -> function without arguments: images (n, channels, size, size) uint8, labels (n,) int64
# and the SHA-256 of the source; sizes must agree with settings.DATASETS
LOADERS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray, str]]] = {"digits": load_digits}


def sha256(*arrays: np.ndarray) -> str:
    """The SHA-256, in hex, of arrays: their shapes and little-endian values."""
    digest = hashlib.sha256()
    for array in arrays:
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        digest.update(f"{array.shape} {little.dtype.str}".encode() + little.tobytes())
    return digest.hexdigest()


def prepare(dataset: str, split: Split, base_seed: int) -> dict[str, np.ndarray]:
    """A data set as its file holds it. The splits depend on the base seed, not on the labels."""
    images, labels, source = LOADERS[dataset]()
    classes = settings.DATASETS[dataset].classes
    order = stream(base_seed, "images.split", dataset).permutation(len(images))
    train, validation, _ = split.sizes(len(images))
    parts = np.split(order, [train, train + validation])
    train, validation, test = map(np.sort, parts)
    mean, std = _statistics(images[train])
    found = (images, labels, train, validation, test, classes, mean, std, dataset, source)
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


def main(
    dataset: Annotated[str, typer.Option(help="one of: " + ", ".join(LOADERS))],
    split: Split,
    base_seed: step.BaseSeed,
    output: Annotated[Path, typer.Option(help="the prepared data set (.npz)")],
    provenance: step.Provenance = None,
) -> None:
    """Prepare a data set: uint8 images, labels, splits, mean and standard deviation."""
    settings.check_dataset(dataset)
    require(output.suffix == ".npz", "output", str(output), "end in .npz")
    with step.record(provenance, "images.data", dataset, base_seed=base_seed):
        files.write_arrays(output, **prepare(dataset, split, base_seed))


if __name__ == "__main__":
    step.run(main)
