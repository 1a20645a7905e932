"""AutoAugment of a whole chunk of images, with torchvision's policies and kernels.

Equal, to the bit, to torchvision's `AutoAugment` on each image alone with the same draws: images of
a chunk that take the same operation take it together. Operations that move pixels (nearest
neighbour, fill 0) become one gather with index maps, those of a pixel's value alone one look-up;
maps and look-up tables are what torchvision's kernels make of indices and of 0 .. 255.
torchvision takes seconds to import: only whoever makes a policy waits for it.
"""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

BINS = 10  # of a magnitude
SIGNED = "ShearX ShearY TranslateX TranslateY Rotate Brightness Color Contrast Sharpness".split()

Kernel = Callable[[Tensor, float], Tensor]


def kernels() -> tuple[dict[str, Kernel], dict[str, Kernel], dict[str, Kernel]]:
    """The operations by name: images (..., channels, size, size) and a magnitude to images.

    Those that move pixels, those of a pixel's value alone, and the rest.
    """
    from torchvision.transforms import functional as F
    from torchvision.transforms.v2.functional import equalize

    def affine(images: Tensor, **changes: list) -> Tensor:
        identity = {"angle": 0.0, "translate": [0, 0], "scale": 1.0, "shear": [0.0, 0.0]}
        return F.affine(images, **(identity | changes))

    def degrees(tangent: float) -> float:
        return math.degrees(math.atan(tangent))

    moves = {
        "ShearX": lambda images, m: affine(images, shear=[degrees(m), 0.0], center=[0, 0]),
        "ShearY": lambda images, m: affine(images, shear=[0.0, degrees(m)], center=[0, 0]),
        "TranslateX": lambda images, m: affine(images, translate=[int(m), 0]),
        "TranslateY": lambda images, m: affine(images, translate=[0, int(m)]),
        "Rotate": F.rotate,
    }
    values = {
        "Brightness": lambda images, m: F.adjust_brightness(images, 1 + m),
        "Posterize": lambda images, m: F.posterize(images, int(m)),
        "Solarize": F.solarize,
        "Invert": lambda images, _: F.invert(images),
    }
    rest = {
        "Color": lambda images, m: F.adjust_saturation(images, 1 + m),
        "Contrast": lambda images, m: F.adjust_contrast(images, 1 + m),
        "Sharpness": lambda images, m: F.adjust_sharpness(images, 1 + m),
        "AutoContrast": lambda images, _: F.autocontrast(images),
        # Of v2: the same bits, without v1's loop over images.
        "Equalize": lambda images, _: equalize(images),
    }
    return moves, values, rest


class Policy:
    """A policy of torchvision's (`cifar10`, `svhn`, `imagenet`) for images of `size` x `size`.

    An image takes one of the sub-policies, two operations each; `operations` are the distinct ones,
    (name, magnitude), by their number; number 0 leaves an image as it is.
    """

    def __init__(self, name: str, size: int, device: str | torch.device = "cpu") -> None:
        from torchvision.transforms import AutoAugment, AutoAugmentPolicy

        rows = AutoAugment(AutoAugmentPolicy(name)).policies
        moves, values, self.kernels = kernels()
        self.operations: list[tuple[str, float]] = [("Identity", 0.0)]
        self.numbers = np.zeros((len(rows), 2, 2), dtype=np.int64)  # sub-policy, stage, sign
        self.probabilities = np.array([[stage[1] for stage in row] for row in rows])
        for i, row in enumerate(rows):
            for j, (operation, _, level) in enumerate(row):
                self.numbers[i, j] = [
                    self._number(operation, sign * magnitude(operation, level, size))
                    for sign in ((-1, 1) if operation in SIGNED else (1, 1))
                ]
        indices = torch.arange(1.0, size**2 + 1).view(1, 1, size, size)
        all_values = torch.arange(256, dtype=torch.uint8).view(1, 16, 16)
        self.maps, self.map_of = self._tabulate(moves, indices, torch.int64, device)
        self.tables, self.table_of = self._tabulate(values, all_values, torch.uint8, device)

    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Operations (n, 2) of n images, by their numbers."""
        row = rng.integers(len(self.numbers), size=n)
        used = rng.random((n, 2)) <= self.probabilities[row]
        signs = rng.integers(2, size=(n, 2))
        return self.numbers[row[:, None], np.arange(2), signs] * used

    def apply(self, images: Tensor, operations: np.ndarray) -> Tensor:
        """Images (n, 3, size, size) uint8 after their two operations; the argument is kept."""
        images = images.clone()
        for numbers in operations.T:
            self._apply_together(images, numbers, self.map_of, self._moved)
            self._apply_together(images, numbers, self.table_of, self._looked_up)
            for number in np.unique(numbers):
                name, strength = self.operations[number]
                if name in self.kernels:
                    places = _index(numbers == number, images)
                    images[places] = self.kernels[name](images[places], strength)
        return images

    def _apply_together(
        self, images: Tensor, numbers: np.ndarray, row_of: np.ndarray, change: Callable
    ) -> None:
        """Change, in place, the images whose operations have a row in a table."""
        rows = row_of[numbers]
        if (rows >= 0).any():
            places = _index(rows >= 0, images)
            chosen = torch.from_numpy(rows[rows >= 0]).to(images.device)
            images[places] = change(images[places], chosen)

    def _moved(self, images: Tensor, rows: Tensor) -> Tensor:
        """Images whose pixels come from where the map says; from 0 where it says outside."""
        padded = torch.nn.functional.pad(images.flatten(2), (1, 0))
        index = self.maps[rows][:, None].expand(-1, images.shape[1], -1)
        return padded.gather(2, index).view_as(images)

    def _looked_up(self, images: Tensor, rows: Tensor) -> Tensor:
        return self.tables[rows].gather(1, images.flatten(1).long()).view_as(images)

    def _number(self, name: str, strength: float) -> int:
        """The number of an operation, a new one if it is not yet listed."""
        if (name, strength) not in self.operations:
            self.operations.append((name, strength))
        return self.operations.index((name, strength))

    def _tabulate(
        self, kind: dict[str, Kernel], source: Tensor, dtype: torch.dtype, device: object
    ) -> tuple[Tensor, np.ndarray]:
        """What the operations of a kind make of `source`, a row each, and the row of each number
        (-1: none)."""
        numbers = [n for n, (name, _) in enumerate(self.operations) if name in kind]
        rows = [kind[self.operations[n][0]](source, self.operations[n][1]) for n in numbers]
        row_of = np.full(len(self.operations), -1)
        row_of[numbers] = np.arange(len(numbers))
        table = torch.stack(rows).flatten(1) if rows else torch.zeros(0, source.numel())
        return table.to(device, dtype), row_of


def magnitude(operation: str, level: int | None, size: int) -> float:
    """The strength of an operation at a level 0 .. 9, as torchvision's AutoAugment has it."""
    spaces: dict[str, Callable[[], Tensor]] = {
        "Posterize": lambda: 8 - (torch.arange(BINS) / ((BINS - 1) / 4)).round().int(),
        "Solarize": lambda: torch.linspace(255.0, 0.0, BINS),
        "Rotate": lambda: torch.linspace(0.0, 30.0, BINS),
    }
    if level is None:
        return 0.0
    if operation in spaces:
        return float(spaces[operation]()[level])
    if operation.startswith("Shear"):
        highest = 0.3
    elif operation.startswith("Translate"):
        highest = 150.0 / 331.0 * size
    else:
        highest = 0.9
    return float(torch.linspace(0.0, highest, BINS)[level])


def _index(chosen: np.ndarray, images: Tensor) -> Tensor:
    return torch.from_numpy(np.flatnonzero(chosen)).to(images.device)
