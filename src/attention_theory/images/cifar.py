"""The CIFAR archives, as published for Python: pickled batches, read without running what they say.

A batch is a pickled dict of bytes, lists, whole numbers and one uint8 array. The two names that
such an array needs are met by stand-ins; any other name in a pickle is refused, so that a file can
make nothing but these values, whoever wrote it. Members of the archive are read, never extracted.
"""

import io
import pickle
import tarfile
from pathlib import Path

import numpy as np

from attention_theory.errors import BadInput
from attention_theory.images import data
from attention_theory.images.download import File
from attention_theory.images.sources import Location


def load(
    dataset: str, published: type, labels: bytes, classes: int, location: Location
) -> data.Source:
    """CIFAR: train, then test, from the archive or, in `data_dir`, from its extracted folder.

    `published` is torchvision's class, which knows names, URL and checksums; `labels` is the key
    of a batch's labels.
    """
    archive = File(published.filename, published.url, (published.tgz_md5,))
    batches = [*published.train_list, *published.test_list]
    folder = published.base_folder
    packed = location.at_hand(dataset, archive.name) or not location.at_hand(dataset, folder)
    if packed or not location.data_dir:
        paths = [location.obtain(dataset, archive)]
        contents = read_members(paths[0], [f"{folder}/{name}" for name, _ in batches])
    else:
        known = [File(name, published.url, (md5,)) for name, md5 in batches]
        paths = [location.obtain(dataset, file, folder) for file in known]
        contents = [path.read_bytes() for path in paths]
    parts = [
        read_batch(content, labels, f"{paths[0]}: {name}")
        for content, (name, _) in zip(contents, batches, strict=True)
    ]
    train = parts[: len(published.train_list)]
    train = tuple(np.concatenate(arrays) for arrays in zip(*train, strict=True))
    return data.joined(train, parts[-1], classes, tuple(paths))


def read_members(archive: Path, names: list[str]) -> list[bytes]:
    """The contents of some members of a .tar.gz file. Raises BadInput if one is not there."""
    found = {}
    try:
        with tarfile.open(archive, "r:gz") as tar:
            for member in tar:
                if member.name in names and member.isfile():
                    found[member.name] = tar.extractfile(member).read()
    except Exception as error:  # gzip, zlib and tarfile have errors of their own
        raise BadInput(f"{archive}: no readable .tar.gz file ({error})") from None
    missing = [name for name in names if name not in found]
    if missing:
        raise BadInput(f"{archive}: it lacks {missing[0]}")
    return [found[name] for name in names]


def read_batch(content: bytes, labels: bytes, place: str) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 3, 32, 32) uint8 and labels (n,) of a batch. Raises BadInput, naming `place`."""
    try:
        batch = _Unpickler(io.BytesIO(content), encoding="bytes").load()
        images = batch[b"data"].values().reshape(-1, 3, 32, 32)
        return images, np.array(batch[labels], np.int64).reshape(len(images))
    except Exception as error:  # damaged pickles can raise almost anything
        raise BadInput(f"{place} is no batch of CIFAR ({error or type(error).__name__})") from None


class _Array:
    """What a pickled array says of itself."""

    def __init__(self, *_: object) -> None:
        pass

    def __setstate__(self, state: tuple) -> None:
        self.state = state

    def values(self) -> np.ndarray:
        _, shape, kind, by_column, content = self.state
        if kind.name not in (b"u1", b"|u1") or by_column:
            raise ValueError("an array that is not of uint8 values by row")
        return np.frombuffer(content, np.uint8).reshape(shape)


class _Kind:
    """What a pickled dtype says of itself."""

    def __init__(self, name: bytes, *_: object) -> None:
        self.name = name

    def __setstate__(self, state: tuple) -> None:
        pass


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type:
        known = {
            ("numpy.core.multiarray", "_reconstruct"): _Array,
            ("numpy", "ndarray"): _Array,  # only ever an argument of _reconstruct
            ("numpy", "dtype"): _Kind,
        }
        if (module, name) not in known:
            raise pickle.UnpicklingError(f"its pickle asks for {module}.{name}")
        return known[module, name]
