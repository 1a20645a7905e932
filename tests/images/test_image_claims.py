"""Claims I1 to I3 on synthetic tables with a known verdict."""

import math

import pandas as pd
import pytest

from attention_theory import tables
from attention_theory.images import columns, transfer_columns
from attention_theory.images.claims import (
    CLAIMS,
    judge_competition,
    judge_permuted_accuracy,
    judge_recovered_neighbourhoods,
)

NOISE = (-0.002, 0.0, 0.002)
LOUD = (-0.03, 0.0, 0.03)


def accuracy(vit: float, cnn: float, noise=NOISE, patch: int = 2) -> pd.DataFrame:
    """Rows whose paired drops are vit and cnn, plus noise over seeds."""
    rows = []
    for model, attention, drop in (("vit", "self", vit), ("cnn", "none", cnn)):
        for seed, wobble in enumerate(noise):
            row = {"dataset": "digits", "model": model, "attention": attention, "patch": patch}
            common = 0.95 + 0.01 * seed  # cancels in the pairs
            row |= {"parameters": 1, "setting": "s"}
            rows.append(row | {"permutation": "none", "seed": seed, "accuracy": common})
            lower = common - drop - wobble
            rows.append(row | {"permutation": "patch", "seed": seed, "accuracy": lower})
    return pd.DataFrame(rows)


def similarity(precision: float, noise=NOISE) -> pd.DataFrame:
    rows = []
    for state, value in (("initial", 0.2), ("final", precision)):
        for seed, wobble in enumerate(noise):
            row = {"dataset": "digits", "model": "vit", "attention": "self", "patch": 2}
            row |= {"permutation": "patch", "seed": seed, "measure": "positions", "state": state}
            row |= {"precision_at_4": value + wobble, "chance": 0.2, "ceiling": 0.75, "epoch": 1}
            row |= {"spearman": 0.0, "precision_p": 0.001, "spearman_p": 0.5}
            rows += [row, row | {"measure": "attention", "precision_at_4": 0.0}]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("vit", "cnn", "noise", "verdict"),
    [
        (0.001, 0.03, NOISE, "supported"),
        (-0.01, 0.03, NOISE, "supported"),
        (0.04, 0.03, NOISE, "contradicted"),
        (0.001, 0.001, NOISE, "contradicted"),
        (0.001, 0.011, NOISE, "inconclusive"),
        (0.019, 0.03, NOISE, "inconclusive"),
        (0.001, 0.03, LOUD, "inconclusive"),
        (0.001, 0.03, (0.0,), "inconclusive"),
    ],
)
def test_permuted_accuracy(vit, cnn, noise, verdict):
    found = judge_permuted_accuracy(accuracy(vit, cnn, noise))
    assert found.verdict == verdict
    assert found.interval.estimate == pytest.approx(vit) and found.interval.n == len(noise)
    assert f"{vit:.3f}" in found.measured and f"{cnn:.3f}" in found.measured


@pytest.mark.parametrize(
    ("precision", "noise", "verdict"),
    [
        (0.6, NOISE, "supported"),
        (0.75, (0, 0, 0), "inconclusive"),  # no spread, no interval
        (0.15, NOISE, "contradicted"),
        (0.3, NOISE, "contradicted"),  # above chance, but far from the ceiling
        (0.475, NOISE, "inconclusive"),
        (0.5, LOUD, "inconclusive"),
        (0.45, LOUD, "inconclusive"),
        (0.7, (0.0,), "inconclusive"),
    ],
)
def test_recovered_neighbourhoods(precision, noise, verdict):
    found = judge_recovered_neighbourhoods(similarity(precision, noise))
    assert found.verdict == verdict
    assert found.interval.estimate == pytest.approx(precision)
    assert "chance 0.20, ceiling 0.75" in found.measured


def test_patch_sizes_are_no_seeds_and_the_worst_decides():
    both = pd.concat([accuracy(0.001, 0.03, patch=2), accuracy(0.04, 0.03, patch=4)])
    found = judge_permuted_accuracy(both)
    assert found.verdict == "contradicted" and found.interval.n == 3
    assert found.measured.startswith("digits, patch 4")


@pytest.mark.parametrize("part", ["model == 'vit'", "model == 'cnn'", "permutation == 'none'"])
def test_i1_is_not_run_without_pairs(part):
    found = judge_permuted_accuracy(accuracy(0.0, 0.03).query(part))
    assert found.verdict == "not run" and math.isnan(found.interval.estimate)


@pytest.mark.parametrize("part", ["state == 'initial'", "permutation == 'none'"])
def test_i2_is_not_run_without_final_rows(part):
    assert judge_recovered_neighbourhoods(similarity(0.6).query(part)).verdict == "not run"


def test_every_cnn_must_suffer():
    one = accuracy(0.001, 0.03)
    other = one[one.model == "cnn"].replace({"model": {"cnn": "resnet18"}})
    assert judge_permuted_accuracy(pd.concat([one, other])).verdict == "supported"
    other.loc[other.permutation == "patch", "accuracy"] += 0.028
    found = judge_permuted_accuracy(pd.concat([one, other]))
    assert found.verdict == "contradicted"
    assert "0.030" in found.measured and "0.002" in found.measured and "ResNet-18" in found.measured


def competitors(gain: float, noise=NOISE, patch: int = 2) -> pd.DataFrame:
    """Rows of both ViTs whose paired difference is `gain`, plus noise over seeds."""
    rows = []
    for seed, wobble in enumerate(noise):
        row = {"dataset": "digits", "model": "vit", "patch": patch, "permutation": "none"}
        row |= {"seed": seed, "parameters": 1, "setting": "s"}
        rows.append(row | {"attention": "self", "accuracy": 0.9 + 0.01 * seed})
        better = 0.9 + 0.01 * seed + gain + wobble
        rows.append(row | {"attention": "positional", "accuracy": better})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("gain", "noise", "verdict", "same"),
    [
        (0.0, NOISE, "supported", "yes"),
        (0.05, NOISE, "supported", "no"),  # better is not worse, and not equivalent
        (-0.05, NOISE, "contradicted", "no"),
        (-0.02, NOISE, "inconclusive", "no"),
        (0.0, LOUD, "inconclusive", "no"),
        (0.0, (0.0,), "inconclusive", "no"),
    ],
)
def test_competition(gain, noise, verdict, same):
    found = judge_competition("digits", competitors(gain, noise))
    assert found.verdict == verdict and f"within 0.02: {same}" in found.measured
    assert found.interval.estimate == pytest.approx(gain)


def test_competition_tells_every_patch_size_and_the_worst_decides():
    both = pd.concat([competitors(0.0), competitors(-0.05, patch=4)])
    found = judge_competition("digits", both)
    assert found.verdict == "contradicted" and found.interval.estimate == pytest.approx(-0.05)
    assert "patch 2" in found.measured and "patch 4" in found.measured
    assert judge_competition("svhn", both).verdict == "not run"
    assert judge_competition("digits", accuracy(0.0, 0.03)).verdict == "not run"


def test_the_step_judges_all(call, tmp_path):
    pd.concat([accuracy(0.0, 0.03), competitors(0.05).query("attention == 'positional'")]).to_csv(
        tmp_path / "a.csv", index=False
    )
    similarity(0.6).to_csv(tmp_path / "s.csv", index=False)
    absent = dict.fromkeys(columns.PRETRAINED) | {"reason": "no weights"}
    pd.DataFrame([absent]).to_csv(tmp_path / "p.csv", index=False)
    tables.write(tmp_path / "t.csv", [], transfer_columns.TRANSFER)
    named = {"accuracy": "a", "similarity": "s", "pretrained": "p", "transfer": "t"}
    words = [f"--input={name}={file}.csv" for name, file in named.items()]
    assert call("claims", *words, "--output", "c.csv")[0] == 0
    ledger = pd.read_csv(tmp_path / "c.csv").set_index("id").verdict
    assert ledger.index.tolist() == [claim.id for claim in CLAIMS]
    assert ledger[["I1", "I2", "I3.digits"]].tolist() == ["supported"] * 3
    assert set(ledger.drop(["I1", "I2", "I3.digits"])) == {"not run"}
