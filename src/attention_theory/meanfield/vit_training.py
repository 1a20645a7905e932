"""A small vision transformer trained on scikit-learn's digits (float32, torch)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from sklearn import datasets
from torch.nn.functional import cross_entropy

from attention_theory.errors import BadInput
from attention_theory.meanfield.vit_settings import CLASSES, SIZE, Fit, Model
from attention_theory.streams import stream
from attention_theory.vit import VisionTransformer


class Digits(NamedTuple):
    """Images (n, 1, 8, 8), grey values centred, and labels (n,): to train on, and held out."""

    images: torch.Tensor
    labels: torch.Tensor
    held_out: torch.Tensor
    held_out_labels: torch.Tensor


def load(images: int, base_seed: int, seed: int, device: str) -> Digits:
    """A seed's random split of the digits, `images` of them to train on."""
    source = datasets.load_digits()
    order = stream(base_seed, "meanfield.digits", seed).permutation(len(source.target))
    pixels = ((source.images - 8) / 8).astype(np.float32)[order, None]
    pixels, labels = (torch.from_numpy(a).to(device) for a in (pixels, source.target[order]))
    return Digits(pixels[:images], labels[:images], pixels[images:], labels[images:])


def build(model: Model, base_seed: int, seed: int) -> VisionTransformer:
    """The transformer with torch's usual initial weights, which a stream of ours seeds."""
    rng = stream(base_seed, "meanfield.vit", seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**63)))
        return VisionTransformer(
            channels=1,
            size=SIZE,
            classes=CLASSES,
            patch=model.patch,
            width=model.width,
            layers=model.layers,
            heads=model.heads,
            mlp=model.mlp,
        )


def fit(
    network: VisionTransformer, digits: Digits, settings: Fit, base_seed: int, seed: int
) -> Iterator[dict]:
    """Train in place; every so many steps what it is on all training and held-out images.

    Raises BadInput, naming the step, where the loss is no longer finite.
    """
    optimiser = torch.optim.Adam(network.parameters(), lr=settings.rate, fused=True)
    rng, order = stream(base_seed, "meanfield.vit.order", seed), np.empty(0, dtype=int)
    for step in range(settings.steps + 1):
        if step % settings.every == 0 or step == settings.steps:
            yield {"step": step, **_evaluate(network, digits, step)}
        if len(order) < settings.batch:  # an epoch leaves out what fills no batch
            order = rng.permutation(settings.images)
        batch, order = torch.from_numpy(order[: settings.batch]), order[settings.batch :]
        optimiser.zero_grad()
        batch = batch.to(digits.images.device)
        cross_entropy(network(digits.images[batch]), digits.labels[batch]).backward()
        optimiser.step()


@torch.no_grad()
def _evaluate(network: VisionTransformer, digits: Digits, step: int) -> dict:
    """The mean cross-entropy and the accuracy on the training images, and the held-out accuracy."""
    logits, held_out = network(digits.images), network(digits.held_out)
    loss = cross_entropy(logits.double(), digits.labels).item()
    if not np.isfinite(loss):
        raise BadInput(f"step {step}: the loss is {loss:.3g}; lower rate")
    return {
        "loss": loss,
        "accuracy": _share(logits, digits.labels),
        "test_accuracy": _share(held_out, digits.held_out_labels),
    }


def _share(logits: torch.Tensor, labels: torch.Tensor) -> float:
    return (logits.argmax(1) == labels).double().mean().item()
