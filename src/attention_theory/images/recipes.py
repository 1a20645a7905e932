"""The recipes of the ViT: what, besides its sizes, distinguishes the source's from the usual one.

The source trained with a public code, from which `vit-cifar` takes its three peculiarities; its
sizes (App. A) are the defaults of both recipes. No torch.
"""

from dataclasses import dataclass

from attention_theory.errors import require

SIZES = {  # what sizes a model has, and their defaults
    "vit": {"width": 384, "layers": 7, "heads": 12, "mlp": 384},
    "cnn": {"width": 32, "layers": 2},
    "resnet18": {},
    "vgg19_bn": {},
}
PATCHES = {"vit": 4}  # of the source's tables; other models have none of their own


@dataclass(frozen=True)
class Recipe:
    """The choices of a ViT: what its scores are divided by, its MLP, its initial encodings."""

    divides_by_head: bool  # scores / sqrt(width of a head), or else / sqrt(width of a token)
    last_gelu: bool  # the MLP is Linear GELU Linear GELU, or else Linear GELU Linear
    position_std: float  # standard deviation of the initial positional encodings

    def divisor(self, width: int, heads: int) -> float:
        """What scores are divided by."""
        return (width / heads if self.divides_by_head else width) ** 0.5


RECIPES = {
    "standard": Recipe(divides_by_head=True, last_gelu=False, position_std=0.02),
    "vit-cifar": Recipe(divides_by_head=False, last_gelu=True, position_std=1.0),
}


def named(recipe: str) -> Recipe:
    """The recipe of this name. Raises BadInput if there is none."""
    require(recipe in RECIPES, "recipe", recipe, "be one of: " + ", ".join(RECIPES))
    return RECIPES[recipe]


def sizes(model: str, recipe: str) -> dict[str, float]:
    """The sizes that a model has where none are given. Raises BadInput for an unknown recipe."""
    position_std = named(recipe).position_std
    return SIZES.get(model, {}) | ({"position_std": position_std} if model == "vit" else {})
