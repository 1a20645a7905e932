"""The settings of the digits step (experiment B4) and the conditions on them (no torch)."""

from dataclasses import dataclass
from math import isfinite

from attention_theory.errors import require
from attention_theory.step import option

IMAGES = 1797  # of scikit-learn's digits
SIZE, CLASSES = 8, 10


@dataclass(frozen=True)
class Model:
    """A small vision transformer."""

    patch: int = option("side of a patch, in pixels")
    width: int = option("of a token")
    layers: int = option("of attention and MLP")
    heads: int = option("of a layer")
    mlp: int = option("width of the MLP")

    def __post_init__(self) -> None:
        _at_least_one(self, "patch width layers heads mlp")
        require(SIZE % self.patch == 0, "patch", self.patch, f"divide the image size {SIZE}")
        require(self.width % self.heads == 0, "heads", self.heads, f"divide the width {self.width}")


@dataclass(frozen=True)
class Fit:
    """Adam on the cross-entropy of the training images."""

    images: int = option("training images; the others are held out")
    batch: int = option("images a step")
    rate: float = option("the learning rate")
    steps: int = option("steps; nothing stops earlier")
    every: int = option("steps between two rows of the table")

    def __post_init__(self) -> None:
        _at_least_one(self, "images batch steps every")
        allowed = f"leave one of {IMAGES} images for the test"
        require(self.images < IMAGES, "images", self.images, allowed)
        within = f"be at most the number of training images, {self.images}"
        require(self.batch <= self.images, "batch", self.batch, within)
        require(isfinite(self.rate) and self.rate > 0, "rate", self.rate, "be finite and above 0")


def _at_least_one(settings: object, names: str) -> None:
    for name in names.split():
        require(getattr(settings, name) >= 1, name, getattr(settings, name), "be at least 1")
