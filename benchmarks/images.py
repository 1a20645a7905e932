"""Training steps of our ViT, at the paper's size, against its peers and against bare products.

A step is forward, backward and AdamW on 32 images of 32 pixels. The peers are the same ViT made of
torch.nn.MultiheadAttention layers, and timm's, where it is installed (`pip install .[benchmark]`).

Positional attention should be faster as its arithmetic is less. In a forward pass over an image of
a batch of B, with n tokens of width w, L layers and patches of 3 p^2 numbers, the operations are

    vanilla     L (6 products of 2 n w^2, 2 mixes of 2 n^2 w) + embedding 2 n w 3 p^2
    positional  L (4 products + 1 mix + (2 products + 1 mix) / B) + the same embedding

since S is computed once a batch; a training step has about three such passes. They are counted, as
`describe` does (the head and both gradients too), in the models and the batch that are timed here.
"""

import importlib.util
from collections.abc import Callable

import torch
from harness import Row, race, row
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attention_theory.images import recipes
from attention_theory.images.describe import training_flop
from attention_theory.images.settings import DataSet
from attention_theory.vit import VisionTransformer

BATCH = 32
ROUNDS = {4: 9, 2: 3}  # by patch
OF_FLOP = 0.95  # of the ratio of operations, that the ratio of times should reach
OF_PEAK = 0.75  # of the peak that each model should reach
DATA = DataSet(images=1, size=32, channels=3, classes=10)
SIZES = recipes.SIZES["vit"]
PRODUCTS, SIDE = 40, 1024  # what the peak is measured on


class PlainLayer(nn.Module):
    """A pre-LN layer with torch.nn.MultiheadAttention, as one writes it by default."""

    def __init__(self) -> None:
        super().__init__()
        width, mlp = SIZES["width"], SIZES["mlp"]
        self.norm_attention, self.norm_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, SIZES["heads"], batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, mlp), nn.GELU(), nn.Linear(mlp, width))

    def forward(self, tokens: Tensor, positions: Tensor) -> Tensor:
        normed = self.norm_attention(tokens)
        tokens = tokens + self.attention(normed, normed, normed, need_weights=False)[0]
        return tokens + self.mlp(self.norm_mlp(tokens))


def vanilla(patch: int, attention: str = "self") -> nn.Module:
    return VisionTransformer(
        channels=DATA.channels,
        size=DATA.size,
        classes=DATA.classes,
        patch=patch,
        attention=attention,
        **SIZES,
    )


def positional(patch: int) -> nn.Module:
    return vanilla(patch, "positional")


def plain(patch: int) -> nn.Module:
    model = vanilla(patch)
    model.blocks = nn.ModuleList(PlainLayer() for _ in model.blocks)
    return model


def timm(patch: int) -> nn.Module:
    from timm.models.vision_transformer import VisionTransformer as Timm

    return Timm(
        img_size=DATA.size,
        patch_size=patch,
        num_classes=DATA.classes,
        embed_dim=SIZES["width"],
        depth=SIZES["layers"],
        num_heads=SIZES["heads"],
        mlp_ratio=SIZES["mlp"] / SIZES["width"],
        class_token=False,
        global_pool="avg",
    )


OURS = {"vanilla": vanilla, "positional": positional}
PEERS = {"torch.nn.MultiheadAttention": plain, "timm": timm}


def training_step(model: nn.Module) -> Callable[[], None]:
    """A step of training on one batch of random images."""
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)
    images = torch.randn(BATCH, DATA.channels, DATA.size, DATA.size)
    labels = torch.randint(DATA.classes, (BATCH,))

    def step() -> None:
        loss = cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def products() -> Callable[[], None]:
    """The matrix products that the machine is best at."""
    a, b = torch.randn(SIDE, SIDE), torch.randn(SIDE, SIDE)

    def multiply() -> None:
        for _ in range(PRODUCTS):
            a @ b

    return multiply


def rows() -> list[Row]:
    """One thread and two, patch 4 and 2; all of a size take turns."""
    torch.manual_seed(0)
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for patch in ROUNDS:
            found += _rows(patch, f"ViT patch {patch}, {threads} thread{'s' * (threads > 1)}")
    return found


def _rows(patch: int, place: str) -> list[Row]:
    peers = {name: make for name, make in PEERS.items() if _installed(name)}
    makers = OURS | peers
    steps = {name: training_step(make(patch)) for name, make in makers.items()}
    seconds = race({**steps, "products": products()}, ROUNDS[patch])
    ours = seconds["vanilla"]
    found = [
        row(f"{place}: {name} against vanilla", ours, seconds[name], target=1.0)
        if name in peers
        else Row(f"{place}: {name} is not installed", *[float("nan")] * 5, 0)
        for name in PEERS
    ]
    flop = {name: training_flop(makers[name](patch), DATA, BATCH) for name in OURS}
    target = OF_FLOP * flop["vanilla"] / flop["positional"]
    name = f"{place}: vanilla against positional"
    found.append(row(name, seconds["positional"], ours, target=target))
    peak = PRODUCTS * 2 * SIDE**3
    for name in OURS:
        share = f"{place}: share of the products' peak, {name}"
        scale = BATCH * flop[name] / peak
        found.append(row(share, seconds[name], seconds["products"], scale, OF_PEAK))
    return found


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name.partition(".")[0]) is not None
