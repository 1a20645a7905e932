"""Training on images: augmentation against torchvision's, stacked seeds against a loop."""

from types import SimpleNamespace

import numpy as np
import torch
from harness import Row, compare
from torch import nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn.functional import cross_entropy
from torchvision import transforms
from torchvision.transforms.functional import to_pil_image

from attention_theory.images import augment, models
from attention_theory.images.settings import Architecture, DataSet, Training
from attention_theory.streams import stream

TRAINING = Training(
    epochs=1, batch=128, rate=1e-3, weight_decay=0.0, smoothing=0.1, shift=4,
    procedure="vit-cifar", augmentation="autoaugment",
)  # fmt: skip
CIFAR = SimpleNamespace(name="cifar10", device="cpu", shape=SimpleNamespace(size=32))
N, ROUNDS = augment.CHUNK, 5
TARGETS = {"per image, PIL": 7.0, "per image, tensors": 7.0}


class Given(transforms.AutoAugment):
    """torchvision's AutoAugment for a group of images that drew the same."""

    def __init__(self) -> None:
        super().__init__(transforms.AutoAugmentPolicy.CIFAR10)
        self.draw = (0, torch.zeros(2), torch.zeros(2))

    def get_params(self, transform_num: int) -> tuple:
        return self.draw


def grouped(images: torch.Tensor, rng: np.random.Generator, group: Given) -> torch.Tensor:
    """torchvision's AutoAugment on the images of each sub-policy, use and sign at once."""
    used = np.array([[stage[1] for stage in row] for row in group.policies])
    row = rng.integers(len(used), size=len(images))
    draws = np.stack([row, *(rng.random((len(images), 2)) <= used[row]).T], 1)
    draws = np.concatenate([draws, rng.integers(2, size=(len(images), 2))], 1)
    found, which = np.unique(draws, axis=0, return_inverse=True)
    images = images.clone()
    for number, (policy, first, second, *signs) in enumerate(found.tolist()):
        places = torch.from_numpy(np.flatnonzero(which == number))
        uniform = torch.tensor([-1.0 if use else 2.0 for use in (first, second)])
        group.draw = (policy, uniform, torch.tensor(signs))
        images[places] = group(images[places])
    return images


def augmentations() -> list[Row]:
    """A chunk of 32 x 32 images: crop, flip, AutoAugment with the policy of CIFAR-10."""
    torch.set_num_threads(1)
    rng = stream(0, "benchmarks.augmentation")
    images = torch.from_numpy(rng.integers(0, 256, (N, 3, 32, 32), dtype=np.uint8))
    pictures = [to_pil_image(image) for image in images]
    ours, group = augment.Augmentation(TRAINING, CIFAR), Given()
    each = transforms.Compose([
        transforms.RandomCrop(32, padding=4),
        transforms.RandomHorizontalFlip(),
        transforms.AutoAugment(transforms.AutoAugmentPolicy.CIFAR10),
    ])  # fmt: skip

    def whole() -> torch.Tensor:
        return ours.apply(images, ours.draw(rng.integers(0, 9, (N, 2)), 0, 0, 0, 0))

    def cropped_and_grouped() -> torch.Tensor:
        shifts, flips = rng.integers(0, 9, (N, 2)), rng.integers(0, 2, N)
        moved = augment.crop(images, torch.from_numpy(shifts), 4, torch.from_numpy(flips))
        return grouped(moved, rng, group)

    others = {
        "per image, PIL": lambda: [each(picture) for picture in pictures],
        "per image, tensors": lambda: [each(image) for image in images],
        "grouped by sub-policy": cropped_and_grouped,
    }
    name = f"augmentation, 1 thread: {N} images at once against torchvision"
    return [
        compare(f"{name} {how}", whole, other, ROUNDS, TARGETS.get(how, float("nan")))
        for how, other in others.items()
    ]


SEEDS, BATCH = 6, 32  # of the laptop run
DIGITS = DataSet(images=1797, size=8, channels=1, classes=10)
MODELS = {
    "ViT": Architecture(
        "vit", "self", patch=2, width=64, layers=3, heads=4, mlp=64, position_std=1
    ),
    "CNN": Architecture("cnn", "none", patch=2, width=32, layers=2),
}


def stacked() -> list[Row]:
    """A step of the laptop run's seeds: as one stacked model (torch.func), and in a loop."""
    torch.set_num_threads(1)
    return [_stacked(name, architecture) for name, architecture in MODELS.items()]


def _stacked(name: str, architecture: Architecture) -> Row:
    rng = stream(0, "benchmarks.stacked")
    images = torch.from_numpy(rng.standard_normal((SEEDS, BATCH, 1, 8, 8), dtype=np.float32))
    labels = torch.from_numpy(rng.integers(0, 10, (SEEDS, BATCH)))
    seeds = [models.build(architecture, DIGITS, stream(0, "w", seed)) for seed in range(SEEDS)]
    for seed in seeds:
        torch.func.replace_all_batch_norm_modules_(seed)  # running statistics cannot be stacked
    optimisers = [torch.optim.AdamW(seed.parameters(), fused=True) for seed in seeds]
    parameters, buffers = stack_module_state(seeds)
    parameters = {key: nn.Parameter(value.detach().clone()) for key, value in parameters.items()}
    together = torch.optim.AdamW(parameters.values(), fused=True)
    template = models.build(architecture, DIGITS, stream(0, "w"))
    torch.func.replace_all_batch_norm_modules_(template)
    for part in template.modules():
        if hasattr(part, "fused"):
            part.fused = False  # vmap has no rule for torch's attention kernel

    def one(own: dict, own_buffers: dict, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return cross_entropy(functional_call(template, (own, own_buffers), x), y)

    def stack() -> None:
        together.zero_grad()
        vmap(one)(parameters, buffers, images, labels).sum().backward()
        together.step()

    def loop() -> None:
        for seed, optimiser, x, y in zip(seeds, optimisers, images, labels, strict=True):
            optimiser.zero_grad()
            cross_entropy(seed(x), y).backward()
            optimiser.step()

    return compare(f"{name}, 1 thread: {SEEDS} seeds stacked against a loop", stack, loop, 30)


def rows() -> list[Row]:
    return [*augmentations(), *stacked()]
