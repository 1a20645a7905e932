"""The preparation step of `cifar100`: 50,000 + 10,000 photos of 32 x 32 RGB pixels in 100 classes.

A. Krizhevsky 2009; the archive for Python (cifar.py). Labels are the fine ones.
"""

from attention_theory.images import cifar, data
from attention_theory.images.sources import Location


def load(location: Location) -> data.Source:
    """CIFAR-100: train, then test."""
    from torchvision.datasets import CIFAR100

    return cifar.load("cifar100", CIFAR100, b"fine_labels", 100, location)


if __name__ == "__main__":
    data.run("cifar100", load)
