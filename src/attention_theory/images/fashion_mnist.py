"""The preparation step of `fashion_mnist`: 60,000 + 10,000 clothes of 28 x 28 pixels in 10 classes.

H. Xiao, K. Rasul and R. Vollgraf 2017, in four gzipped idx files.
"""

import gzip
import math
import struct
import zlib
from pathlib import Path

import numpy as np

from attention_theory.errors import BadInput
from attention_theory.images import data
from attention_theory.images.download import File
from attention_theory.images.sources import Location

BELOW = ("FashionMNIST/raw", "fashion-mnist")  # torchvision's layout, Debian's
DEBIAN = {  # dataset-fashion-mnist: the same files without names in the gzip headers
    "train-images-idx3-ubyte.gz": "cf8536b0aa1a6ac5fa3f23001093305c",
    "train-labels-idx1-ubyte.gz": "10bea18fdb374794d4bb42e356e600c9",
    "t10k-images-idx3-ubyte.gz": "f78720b4224f21cce2f2ccf2d7a94c9a",
    "t10k-labels-idx1-ubyte.gz": "0d30e22e447f3c33dab9ed536400ac01",
}


def load(location: Location) -> data.Source:
    """Fashion-MNIST: train, then test."""
    from torchvision.datasets import FashionMNIST

    resources = [
        File(name, FashionMNIST.mirrors[0] + name, (md5, DEBIAN[name]))
        for name, md5 in FashionMNIST.resources
    ]
    paths = {file.name: location.obtain("fashion_mnist", file, *BELOW) for file in resources}

    def part(name: str) -> tuple[np.ndarray, np.ndarray]:
        images = read_idx(paths[f"{name}-images-idx3-ubyte.gz"], 3)
        return images[:, None], read_idx(paths[f"{name}-labels-idx1-ubyte.gz"], 1)

    return data.joined(part("train"), part("t10k"), 10, tuple(paths.values()))


def read_idx(path: Path, dimensions: int) -> np.ndarray:
    """The uint8 array of a gzipped idx file. Raises BadInput if it is none."""
    try:
        with gzip.open(path) as file:
            magic, *shape = struct.unpack(f">{dimensions + 1}I", file.read(4 * dimensions + 4))
            found = file.read(math.prod(shape) + 1)
        whole = magic == 0x0800 + dimensions and len(found) == math.prod(shape)
    except (OSError, EOFError, struct.error, zlib.error, OverflowError) as error:
        raise BadInput(f"{path}: no readable idx file ({error})") from None
    if not whole:
        raise BadInput(f"{path}: no idx file of uint8 values in {dimensions} dimensions")
    return np.frombuffer(found, np.uint8).reshape(shape)


if __name__ == "__main__":
    data.run("fashion_mnist", load)
