"""Many ViTs of one architecture computed as one: each a row of a matrix of weights.

Small models are bound by the cost of calls; stacked with torch.func.vmap, draws and arms share
them. A row holds all parameters of a model in the order of `named_parameters`.
"""

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.functional import cross_entropy
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from attention_theory.images import models
from attention_theory.images.settings import Architecture, DataSet

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8  # of Adam, torch's


class Stack:
    """What the models of a stack share: architecture and device."""

    def __init__(self, architecture: Architecture, data: DataSet, device: str) -> None:
        self.architecture, self.data, self.device = architecture, data, device
        self.one, self.template = (
            models.build(architecture, data, np.random.default_rng(0)).to(device) for _ in range(2)
        )
        for block in self.template.blocks:
            block.attention.fused = False  # vmap has no rule for torch's attention kernel
        self.names, parameters = zip(*self.template.named_parameters(), strict=True)
        self.shapes = [parameter.shape for parameter in parameters]
        self.sizes = [parameter.numel() for parameter in parameters]

    def initial(self, streams: Iterable[np.random.Generator]) -> Tensor:
        """Initial weights (models, parameters), a stream a model."""
        built = (models.build(self.architecture, self.data, rng) for rng in streams)
        rows = [parameters_to_vector(model.parameters()).detach() for model in built]
        return torch.stack(rows).to(self.device)

    def named(self, row: Tensor) -> dict[str, Tensor]:
        """The parameters that a row (parameters,) holds, by name: views of it."""
        parts = zip(self.names, row.split(self.sizes), self.shapes, strict=True)
        return {name: part.view(shape) for name, part, shape in parts}

    def model(self, row: Tensor) -> nn.Module:
        """The one model of a row, with a copy of its weights; the next call changes it."""
        vector_to_parameters(row.detach().clone(), self.one.parameters())
        return self.one

    def row(self) -> Tensor:
        """A copy of the weights of the one model that `model` returned last."""
        return parameters_to_vector(self.one.parameters()).detach().clone()

    def losses(self, weights: Tensor, images: Tensor, labels: Tensor, smoothing: float) -> Tensor:
        """Each model's mean cross-entropy (models,) on its own images (models, n, ...)."""

        def loss(row: Tensor, images: Tensor, labels: Tensor) -> Tensor:
            logits = functional_call(self.template, self.named(row), (images,))
            return cross_entropy(logits, labels, label_smoothing=smoothing)

        return vmap(loss)(weights, images, labels)

    def gradients(
        self, weights: Tensor, images: Tensor, labels: Tensor, smoothing: float = 0.0
    ) -> tuple[Tensor, Tensor]:
        """The losses, and the gradient of each with respect to its own weights."""
        weights = weights.detach().requires_grad_()
        losses = self.losses(weights, images, labels, smoothing)
        (gradients,) = torch.autograd.grad(losses.sum(), weights)
        return losses.detach(), gradients


class Adam:
    """AdamW on a matrix of weights whose rows, and whose entries, have learning rates of their own.

    An entry with rate 0 stays as it is.
    """

    def __init__(self, weights: Tensor, weight_decay: float = 0.0) -> None:
        self.weights, self.weight_decay = weights.clone(), weight_decay
        self.first, self.second = torch.zeros_like(weights), torch.zeros_like(weights)
        self.steps = 0

    def step(self, gradients: Tensor, rates: Tensor | float) -> None:
        """One step; `rates` are broadcast over the weights."""
        self.steps += 1
        self.first.lerp_(gradients, 1 - BETA_1)
        self.second.mul_(BETA_2).addcmul_(gradients, gradients, value=1 - BETA_2)
        scale = (self.second / (1 - BETA_2**self.steps)).sqrt_().add_(EPSILON)
        change = (self.first / (1 - BETA_1**self.steps)).div_(scale)
        if self.weight_decay:
            change.add_(self.weights, alpha=self.weight_decay)
        self.weights.sub_(change.mul_(rates))

    def keep(self, rows: Tensor) -> None:
        """Go on with some rows alone."""
        self.weights, self.first, self.second = (
            values[rows] for values in (self.weights, self.first, self.second)
        )
