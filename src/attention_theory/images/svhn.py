"""The preparation step of `svhn`: 73,257 + 26,032 house numbers' digits, 32 x 32 RGB, 10 classes.

Y. Netzer et al. 2011, the cropped digits, in two MATLAB files. The extra part is not used.
"""

from pathlib import Path

import numpy as np

from attention_theory.errors import BadInput
from attention_theory.images import data
from attention_theory.images.download import File
from attention_theory.images.sources import Location


def load(location: Location) -> data.Source:
    """SVHN: train, then test."""
    from torchvision.datasets import SVHN

    paths = []
    for part in ("train", "test"):
        url, name, md5 = SVHN.split_list[part]
        paths.append(location.obtain("svhn", File(name, url, (md5,))))
    return data.joined(*map(read, paths), 10, tuple(paths))


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 3, 32, 32) uint8 and labels (n,) of one file, in which 10 stands for the digit 0.

    Raises BadInput if it is none.
    """
    from scipy.io import loadmat

    try:
        found = loadmat(path, variable_names=("X", "y"))
        images, labels = found["X"], found["y"].reshape(-1).astype(np.int64)
    except Exception as error:  # scipy has no error of its own for a damaged file
        raise BadInput(f"{path}: no readable MATLAB file with X and y ({error})") from None
    data.check_labels(str(path), labels, range(1, 11))
    if images.shape[:3] != (32, 32, 3) or images.ndim != 4:
        raise BadInput(f"{path}: X is {images.shape}; it must be (32, 32, 3, n)")
    return images.transpose(3, 2, 0, 1), labels % 10


if __name__ == "__main__":
    data.run("svhn", load)
