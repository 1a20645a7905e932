"""Every step alone: --help, and one line for bad input."""

import numpy as np
import pytest

from attention_theory import files

STEPS = "digits permutation training measuring pretrained figures claims".split()
STEPS += "fashion_mnist cifar10 cifar100 svhn imagefolder".split()
DATA = "--test .5 --validation .1 --base-seed 0 --output d.npz"
OWN_TEST = "--test 0 --validation .1 --base-seed 0 --output d.npz --data-dir nowhere"
PERMUTATION = "--data {p}/digits.npz --permutation patch --patch 2 --base-seed 0 --output o.npz"
TRAINING = (
    "--setting t --data {p}/digits.npz --permutation {p}/patch.npz --model vit --attention self "
    "--patch 2 --width 8 --layers 1 --heads 2 --mlp 8 --position-std .02 --epochs 1 --batch 64 "
    "--rate .001 --weight-decay 0 --smoothing 0 --shift 1 --seeds 1 --base-seed 0 --table t.csv "
    "--models m --snapshots s"
)
SIMILARITY = "--base-seed 0 {p}/digits.npz --permutation {p}/patch.npz --output s.csv"
PRETRAINED = "--model m --base-seed 0 --table t.csv --maps m.npz --weights no.pth"

BAD = [
    ("digits", DATA, {".5": ".0001"}, "test: 0.0001 is not allowed; it must give at least one"),
    ("digits", DATA, {".5": "nan"}, "test: nan is not allowed; it must lie in [0, 1)"),
    ("digits", DATA, {".5": "x"}, "Invalid value for '--test'"),
    ("digits", DATA, {"d.npz": "d.csv"}, "output: 'd.csv' is not allowed; it must end in .npz"),
    ("digits", DATA, {"--output d.npz": ""}, "Missing option '--output'"),
    ("digits", DATA, {".5": "0"}, "test: 0.0 is not allowed; it must give at least one of 1797"),
    ("digits", DATA, {"--test .5": "--test .5 --limit -1"}, "limit: -1 is not allowed"),
    ("svhn", OWN_TEST, {}, "svhn: nowhere has no train_32x32.mat; put it at nowhere/svhn/train_32"),
    ("svhn", OWN_TEST, {"--data-dir": "--checksum x --data-dir"}, "checksum: 'x' is not allowed"),
    ("svhn", OWN_TEST, {"--data-dir": "--mirror x --data-dir"}, "mirror: 'x' is not allowed"),
    ("imagefolder", OWN_TEST, {}, "Missing option '--size'"),
    ("imagefolder", OWN_TEST + " --size 8 --resize 8 --classes 2", {}, "no folder train in nowher"),
    ("imagefolder", OWN_TEST + " --size 8 --resize 4 --classes 2", {}, "resize: 4 is not allowed"),
    ("permutation", PERMUTATION, {"--patch 2": "--patch 3"}, "it must divide the image size 8"),
    ("permutation", PERMUTATION, {"--patch 2": "--patch 0"}, "patch: 0 is not allowed"),
    ("permutation", PERMUTATION, {"--permutation patch": "--permutation row"}, "none, patch, pix"),
    ("permutation", PERMUTATION, {"{p}/digits.npz": "gone.npz"}, "gone.npz: no readable .npz"),
    ("permutation", PERMUTATION, {"digits.npz": "patch.npz"}, "no prepared data set"),
    ("training", TRAINING, {"--rate .001": "--rate nan"}, "rate: nan is not allowed"),
    ("training", TRAINING, {"--rate .001": "--rate -1"}, "rate: -1.0 is not allowed"),
    ("training", TRAINING, {"--seeds 1": "--seeds 0"}, "seeds: 0 is not allowed"),
    ("training", TRAINING, {"--epochs 1": "--epochs 0"}, "epochs: 0 is not allowed"),
    ("training", TRAINING, {"--heads 2": "--heads 3"}, "heads: 3 is not allowed"),
    ("training", TRAINING, {"-std .02": "-std 0"}, "position_std: 0.0 is not allowed"),
    ("training", TRAINING, {"--patch 2": "--patch 4"}, "a permutation of digits (8 pixels, patch"),
    ("training", TRAINING, {"--patch 2": "--patch 3"}, "patch: 3 is not allowed"),
    ("training", TRAINING, {"--batch 64": "--batch 900"}, "batch: 900 is not allowed"),
    ("training", TRAINING, {"patch.npz": "digits.npz"}, "no permutation (it lacks order)"),
    ("training", TRAINING, {"--seeds 1": "--seeds 1 --procedure sgd"}, "procedure: 'sgd' is not"),
    ("training", TRAINING, {"--shift 1": "--shift 1 --augmentation autoaugment"}, "for colour"),
    ("training", TRAINING, {"--batch 64": "--batch 64 --accumulate 3"}, "batch: 64 is not allowed"),
    ("training", TRAINING, {"--batch 64": "--batch 64 --processes 5"}, "processes = 1 x 5"),
    (
        "training",
        TRAINING.replace("--model vit --attention self", "--model cnn --attention none").replace(
            "--heads 2 --mlp 8 --position-std .02", "--accumulate 2"
        ),
        {},
        "model: 'cnn' is not allowed; it must be one without batch norm",
    ),
    (
        "training",
        TRAINING,
        {"--seeds 1": "--seeds 1 --checkpoint-every 2"},
        "without --checkpoints",
    ),
    ("training", TRAINING, {"--seeds 1": "--seeds 1 --precision half"}, "precision: 'half' is not"),
    ("training", TRAINING, {"--seeds 1": "--seeds 1 --compile 1"}, "compile: '1' is not allowed"),
    (
        "training",
        TRAINING,
        {"digits.npz": "strange.npz"},
        "label of image 5: 10 is not allowed; it",
    ),
    (
        "training",
        TRAINING,
        {"digits.npz": "few.npz"},
        "label of image 7: 7 is not allowed; it must",
    ),
    ("training", TRAINING, {"digits.npz": "one.npz"}, "classes: 1 is not allowed; it must be at"),
    ("training", TRAINING, {"digits.npz": "short.npz"}, "labels: 1796 is not allowed; it must be"),
    ("measuring", SIMILARITY, {}, "no snapshots of a model with tokens"),
    ("pretrained", PRETRAINED, {}, "no.pth: no such file"),
    ("pretrained", PRETRAINED, {"no.pth": "no"}, "must end in one of: .safetensors"),
    ("figures", "pie --output f", {}, "figure: 'pie' is not allowed; it must be one of"),
    ("figures", "accuracy --output f", {}, "--input: accuracy=PATH is missing"),
    ("claims", "--output c.csv --input accuracy", {}, "it must read NAME=PATH"),
]


@pytest.fixture(scope="session")
def prepared(prepared, digits):
    """Besides, data sets whose labels and classes do not fit."""
    strange = digits["labels"].copy()
    strange[5] = 10
    faults = {
        "strange": {"labels": strange},
        "few": {"classes": np.asarray(7)},
        "one": {"classes": np.asarray(1)},
        "short": {"labels": digits["labels"][1:]},
    }
    for name, fault in faults.items():
        files.write_arrays(prepared / f"{name}.npz", **(digits | fault))
    return prepared


@pytest.mark.parametrize("step", STEPS)
def test_help(call, step):
    code, text = call(step, "--help")
    assert code == 0 and "Usage:" in text and "--provenance" in text


@pytest.mark.parametrize(
    ("step", "words", "change", "expected"), BAD, ids=[f"{bad[0]}: {bad[3]}" for bad in BAD]
)
def test_bad_input_gets_one_line(call, prepared, tmp_path, step, words, change, expected):
    for old, new in change.items():
        assert old in words
        words = words.replace(old, new)
    code, error = call(step, *words.format(p=prepared).split())
    assert code == 2
    assert expected in error and error.count("\n") == 1 and "Traceback" not in error
    assert not list(tmp_path.iterdir())


def test_data_and_permutation_alone(call, tmp_path):
    assert call("digits", *DATA.split())[0] == 0
    words = PERMUTATION.replace("{p}/digits.npz", "d.npz").split()
    assert call("permutation", *words)[0] == 0
    assert {path.name for path in tmp_path.iterdir()} == {"d.npz", "o.npz"}
