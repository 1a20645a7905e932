"""Prepared data sets: uint8 images with labels, splits and their statistics, in one file.

A prepared data set is an .npz file: images (n, channels, size, size) uint8 in 0..255, labels (n,)
int64, the index arrays train, validation and test (sorted, disjoint, together everything), classes
(a number), mean and std (channels,) of the training images in units of 255, dataset (its name) and
sha256 (of the source arrays as they were read). Each data set has a module and a step of its own
(digits.py), which alone touches its source. An image folder's file holds an index in place of
images (decoding.py).
"""

import hashlib
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer

from attention_theory import files, step
from attention_theory.errors import BadInput, require
from attention_theory.images.decoding import Images, histogram
from attention_theory.images.settings import Split
from attention_theory.streams import stream

KEYS = "images labels train validation test classes mean std dataset sha256".split()


class Source(NamedTuple):
    """What a data set's module reads: images (n, channels, size, size) uint8, labels (n,) int64 in
    0 .. classes - 1, and the SHA-256 of the source arrays. The last `test` images are the set's own
    test part; `files` is where it all was read from."""

    images: np.ndarray | Images
    labels: np.ndarray
    classes: int
    sha256: str
    test: int = 0
    files: tuple[Path, ...] = ()


def sha256(*arrays: np.ndarray) -> str:
    """The SHA-256, in hex, of arrays: their shapes and little-endian values."""
    digest = hashlib.sha256()
    for array in arrays:
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        digest.update(f"{array.shape} {little.dtype.str}".encode())
        digest.update(little.tobytes())
    return digest.hexdigest()


def joined(
    train: tuple[np.ndarray, np.ndarray],
    test: tuple[np.ndarray, np.ndarray],
    classes: int,
    files: tuple[Path, ...],
) -> Source:
    """A source of images and labels that come as a train and a test part."""
    images, labels = (np.concatenate(pair) for pair in zip(train, test, strict=True))
    labels = labels.astype(np.int64)
    return Source(images, labels, classes, sha256(images, labels), len(test[0]), files)


def prepare(dataset: str, source: Source, split: Split, base_seed: int) -> dict:
    """A data set as its file holds it. The splits depend on the base seed, not on the labels."""
    check(dataset, source)
    images, labels = source.images, source.labels
    shared = len(images) - source.test
    split.check_images(shared, own_test=source.test > 0)
    order = stream(base_seed, "images.split", dataset).permutation(shared)
    train, validation, test = split.sizes(shared)
    parts = [
        order[:train],
        order[shared - test - validation : shared - test],
        np.concatenate([order[shared - test :], np.arange(shared, len(images))]),
    ]
    kept = np.sort(np.concatenate(parts))
    if len(kept) < len(images):
        labels = labels[kept]
        images = images.part(kept) if isinstance(images, Images) else images[kept]
    train, validation, test = (np.searchsorted(kept, np.sort(part)) for part in parts)
    mean, std = _statistics(dataset, images, train)
    found = (images, labels, train, validation, test, source.classes, mean, std)
    found = (*found, dataset, source.sha256)
    return {
        name: value if isinstance(value, Images) else np.asarray(value)
        for name, value in zip(KEYS, found, strict=True)
    }


def check(dataset: str, source: Source) -> None:
    """Raise BadInput unless images and labels are what a data set's are."""
    images, labels, classes = source.images, source.labels, source.classes
    shape = images.shape
    square = len(shape) == 4 and images.dtype == np.uint8 and shape[2] == shape[3]
    require(square, dataset, f"{images.dtype} {shape}", "be uint8 (n, channels, size, size)")
    require(labels.shape == shape[:1], dataset, f"{len(labels)} labels", f"be {shape[0]}")
    check_labels(dataset, labels, range(classes))
    absent = np.setdiff1d(np.arange(classes), labels[: len(labels) - source.test])
    allowed = f"have {classes} classes with training images (class {absent[:1].sum()} has none)"
    require(len(absent) == 0, dataset, f"{classes - len(absent)} classes", allowed)


def check_labels(dataset: str, labels: np.ndarray, allowed: range) -> None:
    """Raise BadInput, with the first of them, if labels lie outside a range."""
    wrong = np.flatnonzero((labels < allowed.start) | (labels >= allowed.stop))
    if len(wrong):
        raise BadInput(
            f"{dataset}: {len(wrong)} labels out of range (the first: image {wrong[0]} has "
            f"{labels[wrong[0]]}); they must lie in {allowed.start} .. {allowed.stop - 1}"
        )


def write(path: Path, prepared: dict) -> None:
    """Write a prepared data set; where its images stay in their files, their index.

    A relative folder of images is stored relative to the index, so that the index of another
    checkout has the same bytes, and is found from any working folder.
    """
    arrays = _arrays(prepared)
    if "root" in arrays and not Path(root := arrays["root"].item()).is_absolute():
        arrays["root"] = np.asarray(os.path.relpath(root, path.parent))
    files.write_arrays(path, **arrays)


def read(path: Path) -> dict:
    """Read a prepared data set: arrays by name, but that `images` may be decoding.Images.

    Raises BadInput if it is none.
    """
    data = files.read_arrays(path)
    if all(key in data for key in Images.KEYS):
        data["root"] = np.asarray(_absolute(path.parent / data["root"].item()))
        data["images"] = Images.from_arrays(data)
    missing = [key for key in KEYS if key not in data]
    if missing:
        raise BadInput(f"{path}: no prepared data set (it lacks {missing[0]})")
    return data


def identity(prepared: dict) -> str:
    """The SHA-256 of all that a training sees of a prepared data set, wherever its images lie."""
    arrays = _arrays(prepared)
    return sha256(*(arrays[name] for name in sorted(arrays.keys() - {"root"})))


def _arrays(prepared: dict) -> dict[str, np.ndarray]:
    """What a data set's file holds."""
    images = prepared["images"]
    index = images.arrays() if isinstance(images, Images) else {"images": images}
    return index | {key: prepared[key] for key in KEYS if key != "images"}


def _absolute(path: str | Path) -> str:
    """As `os.path.relpath` counts: a folder of results that is a link is not followed."""
    return os.path.abspath(path)  # noqa: PTH100 - resolve() follows links


def _statistics(
    dataset: str, images: np.ndarray | Images, train: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation a channel, float32, of training images in units of 255."""
    counts = images.histogram(train) if isinstance(images, Images) else histogram(images, train)
    values, n = np.arange(256) / 255, counts.sum(1)
    mean = counts @ values / n
    std = np.sqrt((counts * (values - mean[:, None]) ** 2).sum(1) / n)
    require(std.min() > 0, dataset, "a channel of one value", "vary, to be normalised")
    return mean.astype(np.float32), std.astype(np.float32)


def run(dataset: str, load: Callable[..., Source]) -> None:
    """Run a data set's preparation step: `python -m attention_theory.images.<dataset>`.

    The parameters of `load` are options of the step.
    """
    own = inspect.signature(load).parameters

    def main(
        split: Split,
        base_seed: step.BaseSeed,
        output: Annotated[Path, typer.Option(help="the prepared data set (.npz)")],
        provenance: step.Provenance = None,
        **options: object,
    ) -> None:
        require(output.suffix == ".npz", "output", str(output), "end in .npz")
        with step.record(
            provenance, f"images.{dataset}", dataset, step="data", base_seed=base_seed
        ) as record:
            source = load(**options)
            write(output, prepare(dataset, source, split, base_seed))
            if isinstance(source.images, Images):
                record["folder"] = _absolute(source.images.root)
            record["inputs"] = {str(path): files.sha256(path) for path in source.files}

    main.__doc__ = f"Prepare {dataset}: uint8 images, labels, splits, mean and deviation."
    common = list(inspect.signature(main).parameters.values())[:-1]
    main.__signature__ = inspect.Signature([*own.values(), *common])
    step.run(main)
