"""The settings of the study's steps and the conditions on them (no torch)."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from attention_theory import own
from attention_theory.errors import require
from attention_theory.images import recipes
from attention_theory.step import option


class DataSet(NamedTuple):
    """What is known of a data set before it is read: square images and their classes."""

    images: int
    size: int
    channels: int
    classes: int


GRANULARITIES = ("none", "patch", "pixel")
NEIGHBOURS = 4  # of a token on the true grid: what similarity is held against
ATTENTIONS = {  # a model's kinds of attention
    "vit": ("self", "positional"),
    "cnn": ("none",),
    "resnet18": ("none",),
    "vgg19_bn": ("none",),
}
BATCH_NORM = ("cnn", "resnet18", "vgg19_bn")
IMAGE_SIZES = {"cnn": (8, 28), "resnet18": (32, None), "vgg19_bn": (32, None)}  # least, most
PROCEDURES = ("standard", "vit-cifar")
AUGMENTATIONS = ("shift", "autoaugment")
PRECISIONS = ("auto", "float32", "bfloat16")
COMPILE = ("auto", "always", "never")


@dataclass(frozen=True)
class Split:
    """The parts of a data set that are kept from training, as fractions of its images.

    A data set with a test part of its own has `test` 0; `images` are then those of its train part.
    """

    test: float = option("fraction of the images kept for the test; 0: the set's own test part")
    validation: float = option("fraction of the images kept for validation")
    limit: int = option("most images to train on, drawn by the base seed; 0: all", 0)

    def __post_init__(self) -> None:
        require(0 <= self.test < 1, "test", self.test, "lie in [0, 1)")
        require(0 < self.validation < 1, "validation", self.validation, "lie in (0, 1)")
        allowed = f"leave images to train on beside validation = {self.validation}"
        require(self.test + self.validation < 1, "test", self.test, allowed)
        require(self.limit >= 0, "limit", self.limit, "not be negative")

    def check_images(self, images: int, own_test: bool = False) -> None:
        """Raise BadInput unless each part gets an image."""
        if own_test:
            require(self.test == 0, "test", self.test, "be 0 for a data set with its own test part")
        else:
            allowed = f"give at least one of {images} images"
            require(self.sizes(images)[2] >= 1, "test", self.test, allowed)
        validation, allowed = self.sizes(images)[1], f"give at least one of {images} images"
        require(validation >= 1, "validation", self.validation, allowed)
        allowed = "leave images to train on"
        require(self.sizes(images)[0] >= 1, "test", self.test, allowed)

    def sizes(self, images: int) -> tuple[int, int, int]:
        """The numbers of images to train on, validate on and test on (0: its own test part)."""
        test, validation = round(images * self.test), round(images * self.validation)
        train = images - validation - test
        return min(train, self.limit or train), validation, test


@dataclass(frozen=True)
class Frame:
    """What is kept of each image of an image folder, and how many classes the folder has."""

    size: int = option("side of the square that is kept from an image's middle, in pixels")
    resize: int = option("length that an image's shorter side is scaled to before, in pixels")
    classes: int = option("number of class folders")

    def __post_init__(self) -> None:
        require(self.size >= 1, "size", self.size, "be at least 1")
        require(self.classes >= 2, "classes", self.classes, "be at least 2: there is one to choose")
        require(self.resize >= self.size, "resize", self.resize, f"be at least size = {self.size}")


@dataclass(frozen=True)
class Architecture:
    """A model and its sizes; `patch` is that of the tokens and of the patch permutation alike.

    A size that a model does not have is 0; one of the user's own may have any.
    """

    model: str = option(
        "vit, cnn, resnet18, vgg19_bn or package.module:Class, whose code then runs"
    )
    attention: str = option(
        "of a vit: self, positional or package.module:Class, whose code then runs; else none"
    )
    patch: int = option("side of a patch in pixels; divides the image")
    width: int = option("width of a vit's token; channels of a cnn's first stage", 0)
    layers: int = option("transformer layers; convolutions of a cnn, halving between two", 0)
    heads: int = option("attention heads of a vit, dividing the width", 0)
    mlp: int = option("hidden width of the MLP in a vit's layer", 0)
    position_std: float = option("standard deviation of a vit's initial encodings", 0.0)
    recipe: str = option("of a vit: standard or vit-cifar (images/recipes.py)", "standard")
    position_norm: int = option(
        "1: the encodings pass a LayerNorm before W_Q and W_K in every positional layer; 0: not", 1
    )

    def __post_init__(self) -> None:
        _one_of("model", self.model, ATTENTIONS, or_own=True)
        kinds = ATTENTIONS.get(self.model, ("none",))
        _one_of("attention", self.attention, kinds, or_own=self.model == "vit")
        recipes.named(self.recipe)
        require(self.patch >= 1, "patch", self.patch, "be at least 1")
        norm = self.position_norm
        require(norm in (0, 1), "position_norm", norm, "be 0 or 1")
        if own.is_own(self.model):
            self._check_own_sizes()
        else:
            self._check_sizes()

    def _check_sizes(self) -> None:
        has = recipes.sizes(self.model, self.recipe)
        for name in ("width", "layers", "heads", "mlp", "position_std"):
            value = getattr(self, name)
            if name not in has:
                require(value == 0, name, value, f"be 0 for a {self.model}")
            elif name not in ("heads", "position_std"):
                require(value >= 1, name, value, "be at least 1")
        if self.model == "vit":
            divides = self.heads >= 1 and self.width % self.heads == 0
            require(divides, "heads", self.heads, f"divide the width {self.width}")
            std = self.position_std
            require(isfinite(std) and std > 0, "position_std", std, "be finite and above 0")

    def _check_own_sizes(self) -> None:
        for name in ("width", "layers", "heads", "mlp"):
            require(getattr(self, name) >= 0, name, getattr(self, name), "not be negative")
        std = self.position_std
        require(std == 0, "position_std", std, "be 0 for a class of your own")

    @property
    def has_tokens(self) -> bool:
        """Whether the model has positional encodings and attention matrices."""
        return self.attention != "none"

    def tokens(self, size: int) -> int:
        """The number of tokens of an image of `size` x `size` pixels; 0 without tokens."""
        return (size // self.patch) ** 2 if self.has_tokens else 0

    def check_size(self, size: int) -> None:
        """Raise BadInput unless the model takes images of `size` x `size` pixels."""
        require(size % self.patch == 0, "patch", self.patch, f"divide the image size {size}")
        least, most = IMAGE_SIZES.get(self.model, (1, None))
        takes = f"at least {least}" if most is None else f"{least} to {most}"
        fits = least <= size <= (most or size)
        allowed = f"be another for images of {size} pixels: this one takes {takes}"
        require(fits, "model", self.model, allowed)
        if self.model == "cnn":
            most = size.bit_length()
            allowed = f"be at most {most} for images of {size} pixels, halved between two layers"
            require(self.layers <= most, "layers", self.layers, allowed)


@dataclass(frozen=True)
class Training:
    """How a model is trained, on cross-entropy; images are shifted at random, or more.

    `standard` is AdamW with a one-cycle rate. `vit-cifar` is that of the source (App. A): Adam,
    whose weight decay is coupled, with five epochs of warm-up and a cosine; its smoothing is spread
    over the wrong classes alone, and CIFAR and SVHN are normalised with the published statistics.
    """

    epochs: int = option("passes over the training images")
    batch: int = option("images a step")
    rate: float = option(
        "highest learning rate: at 30 % of the steps; vit-cifar: in epochs 5 and 6 of 0, 1, ..."
    )
    weight_decay: float = option("weight decay, on every parameter: decoupled, or Adam's own")
    smoothing: float = option("label smoothing")
    shift: int = option("largest random shift of a training image, in pixels")
    procedure: str = option("standard or vit-cifar", "standard")
    augmentation: str = option("shift, or autoaugment: shift, flip and the data's policy", "shift")

    def __post_init__(self) -> None:
        _one_of("procedure", self.procedure, PROCEDURES)
        _one_of("augmentation", self.augmentation, AUGMENTATIONS)
        for name in ("epochs", "batch"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "be at least 1")
        require(isfinite(self.rate) and self.rate > 0, "rate", self.rate, "be finite and above 0")
        decays = isfinite(self.weight_decay) and self.weight_decay >= 0
        require(decays, "weight_decay", self.weight_decay, "be finite and not negative")
        require(0 <= self.smoothing < 1, "smoothing", self.smoothing, "lie in [0, 1)")
        require(self.shift >= 0, "shift", self.shift, "not be negative")

    def check_images(self, images: int, size: int) -> None:
        """Raise BadInput unless there is a batch of images, and a shift leaves some of each."""
        allowed = f"be at most {images}, the number of training images"
        require(self.batch <= images, "batch", self.batch, allowed)
        require(self.shift < size, "shift", self.shift, f"be below the image size {size}")


@dataclass(frozen=True)
class Computation:
    """How a training is computed: not what it is, though the last digits depend on it."""

    accumulate: int = option("parts of a batch that are computed one after the other", 1)
    precision: str = option("float32, bfloat16, or auto: bfloat16 on a GPU if it pays", "auto")
    compile: str = option("always, never, or auto: on a GPU if it pays", "auto")
    checkpoint_every: int = option("epochs between two checkpoints; 0: none", 0)

    def __post_init__(self) -> None:
        require(self.accumulate >= 1, "accumulate", self.accumulate, "be at least 1")
        _one_of("precision", self.precision, PRECISIONS)
        _one_of("compile", self.compile, COMPILE)
        every = self.checkpoint_every
        require(every >= 0, "checkpoint_every", every, "not be negative")

    def check_batch(self, batch: int, processes: int = 1) -> None:
        """Raise BadInput unless a batch divides into equal parts: a mean of means is the mean."""
        allowed = f"divide by accumulate x processes = {self.accumulate} x {processes}"
        require(batch % (self.accumulate * processes) == 0, "batch", batch, allowed)

    def check_norm(self, model: str, processes: int = 1, name: str = "processes") -> None:
        """Raise BadInput for one of our models with batch norm unless it gets its batch whole."""
        parts = f"accumulate x {name} = {self.accumulate} x {processes}"
        allowed = f"be one without batch norm, whose statistics are a whole batch's, with {parts}"
        whole = self.accumulate * processes == 1
        require(whole or model not in BATCH_NORM, "model", model, allowed)


def check_permutation(permutation: str) -> None:
    """Raise BadInput unless `permutation` is a granularity."""
    _one_of("permutation", permutation, GRANULARITIES)


def check_seeds(seeds: int) -> None:
    """Raise BadInput unless there is at least one seed."""
    require(seeds >= 1, "seeds", seeds, "be at least 1")


def _one_of(key: str, value: str, allowed: Mapping | tuple, or_own: bool = False) -> None:
    text = "be one of: " + ", ".join(allowed) + (f" or {own.FORM}" if or_own else "")
    require(value in allowed or (or_own and own.is_own(value)), key, value, text)
