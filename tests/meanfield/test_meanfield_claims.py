"""Every verdict of the study's claims, of synthetic tables."""

from math import inf

import numpy as np
import pandas as pd
import pytest
from meanfield_tables import fits, gaps, grid, horizons, risks, the_larger, the_minimum, the_sum

from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, NOT_RUN, SUPPORTED
from attention_theory.meanfield import bounds_claims, claims, gap_claims, growth, risk_claims


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, SUPPORTED),
        ({"depth": -1.1}, SUPPORTED),
        ({"depth": -0.5}, CONTRADICTED),
        ({"depth": -2.0}, CONTRADICTED),
        ({"depth": -0.75}, INCONCLUSIVE),
        ({"noise": 2.0}, INCONCLUSIVE),
        ({"depths": (2, 4, 8)}, NOT_RUN),
        ({"seeds": 1}, NOT_RUN),
    ],
)
def test_depth(change, verdict):
    judgement = gap_claims.judge_depth(gaps(**change))
    assert judgement.verdict == verdict
    if verdict == SUPPORTED:
        assert judgement.interval.n == 8 and "from 4 to 12" in judgement.measured
        assert judgement.interval.estimate == pytest.approx(change.get("depth", -1), abs=0.06)


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"in_L": 0.25}, SUPPORTED),
        ({"in_L": -0.5}, CONTRADICTED),
        ({"in_L": 0.0}, INCONCLUSIVE),
        ({"in_L": 0.25, "width": -1.0}, CONTRADICTED),
        ({"in_L": 0.25, "width": -0.1}, CONTRADICTED),
        ({"in_L": 0.25, "width": -0.25}, INCONCLUSIVE),
        ({"in_L": 0.25, "noise": 2.0}, INCONCLUSIVE),
        ({"seeds": 1}, NOT_RUN),
    ],
)
def test_width(change, verdict):
    judgement = gap_claims.judge_width(gaps(**change))
    assert judgement.verdict == verdict
    bounded = "the rate bounds the gap" in judgement.measured
    assert bounded == (change.get("in_L", -0.5) < 0 and verdict == CONTRADICTED)


@pytest.mark.parametrize(
    ("law", "change", "verdict"),
    [
        (lambda t: np.exp(4 * t**2), {}, SUPPORTED),
        (lambda t: np.exp(3 * t), {}, INCONCLUSIVE),
        (lambda t: 1 + 3 * t, {}, CONTRADICTED),
        (lambda t: 4 - 3 * np.exp(-5 * t), {}, CONTRADICTED),
        (lambda t: 0.1 + np.exp(-5 * t), {}, CONTRADICTED),
        (lambda t: 1 + 3 * t, {"noise": 3.0}, INCONCLUSIVE),
        (lambda t: 1 + 3 * t, {"seeds": 1}, NOT_RUN),
    ],
)
def test_growth(law, change, verdict):
    judgement = gap_claims.judge_growth(horizons(law, **change))
    assert judgement.verdict == verdict
    if verdict == CONTRADICTED:
        assert "over the first and the second half of tau = 0 to 30" in judgement.measured


@pytest.mark.parametrize(
    ("law", "change", "verdict"),
    [
        (the_sum, {"noise": 0.02}, CONTRADICTED),
        (lambda M_att, M_mlp: 0.5 / M_att + 0.1 / M_mlp, {"noise": 0.02}, CONTRADICTED),
        (the_minimum, {}, SUPPORTED),
        (the_larger, {"noise": 0.02}, SUPPORTED),
        (lambda a, b: the_sum(a, b) + 0.2 * the_minimum(a, b), {"noise": 0.02}, INCONCLUSIVE),
        (the_sum, {"noise": 2.0}, INCONCLUSIVE),
        (the_sum, {"seeds": 1}, NOT_RUN),
    ],
)
def test_minimum(law, change, verdict):
    judgement = gap_claims.judge_minimum(grid(law, **change))
    assert judgement.verdict == verdict
    if law is the_larger:
        assert "against 0.83 (tau 0, fresh prompts, a 0.50" in judgement.measured


def test_misfits_know_their_law():
    laws = ((the_sum, "sum", "min"), (the_minimum, "min", "sum"), (the_larger, "larger", "min"))
    for law, name, other in laws:
        pairs = [(a, b) for a in (8, 32, inf) for b in (8, 32, inf) if (a, b) != (inf, inf)]
        cells = pd.DataFrame(pairs, columns=["M_att", "M_mlp"])
        cells["square"] = [law(*pair) for pair in pairs]
        off = gap_claims.misfits(cells)
        assert off[name] < 1e-12 < 0.1 < off[other]


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, SUPPORTED),
        ({"large": 0.3}, CONTRADICTED),
        ({"decayed": 0.3}, CONTRADICTED),
        ({"small": 1e-8}, CONTRADICTED),
        ({"large": 0.03}, INCONCLUSIVE),
        ({"noise": 12.0}, INCONCLUSIVE),
        ({"seeds": 1}, NOT_RUN),
        ({"decays": (0.0,)}, NOT_RUN),
    ],
)
def test_risk(change, verdict):
    judgement = risk_claims.judge_risk(risks(**change))
    assert judgement.verdict == verdict
    if verdict == SUPPORTED:
        assert "1.0e-02 (L 1, M 2)" in risk_claims.judge_risk(risks(noise=0.001)).measured


@pytest.mark.parametrize(
    ("loss", "change", "verdict"),
    [
        (1e-3, {}, SUPPORTED),
        (1.5, {}, CONTRADICTED),
        (0.1, {}, INCONCLUSIVE),
        (1e-3, {"noise": 3.0}, INCONCLUSIVE),
        (1e-3, {"seeds": 1}, INCONCLUSIVE),
    ],
)
def test_digits(loss, change, verdict):
    judgement = risk_claims.judge_digits(fits(loss, **change))
    assert judgement.verdict == verdict and "after 300 steps" in judgement.measured


def test_every_claim_of_the_study_is_there():
    ids = [claim.id for claim in claims.CLAIMS]
    assert [i for i in ids if "." not in i] == ["M1", "M1b", "M2", "M4", "M5", "M6"]
    assert [i for i in ids if "." in i] == [claim.id for claim in bounds_claims.CLAIMS]


@pytest.mark.parametrize("law", growth.LAWS)
def test_a_law_is_found_again(law):
    tau = np.linspace(0, 30, 21)
    parameters = {
        "linear": (1, 0.2), "exponential": (1, 0.1), "saturating": (1, 3, 5), "power": (1, 0.7)
    }[law]  # fmt: skip
    values = growth.LAWS[law](tau, *parameters)
    off = {name: growth.fit(name, tau, values)[1] for name in growth.LAWS}
    assert off[law] < 1e-4 and min(off, key=off.get) == law
