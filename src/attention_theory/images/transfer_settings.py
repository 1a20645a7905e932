"""The settings of transfer (experiment 4) and the conditions on them (no torch)."""

from dataclasses import dataclass
from math import isfinite

from attention_theory.errors import require
from attention_theory.images.settings import NEIGHBOURS, Architecture
from attention_theory.step import option

ATTENTIONS = ("self", "positional")
POSITIONS = ("learned", "shuffled", "random", "scratch")  # the arms, as the table names them


@dataclass(frozen=True)
class Transformer:
    """The sizes of the ViT that is pretrained, with either attention; half of the classes each."""

    patch: int = option("side of a patch in pixels; divides the image")
    width: int = option("width of a token")
    layers: int = option("transformer layers")
    heads: int = option("attention heads, dividing the width")
    mlp: int = option("hidden width of the MLP in a layer")
    position_std: float = option("standard deviation of the initial encodings")
    recipe: str = option("standard or vit-cifar (images/recipes.py)", "standard")

    def __post_init__(self) -> None:
        self.with_attention(ATTENTIONS[0])

    def with_attention(self, attention: str) -> Architecture:
        """The architecture with one kind of attention."""
        return Architecture(model="vit", attention=attention, **vars(self))

    def check_data(self, size: int, classes: int) -> None:
        """Raise BadInput unless images have places to rank, and either half classes to tell."""
        architecture = self.with_attention(ATTENTIONS[0])
        architecture.check_size(size)
        allowed = f"give more than {NEIGHBOURS} tokens of an image of {size} pixels"
        require(architecture.tokens(size) > NEIGHBOURS, "patch", self.patch, allowed)
        allowed = "be at least 4 for transfer, two in either half; with draws: 0 it is not run"
        require(classes >= 4, "classes", classes, allowed)


@dataclass(frozen=True)
class Pretraining:
    """AdamW with a one-cycle rate on one half of the classes, images shifted at random."""

    steps: int = option("steps of pretraining")
    batch: int = option("images of a step")
    peak: float = option("highest learning rate")
    weight_decay: float = option("decoupled weight decay of AdamW")
    smoothing: float = option("label smoothing, spread over all classes")
    shift: int = option("most pixels that an image is shifted by")

    def __post_init__(self) -> None:
        for name in ("steps", "batch"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "be at least 1")
        require(isfinite(self.peak) and self.peak > 0, "peak", self.peak, "be finite and above 0")
        decays = isfinite(self.weight_decay) and self.weight_decay >= 0
        require(decays, "weight_decay", self.weight_decay, "be finite and not negative")
        require(0 <= self.smoothing < 1, "smoothing", self.smoothing, "lie in [0, 1)")
        require(self.shift >= 0, "shift", self.shift, "not be negative")


@dataclass(frozen=True)
class Finetuning:
    """Adam on k samples a class of the other half, all of them in every step, to a fixed loss."""

    samples: list[int] = option("numbers k of samples a class, ascending")
    rates: list[float] = option("learning rates that each arm is tuned over, ascending")
    level: float = option("training loss (cross-entropy) below which a run stops")
    most: int = option("most steps of a run")

    def __post_init__(self) -> None:
        for name in ("samples", "rates"):
            values = getattr(self, name)
            positive = len(values) > 0 and all(isfinite(x) and x > 0 for x in values)
            require(positive, name, values, "be numbers above 0")
            ascending = all(a < b for a, b in zip(values, values[1:], strict=False))
            require(ascending, name, values, "ascend")
        require(isfinite(self.level) and self.level > 0, "level", self.level, "be above 0")
        require(self.most >= 1, "most", self.most, "be at least 1")


@dataclass(frozen=True)
class Draws:
    """How many draws of halves, pretraining and samples there are, and how they are computed."""

    draws: int = option("draws that are tested; 0: transfer is not run")
    tuning_draws: int = option("other draws, on which rates are tuned by validation accuracy")
    at_once: int = option("images in a step of the models that are computed as one stack")

    def __post_init__(self) -> None:
        require(self.draws >= 0, "draws", self.draws, "not be negative")
        for name in ("tuning_draws", "at_once"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "be at least 1")

    def work(self, finetuning: Finetuning) -> int:
        """The number of models that are trained with one kind of attention, tuning included."""
        rates = len(finetuning.rates) * self.tuning_draws + self.draws
        return self.tuning_draws + self.draws + len(POSITIONS) * len(finetuning.samples) * rates

    def stack(self, images: int) -> int:
        """How many models are computed as one, if each sees so many images in a step."""
        return max(1, self.at_once // images)


def check_attentions(attentions: list[str]) -> None:
    """Raise BadInput unless these are kinds of attention, each named once."""
    allowed = "be one of: " + ", ".join(ATTENTIONS)
    for attention in attentions:
        require(attention in ATTENTIONS, "attention", attention, allowed)
    once = len(attentions) == len(set(attentions)) > 0
    require(once, "attention", attentions, "name one at least, and none twice")
