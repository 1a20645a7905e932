"""Descent on the idealised problem against the full model's, its stop, and its test error."""

import brute
import numpy as np
import pytest

from attention_theory.errors import BadInput
from attention_theory.spatial import idealised
from attention_theory.spatial.expectation import expectation
from attention_theory.spatial.histograms import Enumeration
from attention_theory.spatial.population_settings import Method, Path, Point, Sets
from attention_theory.spatial.settings import Architecture

SETS, ARCHITECTURE = Sets(D=6, C=2, q=0.4), Architecture(p=3, nu=0.1, beta=1.0)
PATH = Path(alpha_0=0.1, eta_v=0.05, eta_A=3.0, steps=8, stop_risk=0.0, every=2, test=200)


def states(path=PATH, method="exact", **settings):
    how = expectation(SETS, ARCHITECTURE, Method(method, **settings), 1)
    return list(idealised.descend(how, path))


def test_descent_is_the_full_models():
    """Entry by entry on the D x D matrix, which stays three-valued (Lemmas 4.1, 4.2)."""
    points = brute.data_points(SETS)
    alpha = PATH.alpha_0
    A, own = brute.three_valued(SETS, ARCHITECTURE, Point(alpha, 0.0, 0.0))
    diagonal = np.eye(SETS.D, dtype=bool)
    found = states()
    assert [state.step for state in found] == list(range(PATH.steps + 1))
    for state in found:
        risk, d_alpha, d_A = brute.gradient(points, alpha, A, ARCHITECTURE)
        assert state.gradient.risk == pytest.approx(risk, rel=1e-10)
        assert state.point.alpha == pytest.approx(alpha, rel=1e-10)
        np.testing.assert_allclose(A[own & ~diagonal], state.point.gamma, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(A[~own], state.point.rho, rtol=1e-9, atol=1e-12)
        alpha -= PATH.eta_v * d_alpha
        A -= PATH.eta_A * np.where(diagonal, 0, d_A)
    risks = [state.gradient.risk for state in found]
    assert risks == sorted(risks, reverse=True)
    assert found[-1].point.gamma > 0.01


def test_the_methods_walk_the_same_path():
    exactly = states()[-1].point
    fourier = states(method="fourier", target=1e-10)[-1].point
    sampled = states(method="monte-carlo", samples=20_000)[-1].point
    for name in ("alpha", "gamma", "rho"):
        wanted = getattr(exactly, name)
        assert getattr(fourier, name) == pytest.approx(wanted, rel=1e-8)
        assert getattr(sampled, name) == pytest.approx(wanted, rel=0.1)


def test_descent_stops_at_the_first_state_whose_risk_is_low_enough():
    risks = [state.gradient.risk for state in states()]
    stopped = states(Path(**(vars(PATH) | {"stop_risk": risks[3]})))
    assert [state.gradient.risk for state in stopped] == risks[:4]


def test_a_step_beyond_the_methods_reach_is_named():
    wild = Path(**(vars(PATH) | {"eta_v": 1e60}))
    for method in ("exact", "fourier", "monte-carlo"):
        with pytest.raises(BadInput, match="^step 1: .*F"):
            states(wild, method, samples=50)


def test_the_test_error_is_exact_where_it_can_be():
    tested = idealised.TestSample(SETS, ARCHITECTURE, 200, base_seed=1)
    point = Point(0.3, 0.5, 0.0)
    found = tested.error(point)
    wanted = Enumeration(SETS, ARCHITECTURE).error(point)
    assert found == (wanted, wanted, wanted, "exact")


def test_a_sampled_test_error_has_an_interval_and_one_sample_for_all_points():
    large = Sets(D=100, C=5, q=0.2)
    tested = idealised.TestSample(large, ARCHITECTURE, 4000, base_seed=1)
    weak, strong = (tested.error(Point(0.03, gamma, 0.0)) for gamma in (0.0, 5.0))
    for found in (weak, strong):
        assert found.error_method == "monte-carlo"
        assert found.error_low <= found.error <= found.error_high < 0.5
    assert strong.error_high < weak.error_low, "attention within the sets helps"
    assert tested.error(Point(0.03, 0.0, 0.0)) == weak
    other = idealised.TestSample(large, ARCHITECTURE, 4000, base_seed=2)
    assert other.error(Point(0.03, 0.0, 0.0)) != weak
