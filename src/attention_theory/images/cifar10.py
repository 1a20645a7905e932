"""The preparation step of `cifar10`: 50,000 + 10,000 photos of 32 x 32 RGB pixels in 10 classes.

A. Krizhevsky 2009; the archive for Python (cifar.py).
"""

from attention_theory.images import cifar, data
from attention_theory.images.sources import Location


def load(location: Location) -> data.Source:
    """CIFAR-10: train, then test."""
    from torchvision.datasets import CIFAR10

    return cifar.load("cifar10", CIFAR10, b"labels", 10, location)


if __name__ == "__main__":
    data.run("cifar10", load)
