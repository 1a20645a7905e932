"""Models and attentions of a user's own: loaded, built and tried on two images (docs/images.md)."""

import torch
from safetensors.torch import save
from torch import nn

from attention_theory import own
from attention_theory.errors import BadInput, require
from attention_theory.images.settings import Architecture, DataSet
from attention_theory.vit import Attention, VisionTransformer


def attention(name: str) -> Attention:
    """What makes a layer's attention out of width, heads and divisor.

    Raises BadInput if there is no such class or it lacks what SelfAttention has.
    """
    found = own.load("attention", name)
    for member in ("forward", "weights", "positions_in_tokens"):
        has = issubclass(found, nn.Module) and hasattr(found, member)
        require(has, "attention", name, f"be a class of torch modules with {member}")

    def make(width: int, heads: int, divisor: float) -> nn.Module:
        with own.naming("attention", name, "cannot be built"):
            return found(width, heads, divisor)

    return make


def check_attention(model: VisionTransformer, sizes: Architecture, data: DataSet) -> None:
    """Raise BadInput unless the attention of `model`, the user's, maps tokens as it must."""
    name = sizes.attention
    with own.naming("attention", name, "does not fit"), torch.no_grad():
        tokens = model.tokens(_images(data))
        inside = model.blocks[0].attention
        mixed = inside(tokens, model.positions)
        weights = inside.weights(tokens, model.positions)
        _check_shape("attention", name, "forward", mixed, tuple(tokens.shape))
        n = tokens.shape[1]
        _check_shape("attention", name, "weights", weights[:1], (1, sizes.heads, n, n))
        save(model.state_dict())


def model(sizes: Architecture, data: DataSet) -> nn.Module:
    """A model of the user's own. Raises BadInput if it cannot be had or maps images wrongly."""
    name = sizes.model
    found = own.load("model", name)
    require(issubclass(found, nn.Module), "model", name, "be a class of torch modules")
    options = {key: getattr(sizes, key) for key in ("patch", "width", "layers", "heads", "mlp")}
    with own.naming("model", name, "cannot be built"):
        built = found(channels=data.channels, size=data.size, classes=data.classes, **options)
    with own.naming("model", name, "does not fit"), torch.no_grad():
        logits = built.eval()(_images(data))
        _check_shape("model", name, "forward", logits, (2, data.classes))
        require(any(True for _ in built.parameters()), "model", name, "have something to train")
        save(built.state_dict())  # as the step will save it
    return built.train()


def _images(data: DataSet) -> torch.Tensor:
    return torch.zeros(2, data.channels, data.size, data.size)


def _check_shape(key: str, name: str, method: str, found: object, shape: tuple) -> None:
    was = tuple(found.shape) if isinstance(found, torch.Tensor) else type(found).__name__
    if was != shape:
        raise BadInput(
            f"{key}: {name!r} is not allowed; its {method} must return a tensor {shape} for "
            f"two images, not {was}"
        )
