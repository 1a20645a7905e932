"""What a model with tokens knows of space in the course of its training.

Snapshots are log-spaced: before training, after 1, 2, 4, ... epochs, and at the end. Those that
were taken before a break are part of its checkpoint.
"""

import numpy as np
import torch
from torch import Tensor, nn

from attention_theory.images.problem import Problem, permuted
from attention_theory.images.schedule import snapshot_epochs
from attention_theory.images.settings import Architecture

IMAGES = 1024  # validation images that attention matrices are averaged over, at most


class Snapshots:
    """The snapshots of one training of `epochs` epochs; `taken` holds them in order.

    A snapshot has `epoch` and, for a model with tokens, positions (tokens, width) and
    attention_matrices (layers, tokens, tokens), averaged over heads and validation images. Tokens
    are those of the permuted images.
    """

    def __init__(
        self, model: nn.Module, problem: Problem, architecture: Architecture, epochs: int
    ) -> None:
        self.model, self.problem, self.has_tokens = model, problem, architecture.has_tokens
        self.epochs = snapshot_epochs(epochs) if self.has_tokens else [0, epochs]
        self.taken: list[dict[str, np.ndarray]] = []

    def take(self, epoch: int) -> None:
        """Take the snapshot of an epoch, if there is to be one."""
        if epoch not in self.epochs:
            return
        found = {"epoch": np.asarray(epoch)}
        if self.has_tokens:
            images = evenly_spread(self.problem.validation.images, IMAGES)
            matrices = self.model.attention_matrices(
                permuted(images.to(self.problem.device), self.problem)
            )
            found["positions"] = self.model.positions.detach().cpu().numpy().copy()
            found["attention_matrices"] = matrices.mean(1).cpu().numpy()
        self.taken.append(found)

    def tensors(self) -> dict[str, Tensor]:
        """The snapshots after the first, by name, for a checkpoint."""
        return {
            f"snapshot.{found['epoch']}.{name}": torch.from_numpy(values)
            for found in self.taken[1:]
            for name, values in found.items()
            if name != "epoch"
        }

    def restore(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """Take back a checkpoint's snapshots; return the tensors that are none."""
        rest, stored = {}, {}
        for name, value in tensors.items():
            kind, _, name_of_part = name.partition(".")
            if kind == "snapshot":
                epoch, _, part = name_of_part.partition(".")
                stored.setdefault(int(epoch), {})[part] = value.numpy()
            else:
                rest[name] = value
        for epoch in sorted(stored):
            self.taken.append({"epoch": np.asarray(epoch)} | stored[epoch])
        return rest


def evenly_spread(images: Tensor, most: int) -> Tensor:
    """At most so many of the images (n, ...), evenly spread: a folder lists them class by class."""
    if len(images) <= most:
        return images
    return images[torch.arange(most) * len(images) // most]
