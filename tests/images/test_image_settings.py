"""The conditions on the study's settings, checked without torch."""

import copy
import subprocess
import sys

import pytest

from attention_theory.errors import BadInput
from attention_theory.images import sections
from attention_theory.images.datasets import KNOWN

SECTION = {
    "datasets": ["digits"],
    "data_dir": None,
    "downloads": "data",
    "mirror": None,
    "checksums": {},
    "imagefolder": {"size": 8, "resize": 10, "classes": 5},
    "split": {"test": 0.5, "validation": 0.1, "limit": 0},
    "models": {
        "vit": {"model": "vit", "attention": "self", "patch": 2, "width": 8, "layers": 1}
        | {"heads": 2, "mlp": 8, "position_std": 0.02},
        "cnn": {"model": "cnn", "attention": "none", "patch": 2, "width": 4, "layers": 2},
    },
    "training": {"epochs": 1, "batch": 64, "rate": 1e-3, "weight_decay": 0.0}
    | {"smoothing": 0.1, "shift": 1},
    "computation": {"gpus": 1, "accumulate": 1, "checkpoint_every": 0}
    | {"precision": "auto", "compile": "auto"},
    "seeds": {"none": 3, "patch": 3, "pixel": 2},
    "pretrained": {"model": "vit_small_patch32_224", "weights": None},
}


def test_every_model_is_trained_on_every_permutation():
    trainings = sections.trainings(SECTION)
    assert len(trainings) == 6
    assert trainings["digits-cnn-patch"]["images"] == "digits-2-patch"
    assert trainings["digits-vit-none"]["options"]["heads"] == 2
    assert trainings["digits-vit-none"]["options"]["checkpoint_every"] == 0
    assert "gpus" not in trainings["digits-vit-none"]["options"], "the workflow's own"
    permutations = sections.permutations(trainings)
    assert list(permutations) == ["digits-2-none", "digits-2-patch", "digits-2-pixel"]
    assert permutations["digits-2-patch"] == {
        "dataset": "digits",
        "options": {"permutation": "patch", "patch": 2},
    }
    vits = ["digits-vit-none", "digits-vit-patch", "digits-vit-pixel"]
    assert sections.with_similarity(trainings) == vits
    assert [trainings[name]["options"]["seeds"] for name in vits] == [3, 3, 2]
    assert sections.with_maps(trainings) == "digits-vit-patch"
    few = copy.deepcopy(SECTION)
    few["models"]["vit"]["patch"] = 4
    assert sections.with_similarity(sections.trainings(few)) == [], "four tokens cannot be ranked"
    without = {name: trainings[name] for name in ("digits-cnn-patch", "digits-vit-pixel")}
    assert sections.with_similarity(without) == ["digits-vit-pixel"]
    assert sections.with_maps(without) is None


def test_what_is_trained_can_be_chosen_by_model_and_permutation():
    section = copy.deepcopy(SECTION)
    section["models"]["cnn"] = None
    section["models"]["vit"]["permutations"] = ["none", "pixel"]
    section["models"]["positional"] = SECTION["models"]["vit"] | {"attention": "positional"}
    section["seeds"]["pixel"] = 0
    trainings = sections.trainings(section)
    assert list(trainings) == [
        f"digits-{n}" for n in ("vit-none", "positional-none", "positional-patch")
    ]
    assert sections.with_maps(trainings) is None
    assert sections.with_maps(trainings, "positional") == "digits-positional-patch"
    assert sections.compares(trainings)
    del trainings["digits-vit-none"]
    assert not sections.compares(trainings)


@pytest.mark.parametrize("weights", [None, "timm", __file__])
def test_the_pretrained_model_may_be_left_out(weights):
    section = SECTION | {"pretrained": {"model": "vit", "weights": weights}}
    found = {"model": "vit"} | ({"weights": weights} if weights else {})
    assert sections.pretrained(section) == found
    section = SECTION | {"pretrained": {"model": "vit", "weights": "gone.pth"}}
    with pytest.raises(BadInput, match="images.pretrained.weights: 'gone.pth' .* that is there"):
        sections.pretrained(section)


def test_what_the_preparation_of_a_data_set_is_told():
    assert sections.datasets(SECTION) == {"digits": SECTION["split"]}
    section = SECTION | {"datasets": ["svhn", "digits", "imagefolder"], "data_dir": "there"}
    section["checksums"] = {"a.mat": 32 * "0"}
    own = {"test": 0.0, "validation": 0.1, "limit": 0}
    places = {"data_dir": "there", "downloads": "data", "checksum": ["a.mat=" + 32 * "0"]}
    assert sections.datasets(section) == {
        "svhn": own | places,
        "digits": SECTION["split"],
        "imagefolder": own | places | SECTION["imagefolder"],
    }


def test_settings_of_every_data_set():
    models = {"vit": SECTION["models"]["vit"]}  # the small cnn takes no images of 32 pixels
    section = SECTION | {"datasets": list(KNOWN), "models": models}
    trainings = sections.trainings(section)
    tokens = {name.split("-")[0]: setting["tokens"] for name, setting in trainings.items()}
    assert set(tokens) == set(KNOWN)
    sizes = {"digits-vit": 16, "fashion_mnist-vit": 196, "cifar10-vit": 256, "imagefolder-vit": 16}
    for name, expected in sizes.items():
        assert trainings[f"{name}-none"]["tokens"] == expected


NAN = float("nan")
RESNET = {"model": "resnet18", "attention": "none", "patch": 2}
OWN = {"model": "mine:Model", "attention": "none", "patch": 2}


@pytest.mark.parametrize(
    ("dataset", "changes", "words"),
    [
        ("imagefolder", {"imagefolder": {"size": 9, "resize": 9, "classes": 5}}, "patch: 2 .* 9"),
        ("imagefolder", {"imagefolder": {"size": 8, "resize": 6, "classes": 5}}, "resize: 6 .* 8"),
        ("imagefolder", {"split": SECTION["split"] | {"limit": 60}}, "batch: 64 .* at most 60"),
        ("cifar10", {"split": SECTION["split"] | {"validation": 1e-6}}, "one of 50000 images"),
        ("svhn", {"training": SECTION["training"] | {"batch": 10**5}}, "at most 65931"),
    ],
)
def test_bad_settings_of_other_data_sets_are_named(dataset, changes, words):
    with pytest.raises(BadInput, match=words):
        models = {"vit": SECTION["models"]["vit"]}
        sections.trainings(SECTION | {"datasets": [dataset], "models": models} | changes)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("seeds", dict.fromkeys(("none", "patch"), 0), "images.seeds: 0 .* be at least 1"),
        ("seeds.patch", -1, "config key images.seeds.patch: -1 is not allowed"),
        (
            "datasets",
            ["digit"],
            "images.datasets: 'digit' .* be one of: digits, fashion_mnist, ci",
        ),
        ("models.vit.permutations", ["rows"], "permutation: 'rows' .* none, patch, pixel"),
        ("split.test", 1.0, "images.split.test: 1.0 .* lie in"),
        ("split.validation", NAN, "images.split.validation: nan .* lie in"),
        ("split.limit", -1, "images.split.limit: -1 .* not be negative"),
        ("split.limit", 60, "images.training.batch: 64 .* at most 60"),
        ("split.test", 0.0, "split.test: 0.0 .* give at least one of 1797 images"),
        ("split.test", 0.95, "images.split.test: 0.95 .* leave images to train on"),
        ("split.test", 1e-4, "images.split.test: 0.0001 .* give at least one of 1797 images"),
        ("split.validation", 1e-4, "split.validation: 0.0001 .* at least one of 1797 images"),
        ("training.shift", 8, "images.training.shift: 8 .* below the image size 8"),
        ("training.epochs", 0, "images.training.epochs: 0 .* at least 1"),
        ("training.batch", 800, "images.training.batch: 800 .* at most 719"),
        ("training.rate", -1.0, "images.training.rate: -1.0 .* above 0"),
        ("training.rate", NAN, "images.training.rate: nan .* finite"),
        ("training.weight_decay", -0.1, "images.training.weight_decay: -0.1 .* not negative"),
        ("training.smoothing", 1.0, "images.training.smoothing: 1.0 .* lie in"),
        ("training.procedure", "sgd", "images.training.procedure: 'sgd' .* standard, vit-cifar"),
        ("training.augmentation", "flip", "training.augmentation: 'flip' .* shift, autoaugment"),
        ("training.augmentation", "autoaugment", "images.training.augmentation: .* colour images"),
        (
            "computation.accumulate",
            3,
            "images.training.batch: 64 .* accumulate x processes = 3 x 1",
        ),
        ("computation.gpus", 3, "images.training.batch: 64 .* accumulate x processes = 1 x 3"),
        ("computation.gpus", 0, "images.computation.gpus: 0 .* at least 1"),
        ("computation.accumulate", 0, "images.computation.accumulate: 0 .* at least 1"),
        ("computation.precision", "half", "computation.precision: 'half' .* auto, float32, bfl"),
        ("computation.compile", "on", "images.computation.compile: 'on' .* auto, always, never"),
        ("computation.checkpoint_every", -1, "computation.checkpoint_every: -1 .* not be neg"),
        ("training.shift", -1, "images.training.shift: -1 .* negative"),
        ("models.vit.patch", 3, "images.models.vit.patch: 3 .* divide the image size 8"),
        ("models.vit.heads", 3, "images.models.vit.heads: 3 .* divide the width 8"),
        ("models.vit.heads", 0, "images.models.vit.heads: 0 .* divide the width 8"),
        ("models.vit.mlp", 0, "images.models.vit.mlp: 0 .* at least 1"),
        ("models.vit.position_std", NAN, "images.models.vit.position_std: nan .* above 0"),
        ("models.vit.width", 0, "images.models.vit.width: 0 .* at least 1"),
        ("models.vit.model", "vgg", "images.models.vit.model: 'vgg' .* be one of: vit, cnn"),
        ("models.vit.attention", "none", "attention: 'none' .* be one of: self, positional"),
        ("models.cnn.attention", "self", "images.models.cnn.attention: 'self' .* one of: none"),
        ("models.cnn.heads", 2, "images.models.cnn.heads: 2 .* be 0 for a cnn"),
        ("models.cnn.layers", 5, "images.models.cnn.layers: 5 .* at most 4"),
        ("models.vit.model", "my model", "model: 'my model' .* vgg19_bn or package.module:Class"),
        ("models.vit.attention", "a:", "attention: 'a:' .* positional or package.module:Class"),
        ("models.cnn.attention", "a:B", "images.models.cnn.attention: 'a:B' .* one of: none"),
        ("models.vit.recipe", "cifar", "images.models.vit.recipe: 'cifar' .* standard, vit-cifar"),
        ("models.vit.position_norm", 2, "images.models.vit.position_norm: 2 .* be 0 or 1"),
        ("models.cnn", RESNET, "models.cnn.model: 'resnet18' .* of 8 pixels: .* at least 32"),
        ("models.cnn", OWN | {"width": -1}, "images.models.cnn.width: -1 .* not be negative"),
        ("models.cnn", OWN | {"position_std": 1.0}, "cnn.position_std: 1.0 .* be 0 for a class"),
    ],
)
def test_bad_settings_are_named(path, value, words):
    section = copy.deepcopy(SECTION)
    *parents, key = path.split(".")
    place = section
    for parent in parents:
        place = place[parent]
    place[key] = value
    with pytest.raises(BadInput, match=words):
        sections.trainings(section)


@pytest.mark.parametrize("model", ["cnn", "resnet18", "vgg19_bn"])
@pytest.mark.parametrize(("key", "parts"), [("gpus", "1 x 2"), ("accumulate", "2 x 1")])
def test_batch_norm_and_parts_of_a_batch_are_refused_before_any_job(model, key, parts):
    section = copy.deepcopy(SECTION)
    section["computation"][key] = 2
    section["models"]["cnn"]["model"] = model
    words = (
        f"images.models.cnn.model: '{model}' .* without batch norm.* accumulate x gpus = {parts}"
    )
    with pytest.raises(BadInput, match=words):
        sections.trainings(section)
    del section["models"]["cnn"]
    assert len(sections.trainings(section)) == 3


def test_sizes_that_are_not_given_are_the_papers():
    section = copy.deepcopy(SECTION)
    section["models"] = {
        "vit": {"model": "vit", "attention": "positional", "patch": 2, "recipe": "vit-cifar"},
        "small": {"model": "vit", "attention": "self", "patch": 2, "width": 24},
        "own": OWN | {"width": 3},
        "gram": {"model": "vit", "attention": "mine:Gram", "patch": 2},
    }
    trainings = sections.trainings(section)
    names = "width layers heads mlp position_std".split()
    found = {
        name: [trainings[f"digits-{name}-none"]["options"][key] for key in names]
        for name in section["models"]
    }
    assert found == {
        "vit": [384, 7, 12, 384, 1.0],
        "small": [24, 7, 12, 384, 0.02],
        "own": [3, 0, 0, 0, 0.0],
        "gram": [384, 7, 12, 384, 0.02],
    }
    assert sections.with_similarity(trainings)[-1] == "digits-gram-pixel"


def test_a_model_that_is_null_is_left_out():
    section = copy.deepcopy(SECTION)
    section["models"]["cnn"] = None
    assert {name.split("-")[1] for name in sections.trainings(section)} == {"vit"}
    section["models"]["vit"] = None
    with pytest.raises(BadInput, match="images.models: .* have one that is not null"):
        sections.trainings(section)


def test_models_that_the_tables_cannot_tell_apart_are_refused():
    section = copy.deepcopy(SECTION)
    section["models"]["wide"] = section["models"]["vit"] | {"width": 16}
    with pytest.raises(
        BadInput, match="models.wide.model: .* differ .* or sizes: give those a `run`"
    ):
        sections.trainings(section)


def test_no_step_imports_torch_before_it_trains():
    modules = (
        "settings recipes sections schedule procedures data digits permutation training".split()
    )
    modules += "measuring similarity pretrained describe figures claims transfer".split()
    modules += "fashion_mnist cifar10 cifar100 svhn imagefolder".split()
    imports = ", ".join(f"attention_theory.images.{name}" for name in modules)
    program = f"import sys, {imports}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
