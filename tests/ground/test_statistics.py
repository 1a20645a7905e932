"""Intervals against their definitions, exponents of exact power laws, equivalence tests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from attention_theory import statistics

SAMPLES = st.lists(st.floats(-100, 100), min_size=3, max_size=20).filter(lambda x: np.ptp(x) > 1e-3)


@given(SAMPLES)
def test_t_interval_is_scipys(values):
    found = statistics.t_interval(values)
    low, high = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.low == pytest.approx(low) and found.high == pytest.approx(high)
    assert found.n == len(values)


@pytest.mark.parametrize("values", [[3.0], [3.0, 3.0, 3.0]])
def test_without_spread_there_is_no_interval(values):
    assert np.isnan(statistics.t_interval(values).low)


def test_accuracies_never_have_the_interval_one_one():
    sure = statistics.accuracy_interval([1.0, 1.0, 1.0], 100)
    assert sure.low < 1 and sure.n == 3 and sure.estimate == 1
    assert sure.low == statistics.wilson_interval(300, 300).low
    spread = statistics.accuracy_interval([0.5, 0.9, 0.7], 10_000)
    assert spread == statistics.t_interval([0.5, 0.9, 0.7])
    assert statistics.accuracy_interval([0.9], 50).low == statistics.wilson_interval(45, 50).low


def test_one_value_is_its_own_mean():
    assert statistics.t_interval([3.0]).estimate == 3.0


@given(st.integers(1, 200), st.data())
def test_wilson_solves_its_equation(n, data):
    k = data.draw(st.integers(0, n))
    found = statistics.wilson_interval(k, n)
    z = stats.norm.ppf(0.975)
    for limit in (found.low, found.high):
        residual = (k / n - limit) ** 2 - z**2 * limit * (1 - limit) / n
        assert residual == pytest.approx(0, abs=1e-9)
    assert found.low < 1 and found.high > 0


def test_bootstrap_interval_is_keyed_and_near_students():
    values = np.random.default_rng(0).normal(2, 1, 200)
    one, two = (statistics.bootstrap_interval(values, np.random.default_rng(7)) for _ in range(2))
    assert one == two
    student = statistics.t_interval(values)
    assert one.low == pytest.approx(student.low, abs=0.03)
    assert statistics.bootstrap_interval([1, 1, 1], np.random.default_rng(0)).low == 1


@given(st.floats(-3, 3), st.floats(0.1, 10))
def test_exponent_of_an_exact_power_law(exponent, factor):
    x = np.array([1.0, 2, 5, 10, 50])
    found = statistics.log_log_slope(x, factor * x**exponent)
    assert found.slope == pytest.approx(exponent, abs=1e-9)
    assert found.error == pytest.approx(0, abs=1e-6)


def test_an_exponents_error_is_scipys():
    x, y = np.array([1.0, 2, 4, 8]), np.array([1.0, 3, 5, 20])
    found = statistics.log_log_slope(x, y)
    assert found.error == pytest.approx(stats.linregress(np.log(x), np.log(y)).stderr)


def test_exponents_interval_covers_as_often_as_it_says():
    rng, x = np.random.default_rng(3), np.geomspace(1, 100, 6)
    covered = 0
    for _ in range(400):
        fit = statistics.log_log_slope(x, x**0.5 * np.exp(0.2 * rng.standard_normal(6)))
        covered += fit.low <= 0.5 <= fit.high
    assert 0.91 < covered / 400 < 0.98


@pytest.mark.parametrize(("x", "y"), [([1, 2], [1, 2]), ([1, 2, 0], [1, 2, 3])])
def test_a_slope_needs_three_positive_points(x, y):
    with pytest.raises(ValueError, match="three"):
        statistics.log_log_slope(x, y)


@given(SAMPLES, st.floats(0.01, 50))
def test_equivalence_is_both_one_sided_tests(differences, margin):
    both = statistics.equivalent(differences, margin)
    mirrored = statistics.not_worse([-d for d in differences], margin)
    one = statistics.not_worse(differences, margin)
    assert both.passed == (one.passed and mirrored.passed)
    assert one.p_value == pytest.approx(
        stats.ttest_1samp(differences, -margin, alternative="greater").pvalue
    )


def test_equal_differences_are_decided_exactly():
    assert statistics.not_worse([0.0, 0.0], 0.01).passed
    assert not statistics.not_worse([-0.02, -0.02], 0.01).passed
    assert not statistics.equivalent([0.5], 1).passed  # one value proves nothing
