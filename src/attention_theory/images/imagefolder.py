"""The preparation step of `imagefolder`: a folder of images in ImageNet's layout, as an index.

train/<class>/<image> and val/<class>/<image>, where val is the test part. The prepared file names
the images, which stay where they are; each is decoded once here, so that a broken one stops the
preparation and not a training.
"""

import os
from pathlib import Path

import numpy as np

from attention_theory.errors import BadInput, require
from attention_theory.images import data
from attention_theory.images.decoding import Images
from attention_theory.images.settings import Frame
from attention_theory.images.sources import Location

PARTS = ("train", "val")


def load(location: Location, frame: Frame) -> data.Source:
    """The folder's images, train then val; classes are its class folders in the order of names."""
    found = location.at_hand("imagefolder", "train")
    if found is None:
        folder = location.folders("imagefolder")[0]
        raise BadInput(
            f"imagefolder: no folder train in {location.folders('imagefolder')[-1]}; put "
            f"train/<class>/<image> and val/<class>/<image> into {folder}"
        )
    root = found.parent
    classes = _names(root / "train")
    allowed = f"be {len(classes)}, the class folders of {found}"
    require(len(classes) == frame.classes, "classes", frame.classes, allowed)
    odd = sorted(set(classes) ^ set(_names(root / "val")))
    require(not odd, str(root), odd[0] if odd else "", "be a class of both train and val")
    listed = [
        (f"{part}/{name}/{image}", label, length)
        for part in PARTS
        for label, name in enumerate(classes)
        for image, length in _images(root / part / name)
    ]
    names, labels, lengths = zip(*listed, strict=True)
    paths = np.array([os.fsencode(name) for name in names])
    labels, lengths = np.array(labels, np.int64), np.array(lengths, np.int64)
    images = Images(str(root), paths, lengths, frame.size, frame.resize)
    test = sum(name.startswith("val/") for name in names)
    sha256 = data.sha256(paths.view(np.uint8), labels, lengths)
    return data.Source(images, labels, len(classes), sha256, test)


def _names(folder: Path) -> list[str]:
    """The class folders of a part. Raises BadInput if there are none."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: no such folder; it must hold <class>/<image>")
    found = sorted(
        entry.name
        for entry in os.scandir(folder)
        if entry.is_dir() and not entry.name.startswith(".")
    )
    if not found:
        raise BadInput(f"{folder}: no class folders; it must hold <class>/<image>")
    return found


def _images(folder: Path) -> list[tuple[str, int]]:
    """Name and length in bytes of every file of a class but the hidden ones, sorted by name."""
    entries = [entry for entry in os.scandir(folder) if not entry.name.startswith(".")]
    for entry in entries:
        require(entry.is_file(), str(folder), entry.name, "be an image's file")
    if not entries:
        raise BadInput(f"{folder}: no images")
    return sorted((entry.name, entry.stat().st_size) for entry in entries)


if __name__ == "__main__":
    data.run("imagefolder", load)
