"""Synthetic tables that make every verdict of L4.1, L4.2 and T4.2c, and their figures."""

import numpy as np
import pandas as pd
import pytest

from attention_theory import style
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, NOT_RUN, SUPPORTED
from attention_theory.spatial import coupling_claims, coupling_figures
from attention_theory.spatial.coupling_columns import COUPLING, INVARIANCE

SIZES = (500, 1000, 2000, 4000, 8000)
SETTING = {"D": 50, "C": 5, "d": 16, "q": 0.4, "p": 3, "nu": 0.1, "beta": 3.0}
STEPS = (0, 10, 20, 30)


def power(N, exponent, noise, rng, left=0.0):
    """N ** exponent, off by a random factor; `left` stays when N grows."""
    return np.hypot(N**exponent, left) * np.exp(noise * rng.standard_normal())


def gradients(A=-0.5, v=-0.5, noise=0.1, left=0.0, sizes=SIZES, seeds=5):
    """Gradients at two points whose parts that break the symmetry fall with these exponents."""
    rng = np.random.default_rng(0)
    rows = [
        SETTING
        | {"N": N, "seed": seed, "step": step, "alpha": 0.03, "gamma": 0.1, "rho": 0.0}
        | {"d_alpha": -1.0, "d_gamma": -1e-4, "d_rho": 1e-5}
        | {"d_orthogonal": power(N, v, noise, rng, left)}
        | {f"d_{name}_spread": power(N, A, noise, rng, left) for name in ("gamma", "rho")}
        for N in sizes
        for seed in range(seeds)
        for step in (10, 30)
    ]
    return pd.DataFrame(rows)[INVARIANCE]


def processes(A=-0.4, v=-0.3, distance=-0.8, noise=0.1, sizes=SIZES, seeds=4):
    """All four processes; what tells the realistic ones apart falls with these exponents."""
    rng = np.random.default_rng(1)
    common = SETTING | {"omega": 1e-3, "alpha_0": 1e-3, "eta_v": 1.0, "eta_A": 1.0, "loss": 0.1}
    rows = []
    for step in STEPS:
        point = {"step": step, "alpha": 1e-3 * (1 + step), "gamma": 0.1 * step, "rho": -0.01 * step}
        rows.append({"process": "idealised", **point})
        for N in sizes:
            for seed in range(seeds):
                place = {"N": N, "seed": seed}
                for process in ("symmetric", "gaussian"):
                    spread = {
                        f"{name}_spread": power(N, A, noise, rng) for name in ("gamma", "rho")
                    }
                    orthogonal = power(N, v, noise, rng)
                    far = {"distance": power(N, distance, noise, rng), "deviation": 1.0}
                    found = {"process": process, "v_orthogonal": orthogonal}
                    found |= {"gamma": point["gamma"] + rng.random(), "alpha": 1.0}
                    found |= {"rho": -rng.random()}
                    rows.append(place | point | found | spread | far)
                if N == sizes[-1]:
                    semi = {"process": "semi-idealised", "delta_A": 0.1 * (1 + step + seed)}
                    rows.append(place | point | semi)
    return pd.DataFrame([common | row for row in rows], columns=COUPLING)


@pytest.mark.parametrize(
    ("judge", "name"),
    [(coupling_claims.judge_three_valued, "A"), (coupling_claims.judge_parallel, "v")],
)
@pytest.mark.parametrize(
    ("gradient", "trained", "verdict"),
    [
        ({}, {}, SUPPORTED),
        ({"exponent": -0.45}, {}, SUPPORTED),
        ({"exponent": 0.0}, {}, CONTRADICTED),
        ({"exponent": -0.2}, {}, CONTRADICTED),
        ({"exponent": -0.36}, {}, INCONCLUSIVE),
        ({"exponent": -0.8}, {}, INCONCLUSIVE),
        ({"noise": 1.5}, {}, INCONCLUSIVE),
        ({"left": 0.1}, {}, CONTRADICTED),
        ({}, {"exponent": 0.3}, CONTRADICTED),
        ({}, {"exponent": 0.0}, INCONCLUSIVE),
        ({"sizes": (500, 8000)}, {}, NOT_RUN),
        ({}, {"sizes": (500, 8000)}, NOT_RUN),
    ],
)
def test_invariance(judge, name, gradient, trained, verdict):
    gradient, trained = dict(gradient), dict(trained)
    tables = []
    for make, change in ((gradients, gradient), (processes, trained)):
        if "exponent" in change:
            change[name] = change.pop("exponent")
        tables.append(make(**change))
    judgement = judge(*tables)
    assert judgement.verdict == verdict
    if verdict == SUPPORTED:
        assert judgement.interval.low < -0.4 and judgement.interval.high > -0.6
        assert "from N = 500 to 8000 at the idealised process's steps 10, 30" in judgement.measured
        assert "after 30 steps" in judgement.measured


def test_one_of_several_exponents_decides():
    """A defect of A across sets alone, at one point alone, contradicts."""
    table = gradients()
    defect = (table.step == 30) & (table.N > 0)
    table.loc[defect, "d_rho_spread"] = 0.02 + 0 * table.N
    judgement = coupling_claims.judge_three_valued(table, processes())
    assert judgement.verdict == CONTRADICTED and judgement.interval.estimate == pytest.approx(0)
    assert coupling_claims.judge_parallel(table, processes()).verdict == SUPPORTED


def test_verdicts_hold_for_most_samples_of_a_true_law():
    """A true -1/2 with the noise of the laptop run is supported, whatever the seed."""
    verdicts = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        table = gradients(sizes=(*SIZES, 32000))
        for name in ("d_gamma_spread", "d_rho_spread", "d_orthogonal"):
            table[name] = table.N**-0.5 * np.exp(0.2 * rng.standard_normal(len(table)))
        for judge in (coupling_claims.judge_three_valued, coupling_claims.judge_parallel):
            verdicts.append(judge(table, processes()).verdict)
    assert CONTRADICTED not in verdicts and verdicts.count(SUPPORTED) >= 76


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"distance": -0.5}, SUPPORTED),
        ({"distance": -0.8}, SUPPORTED),
        ({"distance": -0.25}, INCONCLUSIVE),
        ({"distance": -0.6, "noise": 2.0}, INCONCLUSIVE),
        ({"distance": -0.1}, CONTRADICTED),
        ({"distance": 0.2}, CONTRADICTED),
        ({"sizes": (500, 8000)}, NOT_RUN),
    ],
)
def test_closeness(change, verdict):
    judgement = coupling_claims.judge_closeness(processes(**change))
    assert judgement.verdict == verdict
    if verdict != NOT_RUN:
        assert judgement.interval.n == 5 * 4
        assert judgement.interval.low < judgement.interval.estimate < judgement.interval.high
        length = np.linalg.norm((50 * 0.031, 3.0, 0.3))
        assert f"of a length of {length:.2f}" in judgement.measured


def test_a_missing_value_never_supports():
    table, runs = gradients(), processes()
    table.loc[3, ["d_rho_spread", "d_orthogonal"]] = np.nan
    runs.loc[runs.process == "gaussian", "distance"] = np.nan
    assert coupling_claims.judge_three_valued(table, runs).verdict == INCONCLUSIVE
    assert coupling_claims.judge_parallel(table, runs).verdict == INCONCLUSIVE
    assert coupling_claims.judge_closeness(runs).verdict == INCONCLUSIVE


@pytest.mark.parametrize("seeds", [1, 4])
@pytest.mark.parametrize("name", coupling_figures.FIGURES)
def test_figures_show_their_tables_and_repeat_their_bytes(name, seeds, tmp_path):
    style.use()
    tables = [processes(seeds=seeds)]
    if name == "invariance":
        tables.insert(0, gradients(seeds=seeds))
    for copy in ("one", "two"):
        figure, shown = coupling_figures.FIGURES[name](*tables)
        style.save(figure, shown, tmp_path / copy)
    for suffix in (".pdf", ".png", ".csv"):
        one, two = (tmp_path / f"{copy}{suffix}" for copy in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
    bands = shown[shown.n == seeds] if "n" in shown else shown
    assert len(bands) and bands["mean"].notna().all()
    if seeds > 1:
        varied = bands[bands.ci_low.notna()]
        assert len(varied) and (varied.ci_low <= varied["mean"]).all()


def test_softmax_of_the_induction_figure():
    """Lambda + (C - 1) Gamma + (D - C) Xi = 1, and the denominator is the sum of exponentials."""
    _, shown = coupling_figures.induction(processes())
    one = shown[(shown.process == "idealised") & (shown.step == 20)].set_index("measure")["mean"]
    assert one.D_Lambda + 4 * one.D_Gamma + 45 * one.D_Xi == pytest.approx(50)
    assert 50 * one.denominator == pytest.approx(np.exp(3) + 4 * np.exp(2) + 45 * np.exp(-0.2))
