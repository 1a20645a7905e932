"""The preparation step of `digits`: scikit-learn's 1,797 handwritten digits of 8 x 8 pixels.

UCI's test part; it ships inside the library, so that nothing is downloaded.
"""

import numpy as np
from sklearn import datasets

from attention_theory.images import data


def load() -> data.Source:
    """The digits. Their grey values are whole numbers 0..16; they become round(value 255 / 16),
    which keeps all 17 apart, so that every data set has the range 0..255."""
    source = datasets.load_digits()
    values, labels = source.images.astype(np.float64), source.target.astype(np.int64)
    images = np.rint(values * 255 / 16).astype(np.uint8)[:, None]
    return data.Source(images, labels, 10, data.sha256(values, labels))


if __name__ == "__main__":
    data.run("digits", load)
