"""The models of the study behind one `build`."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from attention_theory.images.settings import Architecture, DataSet
from attention_theory.vit import VisionTransformer


class ConvolutionalNetwork(nn.Module):
    """A small CNN for images of 8 to 28 pixels: images to logits (batch, classes).

    3 x 3 convolutions with batch norm and ReLU; between two of them the image is halved by
    max-pooling and the width doubled. Global average pooling, as in ResNet-18, so that what a
    feature sees, and not where it stands, decides.
    """

    def __init__(self, channels: int, classes: int, width: int, layers: int) -> None:
        super().__init__()
        stack: list[nn.Module] = []
        for layer in range(layers):
            out = width * 2**layer
            stack += [nn.MaxPool2d(2)] if layer else []
            stack += [
                nn.Conv2d(channels, out, 3, padding=1, bias=False),
                nn.BatchNorm2d(out),
                nn.ReLU(),
            ]
            channels = out
        self.features = nn.Sequential(*stack)
        self.head = nn.Linear(channels, classes)

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.features(images).mean((2, 3)))


def _vit(sizes: Architecture, data: DataSet) -> nn.Module:
    return VisionTransformer(
        channels=data.channels,
        size=data.size,
        patch=sizes.patch,
        classes=data.classes,
        width=sizes.width,
        layers=sizes.layers,
        heads=sizes.heads,
        mlp=sizes.mlp,
        attention=sizes.attention,
        position_std=sizes.position_std,
    )


def _cnn(sizes: Architecture, data: DataSet) -> nn.Module:
    return ConvolutionalNetwork(data.channels, data.classes, sizes.width, sizes.layers)


MODELS: dict[str, Callable[[Architecture, DataSet], nn.Module]] = {"vit": _vit, "cnn": _cnn}


def build(sizes: Architecture, data: DataSet, rng: np.random.Generator) -> nn.Module:
    """A model with its initial weights, on the CPU: `rng` alone decides them.

    torch's own initialisers read the global generator: it is seeded here from `rng` and put back
    after, so that they serve every model, torchvision's too.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**63)))
        return MODELS[sizes.model](sizes, data)


def parameters(model: nn.Module) -> int:
    """The number of trained numbers."""
    return sum(parameter.numel() for parameter in model.parameters())
