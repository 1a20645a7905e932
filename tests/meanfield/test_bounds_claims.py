"""Synthetic tables that make every verdict of M3 and M7, and the figures drawn from them."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from attention_theory import style
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, NOT_RUN, SUPPORTED
from attention_theory.meanfield import bounds_claims, bounds_columns, bounds_figures
from attention_theory.meanfield.bounds import BOUNDS, BY_NAME, DENSITY, IDENTITY, INEQUALITY, STATED


def audit(failing=(), doubtful=()):
    """A bounds.csv in which the named statements fail, or are in doubt, and the others hold."""
    rows = []
    for bound in BOUNDS:
        limit = 1e-6 if bound.form == IDENTITY else 1.0
        row = {"bound": bound.name, "stated": bound.stated, "form": bound.form}
        row |= {"sup_ratio": limit * 0.995, "limit": limit, "sizes": "1x1", "seeds": 2}
        row |= {"evaluations": 100, "holds": True, "sup_D": 1, "sup_N": 1}
        if bound.name in failing:
            row |= {"holds": False, "sup_ratio": 7.0, "counterexample": '{"T": [[0, 1]]}'}
            row |= {"counterexample_D": 1, "counterexample_N": 1, "left": 2.5, "right": 1.5}
        if bound.name in doubtful:
            row |= {"holds": None, "sup_ratio": limit * (1 + 1e-7)}
        rows.append(row)
    return pd.DataFrame(rows, columns=bounds_columns.BOUNDS)


def searches(bounds):
    rows = [
        {"bound": row.bound, "stated": row.stated, "form": row.form, "D": 1, "N": 1, "seed": seed}
        | {"search": search, "evaluations": 25, "sup_ratio": share * row.sup_ratio}
        for row in bounds.itertuples()
        for seed in range(2)
        for search, share in (("random", 0.9), ("ascent", 1.0))
    ]
    return pd.DataFrame(rows, columns=bounds_columns.SEARCHES)


def lipschitz(exponent=2.0, l2=0.5, noise=0.0, norms=(1, 10, 30, 100), tokens=(2, 3, 16)):
    """|J| of softmax as |T|_F^exponent, of l2 as `l2` of sqrt(N log N / D)."""
    rng = np.random.default_rng(0)
    rows = []
    for D in (2, 4):
        for norm in norms:
            J = norm**exponent * np.exp(noise * rng.standard_normal())
            place = {"attention": "softmax", "N": 3, "norm": norm, "search": "family"}
            rows.append(place | {"D": D, "J": J})
        for N in tokens:
            J = l2 * np.sqrt(N * np.log(N) / D)
            for search in ("ascent", "family"):
                rows.append({"attention": "l2", "D": D, "N": N, "search": search, "J": J})
            rows.append({"attention": "l1", "D": D, "N": N, "search": "ascent", "J": 1.0})
    frame = pd.DataFrame(rows, columns=bounds_columns.LIPSCHITZ)
    return frame.assign(seed=0, evaluations=10)


@pytest.mark.parametrize("bound", STATED, ids=lambda bound: bound.name)
def test_each_stated_bound_gets_every_verdict(bound):
    judge = bounds_claims.judge_bound(bound)
    held = judge(audit())
    assert held.verdict == SUPPORTED and "no violation in 100" in held.measured
    assert ("tight" in held.measured) == (bound.form not in (IDENTITY, DENSITY))
    failed = judge(audit(failing=[bound.name]))
    assert failed.verdict == CONTRADICTED and "D = 1, N = 1" in failed.measured
    largest, smallest = (7, 7, math.inf, 100), (7, 0, 7, 100)  # what a search leaves open
    assert failed.interval == (smallest if bound.form == "density" else largest)
    if bound.correction:
        assert BY_NAME[bound.correction].statement in failed.measured
        assert "survives" in failed.measured
        both = judge(audit(failing=[bound.name, bound.correction]))
        assert "fails" in both.measured.partition("corrected")[2]
    assert judge(audit(doubtful=[bound.name])).verdict == INCONCLUSIVE
    none = audit()
    assert judge(none[none.bound != bound.name]).verdict == NOT_RUN


def test_every_stated_bound_is_a_claim_and_no_correction_is():
    ids = [claim.id for claim in bounds_claims.CLAIMS]
    assert ids == [f"M3.{bound.name}" for bound in STATED] + ["M7.R1", "M7.R2", "M7.R3"]


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, SUPPORTED),
        ({"exponent": 6.0}, CONTRADICTED),
        ({"noise": 1.0}, INCONCLUSIVE),
        ({"norms": (1, 10, 30)}, NOT_RUN),
    ],
)
def test_r1_every_verdict(change, verdict):
    assert bounds_claims.judge_softmax(lipschitz(**change)).verdict == verdict


def test_r2_every_verdict():
    assert bounds_claims.judge_l2(lipschitz()).verdict == SUPPORTED
    failed = bounds_claims.judge_l2(lipschitz(l2=1.2))
    assert failed.verdict == CONTRADICTED and "N = 2, 3, 16" in failed.measured
    rounding = bounds_claims.judge_l2(lipschitz(l2=1 + 1e-8))
    assert rounding.verdict == SUPPORTED
    assert bounds_claims.judge_l2(lipschitz().query("attention != 'l2'")).verdict == NOT_RUN


def test_r3_is_never_settled_by_a_number():
    assert bounds_claims.judge_l1(lipschitz()).verdict == INCONCLUSIVE
    assert bounds_claims.judge_l1(lipschitz().query("attention != 'l1'")).verdict == NOT_RUN


def test_the_figures_draw_what_the_tables_hold(tmp_path):
    style.use()
    table = audit(failing=("2iii", "2i-f-2"), doubtful=["2ii-W"])
    figure, shown = bounds_figures.bounds(table, searches(table))
    style.save(figure, shown, tmp_path / "bounds")
    assert set(shown.bound) == {bound.name for bound in BOUNDS if bound.form == INEQUALITY}
    figure, shown = bounds_figures.lipschitz(lipschitz())
    style.save(figure, shown, tmp_path / "lipschitz")
    assert {"softmax", "l2"} == set(shown.attention)


@pytest.mark.parametrize("failing", [(), [bound.name for bound in BOUNDS]])
def test_the_audits_figure_can_be_drawn_of_any_verdicts(failing):
    table = audit(failing)
    figure, shown = bounds_figures.bounds(table, searches(table))
    assert len(figure.axes) == 2 and len(shown)
    plt.close(figure)
