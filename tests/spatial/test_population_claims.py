"""Synthetic trajectories that make every verdict of the claims about the idealised process."""

import numpy as np
import pandas as pd
import pytest

from attention_theory import style
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, NOT_RUN, SUPPORTED
from attention_theory.spatial import events, population_claims, population_figures
from attention_theory.spatial.population_columns import POPULATION

STEPS = np.arange(61)


def trajectory(name="one", **columns):
    """A trajectory with three events apart: alpha to step 20, gamma from there, the risk at 40."""
    alpha = np.minimum(STEPS / 20, 1.0) + np.where(STEPS > 40, 0.01 * (STEPS - 40), 0)
    gamma = np.where(STEPS > 20, 0.1 * (STEPS - 20), 0) + 1e-3 * STEPS
    risk = np.where(STEPS <= 40, 0.3 + 0.3 * np.exp(-STEPS / 2), 0.3 * np.exp(-(STEPS - 40) / 2))
    values = {
        "trajectory": name,
        **{"D": 50, "C": 5, "q": 0.4, "p": 3, "nu": 0.1, "beta": 3.0, "alpha_0": 1e-3},
        **{"eta_v": 1e-4, "eta_A": 10.0, "method": "fourier"},
        **{"step": STEPS, "alpha": alpha, "gamma": gamma, "rho": -0.01 * STEPS, "risk": risk},
        **{"d_gamma_error": 1e-9, "d_rho_error": 1e-9},
        **{"error": 0.005, "error_low": 0.004, "error_high": 0.006, "error_method": "monte-carlo"},
    }
    return pd.DataFrame(values | columns)[POPULATION]


def judged(identity, *trajectories):
    claim = next(claim for claim in population_claims.CLAIMS if claim.id == identity)
    return claim.judge(pd.concat(trajectories, ignore_index=True))


def wiggle(places, size):
    """gamma of `trajectory` with a fall of `size` at some steps."""
    move = np.diff(trajectory().gamma)
    move[places] = -size
    return np.concatenate([[0.0], np.cumsum(move)])


@pytest.mark.parametrize(
    ("identity", "columns", "verdict"),
    [
        ("T4.1a", {}, SUPPORTED),
        ("T4.1a", {"gamma": -1.0}, CONTRADICTED),
        ("T4.1a", {"gamma": 0.5, "rho": 0.5}, INCONCLUSIVE),
        ("T4.1b", {}, SUPPORTED),
        ("T4.1b", {"error": 0.02, "error_low": 0.015, "error_high": 0.03}, CONTRADICTED),
        ("T4.1b", {"error": 0.0095, "error_low": 0.008, "error_high": 0.011}, INCONCLUSIVE),
        ("L4.3", {}, SUPPORTED),
        ("L4.3", {"rho": 0.2 * STEPS}, CONTRADICTED),
        ("L4.3", {"rho": trajectory().gamma}, INCONCLUSIVE),
        ("L4.3b", {}, SUPPORTED),
        ("L4.3b", {"gamma": wiggle([30], 1e-3)}, CONTRADICTED),
        ("L4.3b", {"gamma": wiggle([30, 31, 32], 1e-9)}, INCONCLUSIVE),
        ("L4.3c", {}, SUPPORTED),
        ("L4.3c", {"rho": -0.05 * STEPS}, CONTRADICTED),
        ("L4.3c", {"rho": -1.0}, INCONCLUSIVE),
        ("EV", {}, SUPPORTED),
        ("EV", {"gamma": 1.0 + STEPS / 100}, CONTRADICTED),
        ("EV", {"risk": 0.3}, INCONCLUSIVE),
        ("EV.b", {}, SUPPORTED),
        ("EV.b", {"alpha": np.minimum(STEPS / 20, 2 - np.maximum(STEPS / 40, 1))}, CONTRADICTED),
        ("EV.b", {"alpha": np.minimum(STEPS / 20, 1.0)}, INCONCLUSIVE),
    ],
)
def test_verdicts(identity, columns, verdict):
    judgement = judged(identity, trajectory(**columns))
    assert judgement.verdict == verdict, judgement.measured


def test_one_setting_that_fails_contradicts_and_is_named():
    bad = trajectory("bad", rho=-0.05 * STEPS)
    judgement = judged("L4.3c", trajectory("good"), bad)
    assert judgement.verdict == CONTRADICTED
    assert "bad" in judgement.measured and "good" not in judgement.measured
    assert judgement.interval.estimate == pytest.approx(3.0) and judgement.interval.n == 2


@pytest.mark.parametrize("columns", [{"method": "monte-carlo"}, {"beta": 0.0}])
def test_sampled_trajectories_and_beta_zero_are_not_judged(columns):
    for claim in population_claims.CLAIMS:
        assert claim.judge(trajectory(**columns)).verdict == NOT_RUN
        assert claim.judge(pd.concat([trajectory(), trajectory(**columns)])).interval.n >= 1


def test_a_setting_where_the_labelling_function_errs_is_reported_but_not_judged():
    noisy = trajectory("noisy", q=0.9, gamma=-1.0, error=0.3, error_low=0.29, error_high=0.31)
    for identity in ("T4.1a", "T4.1b"):
        judgement = judged(identity, trajectory("calm"), noisy)
        assert judgement.verdict == SUPPORTED and "noisy" in judgement.measured


def test_events_are_found_where_they_were_put():
    found = events.find(trajectory())
    assert (found.T0, found.T1) == (20, 41) and 41 < found.T2 <= 46
    assert found.apart and found.gamma_share == pytest.approx(0.02 / 4.06)


def test_events_that_overlap_are_not_apart():
    assert not events.find(trajectory(gamma=0.1 * STEPS + 0.5)).apart
    for alpha in (0.1 * STEPS, 1 - STEPS / 100):
        never = events.find(trajectory(alpha=alpha))
        assert never[:3] == (None, None, None) and not never.apart


def test_figures_show_every_trajectory_that_they_name():
    table = pd.concat([trajectory("D400", D=400), trajectory("D50"), trajectory("other")])
    style.use()
    figure, shown = population_figures.trajectories(table)
    assert set(shown.trajectory) == {"D400", "D50"} and len(figure.axes) == 4
    figure, shown = population_figures.increments(table)
    assert set(shown.trajectory) == {"D400", "D50", "other"}
    assert shown.groupby("trajectory").size().eq(len(STEPS) - 1).all()


def test_the_phase_diagram_and_the_methods_are_drawn_from_their_tables():
    style.use()
    cells = [
        {"beta": beta, "q_D": q_D, "risk": 0.1 * beta, "patch_association": float(beta > 0)}
        | {"linear_error": q_D / 200, **dict.fromkeys("D C p nu steps alpha gamma rho".split(), 1)}
        for beta in (0.0, 1.0)
        for q_D in (10.0, 20.0, 30.0)
    ]
    figure, shown = population_figures.phase(pd.DataFrame(cells))
    assert len(shown) == 6
    labels = [text.get_text() for axis in figure.axes for text in axis.texts]
    assert "0.10" in labels  # the contour of the linear models' error between q D = 10 and 30
    rows = [
        {"D": D, "method": method, "work": 1e6, "difference": 1e-9, "reported": 1e-8}
        for D in (50, 100)
        for method in ("fourier", "monte-carlo")
    ]
    figure, shown = population_figures.methods(pd.DataFrame(rows))
    assert len(shown) == 4
