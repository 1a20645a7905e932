"""Draws of experiment 4: which classes are pretrained on, which samples of the others are seen.

A draw is keyed by (base seed, data set, role, number): the role `tested` or `tuning` keeps the
draws on which learning rates are tuned apart from those that are reported. Everything is drawn by
NumPy; places are those of a prepared data set's training images.
"""

from dataclasses import dataclass

import numpy as np

from attention_theory.streams import stream

ROLES = ("tested", "tuning")


@dataclass(frozen=True)
class Draw:
    """One draw. `pretrained` and `other` are the two halves of the classes; with an odd number of
    classes one is left out."""

    key: tuple[int, str, str, int]  # base seed, data set, role, number
    pretrained: np.ndarray
    other: np.ndarray

    def stream(self, name: str) -> np.random.Generator:
        """A stream of this draw alone."""
        base_seed, *index = self.key
        return stream(base_seed, f"images.transfer.{name}", *index)


def draw(base_seed: int, dataset: str, role: str, number: int, classes: int) -> Draw:
    """Split the classes 0 .. classes - 1 into two halves."""
    key = (base_seed, dataset, role, number)
    half = classes // 2
    order = stream(base_seed, "images.transfer.classes", dataset, role, number).permutation(classes)
    return Draw(key, np.sort(order[:half]), np.sort(order[half : 2 * half]))


def of(labels: np.ndarray, half: np.ndarray) -> np.ndarray:
    """The places of the images of some classes."""
    return np.flatnonzero(np.isin(labels, half))


def renamed(labels: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Labels of a half's images, numbered 0, 1, ... within the half."""
    return np.searchsorted(half, labels)


def batches(draw: Draw, labels: np.ndarray, steps: int, batch: int) -> np.ndarray:
    """The places (steps, batch) of the images of each pretraining step, epoch after epoch."""
    own, rng = of(labels, draw.pretrained), draw.stream("batches")
    epochs = -(-steps * batch // len(own))
    order = np.concatenate([rng.permutation(own) for _ in range(epochs)])
    return order[: steps * batch].reshape(steps, batch)


def samples(draw: Draw, labels: np.ndarray, most: int) -> np.ndarray:
    """The places (most, classes) of samples of the other half: the first k rows are k a class.

    Every class must have so many images.
    """
    rng = draw.stream("samples")
    chosen = [rng.permutation(np.flatnonzero(labels == label))[:most] for label in draw.other]
    return np.stack(chosen, axis=1)
