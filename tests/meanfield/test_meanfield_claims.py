"""Synthetic tables that make every verdict of the study's claims, and its figures."""

from math import inf, log

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from attention_theory import style
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, NOT_RUN, SUPPORTED
from attention_theory.meanfield import claims, columns, figures, gap_claims, growth, risk_claims

PROBLEM = {"d_x": 2, "n": 5, "tasks": 32, "fresh": 64, "mean": 0.3, "spread": 0.6, "neurons": 1.2}
PROBLEM |= {"K": 12, "d_tau": 0.1, "decay": 1e-3, "steps": 18, "limit": 16}


def frame(rows, name):
    return pd.DataFrame([PROBLEM | row for row in rows])[columns.INPUTS[name]]


def gaps(depth=-1.0, width=-0.5, in_L=-0.5, noise=0.05, seeds=8, depths=(2, 4, 8, 12)):
    """Gaps that are powers of L and M, but for a random factor."""
    rng = np.random.default_rng(0)
    rows = []

    def add(name, L, M, value):
        for tau in (0.0, 1.8):
            for prompts in ("train", "fresh"):
                for seed in range(seeds):
                    gap = value * np.exp(noise * rng.standard_normal())
                    place = {"comparison": name, "L": L, "M": M, "tau": tau, "prompts": prompts}
                    rows.append(place | {"seed": seed, "gap": gap, "risk_gap": gap / 2})

    for L in (*depths, 16, 32):
        add("depth", L, inf, L**depth)
    for L in (4, 16):
        for M in (8, 64, 512):
            add("independent", L, M, M**width * L**in_L)
            add("shared", L, M, M**-0.5)
    return frame(rows, "gap")


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


def horizons(law, noise=0.02, seeds=5, sizes=((4, 32), (8, 128))):
    """Gaps that follow a law in tau / 30, those of parameters a saturating one."""
    rng = np.random.default_rng(0)
    rows = []
    for L, M in sizes:
        for tau in np.linspace(0, 30, 21):
            values = {"train": law(tau / 30), "fresh": 2 * law(tau / 30)}
            values["parameters"] = 1 - np.exp(-tau / 10)
            for measure, value in values.items():
                for seed in range(seeds):
                    gap = value * np.exp(noise * rng.standard_normal())
                    place = {"L": L, "M": M, "tau": tau, "measure": measure}
                    rows.append(place | {"seed": seed, "gap": gap})
    return frame(rows, "horizon")


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


def grid(law, noise=0.1, seeds=10, widths=(8, 32, 128)):
    """Squared gaps that are a law of both widths."""
    rng = np.random.default_rng(0)
    rows = [
        {"M_att": M_att, "M_mlp": M_mlp, "L": 4, "tau": tau, "prompts": prompts, "seed": seed}
        | {"gap": np.sqrt(law(M_att, M_mlp)) * np.exp(noise * rng.standard_normal())}
        for M_att in (*widths, inf)
        for M_mlp in (*widths, inf)
        if (M_att, M_mlp) != (inf, inf)
        for tau in (0.0, 1.8)
        for prompts in ("train", "fresh")
        for seed in range(seeds)
    ]
    return frame(rows, "widths")


def the_sum(M_att, M_mlp):
    return 0.5 / M_att + 0.2 / M_mlp


def the_minimum(M_att, M_mlp):
    return 1 / min(M_att, M_mlp)


@pytest.mark.parametrize(
    ("law", "change", "verdict"),
    [
        (the_sum, {}, CONTRADICTED),
        (the_minimum, {}, SUPPORTED),
        (lambda a, b: the_sum(a, b) + 1.0 * the_minimum(a, b), {"noise": 0.5}, INCONCLUSIVE),
        (the_sum, {"noise": 2.0}, INCONCLUSIVE),
        (the_sum, {"seeds": 1}, NOT_RUN),
    ],
)
def test_minimum(law, change, verdict):
    judgement = gap_claims.judge_minimum(grid(law, **change))
    assert judgement.verdict == verdict


def test_misfits_know_their_law():
    for law, name, other in ((the_sum, "sum", "min"), (the_minimum, "min", "sum")):
        pairs = [(a, b) for a in (8, 32, inf) for b in (8, 32, inf) if (a, b) != (inf, inf)]
        cells = pd.DataFrame(pairs, columns=["M_att", "M_mlp"])
        cells["square"] = [law(*pair) for pair in pairs]
        off = gap_claims.misfits(cells)
        assert off[name] < 1e-12 < 0.1 < off[other]


def risks(large=1e-5, small=1e-2, decayed=1e-4, noise=0.5, seeds=5, decays=(0.0, 1e-4)):
    """Risks that fall like exponentials from 1 to these values."""
    rng = np.random.default_rng(0)
    rows = []
    for L, M, ends in ((1, 2, (small, small)), (4, 16, (large, decayed))):
        for decay, end in zip(decays, ends, strict=False):
            for seed in range(seeds):
                last = log(end) + noise * rng.standard_normal()
                for tau in np.linspace(0, 100, 11):
                    risk = np.exp(last * min(tau / 75, 1))
                    place = {"L": L, "M": M, "decay": decay, "tau": tau, "seed": seed}
                    rows.append(place | {"risk": risk, "fresh_risk": 0.3, "norm": 4.0})
    return frame(rows, "risk")


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


def fits(loss, noise=0.1, seeds=3):
    rng = np.random.default_rng(0)
    sizes = {"images": 300, "parameters": 26474, "patch": 2, "width": 32, "layers": 2, "heads": 4}
    sizes |= {"mlp": 128, "batch": 32, "rate": 3e-3, "steps": 300, "accuracy": 0.9}
    rows = [
        sizes | {"seed": seed, "step": step, "test_accuracy": 0.8}
        | {"loss": loss ** (step / 300) * np.exp(noise * rng.standard_normal())}
        for seed in range(seeds)
        for step in (0, 150, 300)
    ]  # fmt: skip
    return pd.DataFrame(rows)[columns.DIGITS]


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
    assert [claim.id for claim in claims.CLAIMS] == ["M1", "M1b", "M2", "M4", "M5", "M6"]


@pytest.mark.parametrize("law", growth.LAWS)
def test_a_law_is_found_again(law):
    tau = np.linspace(0, 30, 21)
    parameters = {
        "linear": (1, 0.2), "exponential": (1, 0.1), "saturating": (1, 3, 5), "power": (1, 0.7)
    }[law]  # fmt: skip
    values = growth.LAWS[law](tau, *parameters)
    off = {name: growth.fit(name, tau, values)[1] for name in growth.LAWS}
    assert off[law] < 1e-4 and min(off, key=off.get) == law


def tables(seeds):
    return {
        "gap": gaps(seeds=seeds),
        "widths": grid(the_sum, seeds=seeds),
        "horizon": horizons(lambda t: 2 - np.exp(-5 * t), seeds=seeds),
        "risk": risks(seeds=seeds),
        "digits": fits(1e-3, seeds=seeds),
    }


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize("name", figures.FIGURES)
def test_figures_show_their_tables(name, seeds):
    """(That their bytes repeat, the smoke run tests.)"""
    style.use()
    figure, shown = figures.FIGURES[name](tables(seeds)[name])
    plt.close(figure)
    assert len(shown)
    if "mean" in shown:
        assert shown["mean"].notna().all() and (shown.n == seeds).all()
    if seeds > 1 and "ci_low" in shown:
        varied = shown[shown.ci_low.notna()]  # not where all seeds are alike
        assert (
            len(varied)
            and (varied.ci_low <= varied["mean"]).all()
            and (varied.ci_high >= varied["mean"]).all()
        )


def test_exponents_of_a_figure_are_the_tables():
    figure, shown = figures.FIGURES["gap"](gaps(noise=0.0))
    plt.close(figure)
    exponents = shown.groupby(["comparison", "measure"]).exponent.mean()
    assert exponents["depth", "gap"] == pytest.approx(-1)
    alone = shown[(shown.comparison == "independent")].exponent
    np.testing.assert_allclose(alone, -0.5)
