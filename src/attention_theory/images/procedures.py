"""What a training procedure or an augmentation means for a data set (no torch).

`vit-cifar` follows the public code of the source's experiments (App. A): see docs/images.md.
"""

from typing import NamedTuple

from attention_theory.errors import require
from attention_theory.images.settings import Training


class AutoAugmentation(NamedTuple):
    """Whether images are flipped at random, and torchvision's policy."""

    flip: bool
    policy: str


AUTOAUGMENT = {
    "cifar10": AutoAugmentation(True, "cifar10"),
    "cifar100": AutoAugmentation(True, "cifar10"),
    "svhn": AutoAugmentation(False, "svhn"),  # a mirrored digit is no digit
    "imagefolder": AutoAugmentation(True, "imagenet"),
}
STATISTICS = {  # mean and standard deviation a channel, in units of 255
    "cifar10": ((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
    "cifar100": ((0.5071, 0.4867, 0.4408), (0.2675, 0.2565, 0.2761)),
    "svhn": ((0.4377, 0.4438, 0.4728), (0.1980, 0.2010, 0.1970)),
}


def check_data(training: Training, dataset: str, channels: int, classes: int) -> None:
    """Raise BadInput unless a data set can be trained on as the settings say."""
    if training.augmentation == "autoaugment":
        allowed = f"be shift for {dataset}: AutoAugment is for colour images"
        require(channels == 3, "augmentation", training.augmentation, allowed)
        allowed = f"be shift for {dataset}: it has a policy for {', '.join(AUTOAUGMENT)}"
        require(dataset in AUTOAUGMENT, "augmentation", training.augmentation, allowed)
    most = f"leave something to the label: at most {(classes - 1) / classes:.3g}"
    require(smoothing(training, classes) <= 1, "smoothing", training.smoothing, most)


def smoothing(training: Training, classes: int) -> float:
    """Label smoothing as torch counts it: the share spread over all classes, the right one too.

    `vit-cifar` spreads its smoothing over the other classes alone.
    """
    if training.procedure == "vit-cifar":
        return training.smoothing * classes / (classes - 1)
    return training.smoothing


def statistics(training: Training, dataset: str) -> tuple[tuple, tuple] | None:
    """The published mean and deviation that a procedure normalises with; None: the data's own."""
    return STATISTICS.get(dataset) if training.procedure == "vit-cifar" else None
