"""What a model costs: its parameters and the arithmetic of training it on one image.

    python -m attention_theory.images.describe --model vit --attention positional \\
        --recipe vit-cifar --image-size 32 --patch 4 --channels 3 --classes 10

prints one JSON line. `gflop_per_training_image` counts what torch's flop counter finds in one
forward and one backward pass over a batch of 128 images (the source's), divided by 128 and by 1e9:
matrix products and convolutions, a multiplication and an addition as two; no elementwise
operations, no optimiser. The gradient with respect to the images is not taken. What positional
attention computes once a batch is thus shared by 128 images.
"""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from attention_theory import own, step
from attention_theory.errors import require
from attention_theory.images import recipes
from attention_theory.images.settings import ATTENTIONS, Architecture, DataSet

if TYPE_CHECKING:
    from torch import nn

BATCH = 128


def describe(architecture: Architecture, data: DataSet) -> dict[str, float]:
    """The line's content. Raises BadInput unless the model takes such images."""
    architecture.check_size(data.size)
    from attention_theory.images import models
    from attention_theory.streams import stream

    model = models.build(architecture, data, stream(0, "images.describe"))
    # Code of the user's own may make tensors on a device of its choice.
    with own.naming("model", architecture.model, "cannot be counted on shapes alone"):
        flop = training_flop(model, data)
    return {"parameters": models.parameters(model), "gflop_per_training_image": flop / 1e9}


def training_flop(model: "nn.Module", data: DataSet, batch: int = BATCH) -> float:
    """Floating-point operations of training on one image of a batch; moves the model to `meta`.

    Counted on shapes alone: nothing is computed.
    """
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    images = torch.zeros(batch, data.channels, data.size, data.size, device="meta")
    with FlopCounterMode(display=False) as counter:
        model.to("meta")(images).sum().backward()
    return counter.get_total_flops() / batch


Size = Annotated[int | None, typer.Option(help="default: that of the paper's ViT, of our CNN")]


def main(
    model: Annotated[str, typer.Option(help="vit, cnn, resnet18, vgg19_bn, package.module:Class")],
    image_size: Annotated[int, typer.Option(help="side of the images in pixels")],
    channels: Annotated[int, typer.Option(help="channels of the images")],
    classes: Annotated[int, typer.Option(help="number of classes")],
    patch: Annotated[
        int | None, typer.Option(help="side of a patch in pixels; default: 4 for a vit, else 1")
    ] = None,
    attention: Annotated[
        str, typer.Option(help="of a vit: self, positional, package.module:Class; others have none")
    ] = "self",
    recipe: Annotated[str, typer.Option(help="of a vit: standard, vit-cifar")] = "standard",
    width: Size = None,
    layers: Size = None,
    heads: Size = None,
    mlp: Size = None,
) -> None:
    """Print a model's parameters and GFLOP a training image as one JSON line."""
    given = {"width": width, "layers": layers, "heads": heads, "mlp": mlp}
    sizes = {name: value for name, value in given.items() if value is not None}
    architecture = Architecture(
        model=model,
        attention="none" if ATTENTIONS.get(model, ("none",)) == ("none",) else attention,
        patch=recipes.PATCHES.get(model, 1) if patch is None else patch,
        recipe=recipe,
        **(recipes.sizes(model, recipe) | sizes),
    )
    for name, value in (("image_size", image_size), ("channels", channels), ("classes", classes)):
        require(value >= 1, name, value, "be at least 1")
    print(json.dumps(describe(architecture, DataSet(0, image_size, channels, classes))))


if __name__ == "__main__":
    step.run(main)
