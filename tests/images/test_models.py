"""The models: sizes and arithmetic as the source has them, the stated variants, `describe`."""

import json

import pytest
import torch

from attention_theory.errors import BadInput
from attention_theory.images import models, recipes
from attention_theory.images.describe import describe
from attention_theory.images.settings import Architecture, DataSet
from attention_theory.streams import stream


def architecture(model="vit", attention="self", patch=4, recipe="standard", **sizes):
    sizes = recipes.sizes(model, recipe) | sizes
    return Architecture(model, attention, patch, recipe=recipe, **sizes)


def colour(size: int = 32, classes: int = 10) -> DataSet:
    return DataSet(images=1, size=size, channels=3, classes=classes)


def build(sizes: Architecture, data: DataSet) -> torch.nn.Module:
    return models.build(sizes, data, stream(0, "w"))


@pytest.mark.parametrize("recipe", recipes.RECIPES)
@pytest.mark.parametrize(
    ("patch", "classes", "count"),
    [(4, 10, 6268042), (4, 100, 6302692), (2, 10, 6327946), (2, 100, 6362596)],
)
def test_parameters_of_the_papers_vit(patch, classes, count, recipe):
    """The public code's counts without its class token; positional has a LayerNorm of P a layer."""
    for attention, more in (("self", 0), ("positional", 7 * 2 * 384)):
        model = build(architecture("vit", attention, patch, recipe), colour(classes=classes))
        assert models.parameters(model) == count + more
    bare = architecture("vit", "positional", patch, recipe, position_norm=0)
    assert models.parameters(build(bare, colour(classes=classes))) == count


@pytest.mark.parametrize(
    ("attention", "patch", "gflop"),
    [("self", 4, 2.52), ("positional", 4, 1.66), ("self", 2, 11.6), ("positional", 2, 7.4)],
)
def test_arithmetic_of_the_papers_vit(attention, patch, gflop):
    found = describe(architecture("vit", attention, patch, "vit-cifar"), colour())
    assert found["gflop_per_training_image"] == pytest.approx(gflop, rel=0.01)
    # By hand: six (or four) products with weights and two (or one) with S a layer, the embedding.
    n, width = (32 // patch) ** 2, 384
    products, mixes = (6, 2) if attention == "self" else (4, 1)
    layer = products * 2 * n * width**2 + mixes * 2 * n**2 * width
    by_hand = 3 * (7 * layer + 2 * n * width * 3 * patch**2) / 1e9
    assert found["gflop_per_training_image"] == pytest.approx(by_hand, rel=0.01)


@pytest.mark.parametrize(("model", "forward"), [("resnet18", 0.5565), ("vgg19_bn", 0.3982)])
def test_arithmetic_of_torchvisions_models(model, forward):
    """Thrice the multiply-adds that are commonly given for 32 pixels, but for the first layer."""
    found = describe(architecture(model, "none"), colour())["gflop_per_training_image"]
    first = 2 * 32**2 * 64 * 3 * 9 / 1e9
    assert found == pytest.approx(3 * 2 * forward - first, rel=0.005)


def test_the_recipes_differ_in_divisor_mlp_and_initial_encodings():
    ours, theirs = (build(architecture(recipe=name), colour()) for name in recipes.RECIPES)
    assert ours.blocks[0].attention.divisor == pytest.approx(32**0.5)
    assert theirs.blocks[0].attention.divisor == pytest.approx(384**0.5)
    kinds = [[type(layer).__name__ for layer in m.blocks[6].mlp] for m in (ours, theirs)]
    assert kinds == [["Linear", "GELU", "Linear"], ["Linear", "GELU", "Linear", "GELU"]]
    assert ours.positions.std().item() == pytest.approx(0.02, rel=0.02)
    assert theirs.positions.std().item() == pytest.approx(1, rel=0.02)


@pytest.mark.parametrize(("model", "count"), [("resnet18", 11173962), ("vgg19_bn", 20040522)])
def test_the_variants_of_torchvisions_models_for_32_pixels(model, count):
    sizes = architecture(model, "none")
    built = build(sizes, colour())
    assert models.parameters(built) == count
    assert built(torch.zeros(2, 3, 32, 32)).shape == (2, 10)
    grey = build(sizes, DataSet(1, 48, 1, 7))
    assert grey(torch.zeros(2, 1, 48, 48)).shape == (2, 7)
    again = build(sizes, colour())
    for (name, a), b in zip(built.named_parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b), name
    assert not any(isinstance(m, torch.nn.Dropout) for m in built.modules()), "draws unkeyed"


def test_resnet_18_keeps_32_pixels_until_its_second_stage():
    built = build(architecture("resnet18", "none"), colour())
    built.layer1.register_forward_hook(lambda _, __, out: seen.append(out.shape))
    seen = []
    built(torch.zeros(2, 3, 32, 32))
    assert tuple(seen[0]) == (2, 64, 32, 32)


@pytest.mark.parametrize(
    ("model", "size", "takes"),
    [
        ("resnet18", 31, "at least 32"),
        ("vgg19_bn", 8, "at least 32"),
        ("cnn", 7, "8 to 28"),
        ("cnn", 32, "8 to 28"),
    ],
)
def test_image_sizes_that_a_model_does_not_take(model, size, takes):
    words = f"model: '{model}' .* another for images of {size} pixels: this one takes {takes}"
    with pytest.raises(BadInput, match=words):
        architecture(model, "none", patch=1).check_size(size)


@pytest.mark.parametrize("model", ["resnet18", "vgg19_bn"])
@pytest.mark.parametrize("name", ["width", "layers", "heads", "mlp", "position_std"])
def test_sizes_that_a_model_does_not_have(model, name):
    with pytest.raises(BadInput, match=f"{name}: 2 is not allowed; it must be 0 for a {model}"):
        architecture(model, "none", **{name: 2})


PAPER = "--model vit --attention positional --recipe vit-cifar --image-size 32 --patch 4"
PAPER += " --channels 3 --classes 10"


def test_describe_prints_one_json_line(call):
    code, text = call("describe", *PAPER.split())
    assert code == 0 and text.count("\n") == 1
    line = json.loads(text)
    assert line == {"parameters": 6273418, "gflop_per_training_image": pytest.approx(1.66, 0.01)}
    assert call("describe", *PAPER.replace("--patch 4", "").split())[1] == text, "the paper's patch"
    words = PAPER.replace("vit ", "vgg19_bn ").replace("--patch 4", "")
    assert json.loads(call("describe", *words.split())[1])["parameters"] == 20040522


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("--patch 4", "--patch 5", "patch: 5 is not allowed; it must divide the image size 32"),
        ("--patch 4", "--patch 0", "patch: 0 is not allowed; it must be at least 1"),
        ("--model vit", "--model vgg", "model: 'vgg' is not allowed; it must be one of: vit, cnn"),
        ("--model vit", "--model cnn", "model: 'cnn' is not allowed; it must be another for"),
        ("positional", "none", "attention: 'none' is not allowed; it must be one of: self, pos"),
        ("vit-cifar", "cifar", "recipe: 'cifar' is not allowed; it must be one of: standard, vit"),
        ("--image-size 32", "--image-size 0", "image_size: 0 is not allowed"),
        ("--channels 3", "--channels -1", "channels: -1 is not allowed"),
        ("--channels 3", "--channels x", "Invalid value for '--channels'"),
        ("--classes 10", "--classes 0", "classes: 0 is not allowed"),
        ("--classes 10", "", "Missing option '--classes'"),
        ("--classes 10", "--classes 10 --heads 5", "heads: 5 is not allowed; it must divide the"),
        ("--classes 10", "--classes 10 --layers 0", "layers: 0 is not allowed"),
        ("positional", "no.such:Class", "attention: 'no.such:Class' cannot be imported (Mod"),
    ],
)
def test_describe_says_in_one_line_what_is_wrong(call, old, new, said):
    assert old in PAPER
    code, error = call("describe", *PAPER.replace(old, new).split())
    assert code == 2 and said in error
    announced = error.count("is code of your own, and now runs")  # before it is imported
    assert error.count("\n") == 1 + announced and "Traceback" not in error
