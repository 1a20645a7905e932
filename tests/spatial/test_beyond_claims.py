"""Synthetic tables that make every verdict of the claims behind experiment 8, and its figures."""

import numpy as np
import pandas as pd
import pytest

from attention_theory import style
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, NOT_RUN, SUPPORTED
from attention_theory.spatial import beyond_claims, beyond_columns, beyond_figures
from attention_theory.spatial import total_variation as tv

NAN = float("nan")


def encodings(associated, parametrisation="orthonormal", diagonal="free", m=50):
    return pd.DataFrame(
        {
            "parametrisation": parametrisation,
            "diagonal": diagonal,
            "m": m,
            "D": 50,
            "seed": range(len(associated)),
            "patch_association": associated,
            "patch_association_max": 1.0,
            "accuracy": 0.99,
        }
    )


def unassociated(*rows, test=20_000):
    """Models (kind, patch_association, accuracy)."""
    common = {"D": 50, "C": 5, "beta": 3.0, "alpha_D": 10.0, "test": test}
    return pd.DataFrame(
        [
            common
            | {"kind": kind, "patch_association": found, "accuracy": accuracy}
            | {"g_0": 2.0 if kind == "trained" else NAN}
            for kind, found, accuracy in rows
        ]
    )


def planted(exponents, noise=0.0, sizes=(4, 8, 16, 32, 64)):
    """Distances that fall as C ** exponent at each degree, with noise in their logarithm."""
    rng = np.random.default_rng(0)
    rows = [
        {"curve": "degree", "degree": degree, "C": C}
        | {"tv": 0.5 * C**exponent * np.exp(noise * rng.standard_normal())}
        for degree, exponent in exponents.items()
        for C in sizes
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("associated", "verdict"),
    [
        ((1.0,) * 5, SUPPORTED),
        ((1.0, 1.0, 0.98, 1.0, 1.0), SUPPORTED),
        ((1.0, 1.0, 0.98, 0.0, 1.0), INCONCLUSIVE),
        ((1.0, 0.9, 0.98, 0.0, 0.5), CONTRADICTED),
    ],
)
def test_trained_encodings(associated, verdict):
    others = encodings((0.5, 1.0), "gaussian", m=200)
    judgement = beyond_claims.judge_encodings(pd.concat([encodings(associated), others]))
    assert judgement.verdict == verdict and judgement.interval.n == 5
    assert "gaussian P, diagonal free, m = 200: 1 of 2" in judgement.measured


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([("pairs", 0.0, 0.997)], CONTRADICTED),
        ([("trained", 0.0, 0.995), ("wrong", 0.0, 0.96)], CONTRADICTED),
        ([("pairs", 0.0, 0.9905)], INCONCLUSIVE),
        ([("pairs", 0.0, 0.98), ("trained", 0.0, 0.9895)], INCONCLUSIVE),
        ([("pairs", 0.0, 0.98), ("trained", 0.0, 0.88)], SUPPORTED),
        ([("pairs", 0.0, 0.98), ("trained", 0.02, 0.999)], SUPPORTED),
    ],
)
def test_necessity_of_association(rows, verdict):
    judgement = beyond_claims.judge_necessity(unassociated(*rows))
    assert judgement.verdict == verdict
    assert judgement.interval.low < judgement.interval.estimate and judgement.interval.n == 1


def test_the_best_of_many_must_be_sure():
    """One model at .9920 of 20000 is surely above .99, the best of 400 such is not."""
    one = ("trained", 0.0, 0.9920)
    assert beyond_claims.judge_necessity(unassociated(one)).verdict == CONTRADICTED
    many = unassociated(*[one] * 400)
    assert beyond_claims.judge_necessity(many).verdict == INCONCLUSIVE


@pytest.mark.parametrize(
    ("exponents", "noise", "any_degree", "above"),
    [
        ({1: 0.0, 2: 0.0, 3: -0.5}, 0.0, CONTRADICTED, SUPPORTED),
        ({1: -0.2, 2: -0.2, 3: -0.5}, 0.0, SUPPORTED, SUPPORTED),
        ({1: 0.0, 2: 0.0, 3: 0.01}, 0.0, CONTRADICTED, CONTRADICTED),
        ({1: -0.5, 3: -0.2}, 0.5, INCONCLUSIVE, INCONCLUSIVE),
        ({1: 0.0, 2: 0.0}, 0.0, CONTRADICTED, NOT_RUN),
    ],
)
def test_closeness(exponents, noise, any_degree, above):
    table = planted(exponents, noise)
    assert beyond_claims.judge_closeness(table).verdict == any_degree
    assert beyond_claims.judge_closeness_above(table).verdict == above


def test_the_highest_degree_at_which_it_stays_decides():
    judgement = beyond_claims.judge_closeness(planted({1: 0.02, 2: 0.0, 3: -0.5}))
    assert judgement.interval.estimate == pytest.approx(0, abs=1e-9)
    assert "at degree 3 (exponent -0.50)" in judgement.measured


def test_claims_without_data_are_not_run():
    assert beyond_claims.judge_encodings(encodings((1.0,), "gaussian")).verdict == NOT_RUN
    assert beyond_claims.judge_necessity(unassociated(("trained", 0.1, 1.0))).verdict == NOT_RUN
    assert beyond_claims.judge_closeness(planted({1: 0.0}, sizes=(4, 8))).verdict == NOT_RUN
    assert beyond_claims.judge_closeness(planted({0.5: 0.0})).verdict == NOT_RUN


def grid():
    cells = [
        unassociated(("trained", float(beta > g_0), 0.99)).assign(beta=float(beta), g_0=g_0)
        for beta in (0, 1, 3)
        for g_0 in (0.0, 0.5, 2.0)
    ]
    written = [
        unassociated((kind, 0.0, accuracy)).assign(D=D)
        for kind in ("pairs", "wrong")
        for D, accuracy in ((50, 0.99), (400, 1.0))
    ]
    return pd.concat([*cells, *written], ignore_index=True)


def distances():
    rows = [
        ("ratio", C, 0.01, 100 * x * C**2, NAN, "own", 1, tv.planted(100 * x * C**2, C, 0.005), 0.0)
        for C in (4, 8)
        for x in (1, 4, 16)
    ]
    rows += [
        ("samples", 5, 0.4, m, NAN, knowledge, n, n / 4, 0.0)
        for knowledge in ("own", "common", "known")
        for m in (50, 100)
        for n in (1, 2, 4)
    ]
    return pd.DataFrame(rows, columns=beyond_columns.PLANTED)


@pytest.mark.parametrize(
    ("name", "table", "rows"),
    [
        ("unassociated", grid(), 9 + 4),
        ("planted", distances(), 6 + 18),
        ("encodings", pd.concat([encodings((1.0, 0.9)), encodings((0.5,), "gaussian")]), 3),
    ],
)
def test_figures_show_their_tables_and_repeat_their_bytes(name, table, rows, tmp_path):
    style.use()
    for copy in ("one", "two"):
        figure, shown = beyond_figures.FIGURES[name](table)
        assert len(shown) == rows
        style.save(figure, shown, tmp_path / copy)
    for suffix in (".pdf", ".png", ".csv"):
        one, two = (tmp_path / f"{copy}{suffix}" for copy in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
