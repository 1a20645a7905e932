"""Synthetic tables that make every verdict of every claim."""

import pandas as pd
import pytest

from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, NOT_RUN, SUPPORTED
from attention_theory.spatial import claims


def pretraining(associated=(1.0,) * 5, accuracy=(0.995, 0.994, 0.996, 0.995, 0.9945), sweep="main"):
    rows = zip(associated, accuracy, strict=True)
    return pd.DataFrame(
        [
            {"sweep": sweep, "D": 50, "test": 20000, "patch_association": a, "accuracy": b}
            for a, b in rows
        ]
    )


def linear(q, learned, exact):
    common = {"D": 50, "C": 5, "q": q, "d": 16, "N": 10}
    rows = [
        common | {"seed": seed, "classifier": "logistic regression", "error": error}
        for seed, error in enumerate(learned)
    ]
    rows.append(common | {"seed": -1, "classifier": "perturbed weights", "error": exact})
    rows.append(common | {"seed": -1, "classifier": "labelling function", "error": 0.001})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("associated", "verdict"),
    [
        ((1.0,) * 5, SUPPORTED),
        ((1.0, 1.0, 0.98, 1.0, 1.0), SUPPORTED),
        ((1.0, 1.0, 0.98, 0.0, 1.0), INCONCLUSIVE),
        ((1.0, 1.0, 0.98, 0.0, 0.5), CONTRADICTED),
        ((0.98, 0.9, 0.2, 0.0, 0.5), CONTRADICTED),
        ((1.0,) * 2, SUPPORTED),
        ((1.0,), INCONCLUSIVE),
        ((1.0,) * 7 + (0.0,) * 3, INCONCLUSIVE),
        ((1.0,) * 40 + (0.0,) * 60, CONTRADICTED),
    ],
)
def test_association(associated, verdict):
    accuracy = (0.995,) * len(associated)
    judgement = claims.judge_association(pretraining(associated, accuracy))
    assert judgement.verdict == verdict
    assert judgement.interval.low < 1
    assert f"in {sum(a == 1 for a in associated)} of {len(associated)} seeds" in judgement.measured


@pytest.mark.parametrize(
    ("accuracy", "verdict"),
    [
        ((0.995, 0.994, 0.996, 0.995, 0.9945), SUPPORTED),
        ((0.995, 0.97, 0.996, 0.995, 0.9945), INCONCLUSIVE),
        ((0.95, 0.94, 0.96, 0.95, 0.945), CONTRADICTED),
        ((1.0,) * 5, SUPPORTED),
        ((0.9905,), INCONCLUSIVE),
    ],
)
def test_generalisation(accuracy, verdict):
    associated = (1.0,) * len(accuracy)
    judgement = claims.judge_generalisation(pretraining(associated, accuracy))
    assert judgement.verdict == verdict and judgement.interval.low < 1


@pytest.mark.parametrize(
    ("learned", "exact", "verdict"),
    [
        ((0.150, 0.151, 0.152), 0.1435, SUPPORTED),
        ((0.150, 0.151, 0.152), 0.1164, CONTRADICTED),
        ((0.110, 0.111, 0.112), 0.1435, CONTRADICTED),
        ((0.110, 0.125, 0.140), 0.1435, INCONCLUSIVE),
        ((0.130, 0.134, 0.138), 0.1435, INCONCLUSIVE),
        ((0.100,), 0.1435, INCONCLUSIVE),
        ((0.150,), 0.1435, INCONCLUSIVE),
    ],
)
def test_linear_models(learned, exact, verdict):
    for judge, q in ((claims.judge_linear, 0.5), (claims.judge_linear_boundary, 0.4)):
        judgement = judge(linear(q, learned, exact))
        assert judgement.verdict == verdict
        assert f"q D = {50 * q:g}" in judgement.measured


def test_the_hardest_setting_decides():
    table = pd.concat([linear(0.6, (0.16, 0.17), 0.165), linear(0.5, (0.12, 0.121), 0.12)])
    judgement = claims.judge_linear(table)
    assert judgement.verdict == CONTRADICTED and judgement.interval.estimate == 0.12
    # An exact .126 in one setting does not make up for doubt in another.
    doubt = pd.concat([linear(0.5, (0.15, 0.151), 0.126), linear(0.6, (0.12, 0.148), 0.165)])
    assert claims.judge_linear(doubt).verdict == INCONCLUSIVE


def test_several_intervals_hold_together():
    """Among many classifiers one is low by chance: the confidence is shared out."""
    table = linear(0.5, (0.1285, 0.1305, 0.1325), 0.1435)
    assert claims.judge_linear(table).verdict == SUPPORTED
    other = table[table.seed >= 0].assign(classifier="network on the sum")
    two = pd.concat([table, other.assign(error=other.error + 0.05)])
    assert claims.judge_linear(two).verdict == INCONCLUSIVE


def test_claims_without_data_are_not_run():
    assert claims.judge_linear(linear(0.4, (0.1, 0.1), 0.1)).verdict == NOT_RUN
    assert claims.judge_linear_boundary(linear(0.5, (0.1, 0.1), 0.1)).verdict == NOT_RUN
    for judge in (claims.judge_association, claims.judge_generalisation):
        assert judge(pretraining(sweep="q")).verdict == NOT_RUN
