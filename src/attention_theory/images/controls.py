"""What is frozen in fine-tuning, and the arms that start with it (experiment 4).

`learned` has the positional encodings P, W_Q and W_K of a pretrained model; `shuffled` the same
with the rows of P permuted; `random` the learned P with initial W_Q and W_K, scaled head by head
until a query attends to as many keys as in `learned`; `scratch` none of them. All else is initial,
and the same in every arm of a draw. Only `scratch` trains P, W_Q and W_K. In positional attention
the LayerNorm that P passes before W_Q and W_K belongs to them.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from attention_theory.images.stacked import Stack
from attention_theory.vit import SelfAttention, VisionTransformer

HALVINGS = 60  # of the bracket of a factor: it is then exact


def scores(attention: nn.Module) -> tuple[Tensor, Tensor]:
    """Views of the weights (2 width, width) and biases (2 width,) of W_Q and W_K, in that order."""
    vanilla = isinstance(attention, SelfAttention)
    layer = attention.queries_keys_values if vanilla else attention.queries_keys
    rows = 2 * layer.in_features
    return layer.weight[:rows], layer.bias[:rows]


def of_scores(model: VisionTransformer) -> Iterator[Tensor]:
    """W_Q and W_K, with their biases, of every layer."""
    for block in model.blocks:
        yield from scores(block.attention)


def of_space(model: VisionTransformer) -> Iterator[Tensor]:
    """All that is frozen: P, W_Q, W_K and what P alone passes before them."""
    yield model.positions
    yield from of_scores(model)
    for block in model.blocks:
        if not isinstance(block.attention, SelfAttention):
            yield from block.attention.norm.parameters()


@torch.no_grad()
def marks(stack: Stack, parts: Callable[[VisionTransformer], Iterator[Tensor]]) -> Tensor:
    """Which entries of a row of weights are such parts of its model: (parameters,), bool."""
    model = stack.model(torch.zeros_like(stack.row()))
    for part in parts(model):
        part.fill_(1)
    return stack.row() == 1


@torch.no_grad()
def arms(
    stack: Stack, pretrained: Tensor, fresh: Tensor, order: Tensor, images: Tensor
) -> dict[str, Tensor]:
    """The initial weights (parameters,) of each arm of a draw.

    `pretrained` and `fresh` are rows of weights, `order` a permutation of the tokens; `images`
    (n, channels, size, size) are those on which `random` is as sharp as `learned`.
    """
    learned = torch.where(marks(stack, of_space), pretrained, fresh)
    shuffled = learned.clone()
    positions = stack.named(shuffled)["positions"]
    positions.copy_(positions[order])
    keys = effective_keys(stack.model(learned), images)
    unscaled = torch.where(marks(stack, of_scores), fresh, learned)
    sharpen(stack.model(unscaled), keys, images)
    return {"learned": learned, "shuffled": shuffled, "random": stack.row(), "scratch": fresh}


@torch.no_grad()
def effective_keys(model: VisionTransformer, images: Tensor) -> Tensor:
    """How many keys a query attends to, exp of the entropy of its weights: (layers, heads), means
    over queries and images."""
    tokens, found = model.tokens(images), []
    for block in model.blocks:
        weights = block.attention.weights(block.norm_attention(tokens), model.positions)
        found.append(_keys(weights))
        tokens = block(tokens, model.positions)
    return torch.stack(found)


def _keys(weights: Tensor) -> Tensor:
    """The mean number of keys a head (heads,) of weights (images, heads, tokens, tokens)."""
    return torch.special.entr(weights).sum(-1).exp().mean((0, 2))


@torch.no_grad()
def sharpen(model: VisionTransformer, keys: Tensor, images: Tensor) -> None:
    """Scale W_Q and W_K of each head until its queries attend to `keys` (layers, heads) keys.

    Layer by layer, since what a layer reads depends on those before. A number of keys that is out
    of reach is come as near to as can be.
    """
    tokens = model.tokens(images)
    for block, wanted in zip(model.blocks, keys, strict=True):
        weights = block.attention.weights(block.norm_attention(tokens), model.positions)
        roots = factors(weights, wanted).sqrt()
        for part in scores(block.attention):
            heads = part.unflatten(0, (2, len(roots), -1))
            heads.mul_(roots.view(1, -1, *(1,) * (heads.dim() - 2)))
        tokens = block(tokens, model.positions)


def factors(weights: Tensor, wanted: Tensor) -> Tensor:
    """By what to multiply scores whose softmax is `weights` (images, heads, tokens, tokens), so
    that a head attends to `wanted` (heads,) keys: (heads,).

    A query's entropy falls as its scores grow: the logarithm of the factor is bisected.
    """
    logarithms = weights.double().clamp_min(1e-300).log()  # the scores, up to a number a query
    low, high = (torch.full_like(wanted, x, dtype=torch.float64) for x in (-20.0, 20.0))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        found = _keys(torch.softmax(logarithms * middle.exp()[:, None, None], dim=-1))
        few = found < wanted
        low, high = torch.where(few, low, middle), torch.where(few, middle, high)
    return middle.exp().to(weights.dtype)
