"""The models of the study behind one `build`."""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from attention_theory import own
from attention_theory.images import own_models, recipes
from attention_theory.images.settings import Architecture, DataSet
from attention_theory.vit import ATTENTIONS, Attention, PositionalAttention, VisionTransformer


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
    recipe = recipes.named(sizes.recipe)
    return VisionTransformer(
        channels=data.channels,
        size=data.size,
        patch=sizes.patch,
        classes=data.classes,
        width=sizes.width,
        layers=sizes.layers,
        heads=sizes.heads,
        mlp=sizes.mlp,
        attention=_attention(sizes),
        position_std=sizes.position_std,
        divisor=recipe.divisor(sizes.width, sizes.heads),
        last_gelu=recipe.last_gelu,
    )


def _attention(sizes: Architecture) -> Attention:
    if own.is_own(sizes.attention):
        return own_models.attention(sizes.attention)
    if sizes.attention == "positional":
        return partial(PositionalAttention, norm=bool(sizes.position_norm))
    return ATTENTIONS[sizes.attention]


def _cnn(sizes: Architecture, data: DataSet) -> nn.Module:
    return ConvolutionalNetwork(data.channels, data.classes, sizes.width, sizes.layers)


def _resnet18(sizes: Architecture, data: DataSet) -> nn.Module:
    """torchvision's ResNet-18 with the stem for 32 pixels: 3 x 3, stride 1, no max-pooling."""
    from torchvision.models import resnet18

    model = resnet18(num_classes=data.classes)
    model.conv1 = nn.Conv2d(data.channels, 64, 3, padding=1, bias=False)
    nn.init.kaiming_normal_(model.conv1.weight, mode="fan_out", nonlinearity="relu")  # as theirs
    model.maxpool = nn.Identity()
    return model


def _vgg19_bn(sizes: Architecture, data: DataSet) -> nn.Module:
    """torchvision's VGG-19 with batch norm and, for 32 pixels, one linear layer on 512 numbers.

    Its own head pools to 7 x 7 (at 32 pixels that repeats one value 49 times), then takes three
    layers with dropout, most of its parameters. Initial weights are drawn as torchvision's are.
    """
    from torchvision.models.vgg import cfgs, make_layers

    model = nn.Sequential()
    model.features = make_layers(cfgs["E"], batch_norm=True)
    model.features[0] = nn.Conv2d(data.channels, 64, 3, padding=1)
    model.pool = nn.AdaptiveAvgPool2d(1)
    model.flatten = nn.Flatten()
    model.head = nn.Linear(512, data.classes)
    for layer in model.features:
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
            nn.init.zeros_(layer.bias)
    nn.init.normal_(model.head.weight, std=0.01)
    nn.init.zeros_(model.head.bias)
    return model


MODELS: dict[str, Callable[[Architecture, DataSet], nn.Module]] = {
    "vit": _vit,
    "cnn": _cnn,
    "resnet18": _resnet18,
    "vgg19_bn": _vgg19_bn,
}


def build(sizes: Architecture, data: DataSet, rng: np.random.Generator) -> nn.Module:
    """A model with its initial weights, on the CPU: `rng` alone decides them.

    torch's own initialisers read the global generator: it is seeded here from `rng` and put back
    after, so that they serve every model, torchvision's too. Raises BadInput for a class of the
    user's own that cannot be had or does not fit.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**63)))
        if own.is_own(sizes.model):
            return own_models.model(sizes, data)
        model = MODELS[sizes.model](sizes, data)
        if own.is_own(sizes.attention):
            own_models.check_attention(model, sizes, data)
        return model


def parameters(model: nn.Module) -> int:
    """The number of trained numbers."""
    return sum(parameter.numel() for parameter in model.parameters())
