"""Claims I1 and I2 on synthetic tables with a known verdict."""

import math

import pandas as pd
import pytest

from attention_theory import tables
from attention_theory.images import transfer_columns
from attention_theory.images.claims import (
    CLAIMS,
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
            row["parameters"] = 1
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
            row |= {"spearman": 0.0}
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


def test_the_step_judges_all(call, tmp_path):
    accuracy(0.0, 0.03).to_csv(tmp_path / "a.csv", index=False)
    similarity(0.6).to_csv(tmp_path / "s.csv", index=False)
    tables.write(tmp_path / "t.csv", [], transfer_columns.TRANSFER)
    words = "--input accuracy=a.csv --input similarity=s.csv --input transfer=t.csv".split()
    assert call("claims", *words, "--output", "c.csv")[0] == 0
    ledger = pd.read_csv(tmp_path / "c.csv")
    assert ledger.id.tolist() == [claim.id for claim in CLAIMS] == ["I1", "I2", "I4"]
    assert ledger.verdict.tolist() == ["supported", "supported", "not run"]
