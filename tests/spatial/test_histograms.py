"""Enumeration and the common sample against every data point on the full D x D model."""

from functools import partial
from math import comb

import brute
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from attention_theory.errors import BadInput
from attention_theory.spatial import distribution as data
from attention_theory.spatial import exact, histograms, model
from attention_theory.spatial.expectation import expectation
from attention_theory.spatial.fourier import Fourier
from attention_theory.spatial.histograms import Enumeration, MonteCarlo
from attention_theory.spatial.population_settings import Method, Point, Sets
from attention_theory.spatial.reduced import Types
from attention_theory.spatial.settings import Architecture, Distribution
from attention_theory.streams import stream

CASES = [
    (Sets(D=12, C=3, q=0.4), Architecture(p=3, nu=0.1, beta=1.0), Point(0.08, 0.7, -0.4)),
    (Sets(D=12, C=4, q=0.7), Architecture(p=5, nu=0.3, beta=2.0), Point(0.05, 1.5, 0.2)),
    (Sets(D=10, C=2, q=0.1), Architecture(p=3, nu=0.0, beta=-1.0), Point(-0.1, 0.3, 0.5)),
    (Sets(D=10, C=5, q=0.5), Architecture(p=3, nu=0.1, beta=3.0), Point(0.2, 2.0, -1.0)),
    (Sets(D=6, C=1, q=0.3), Architecture(p=3, nu=0.1, beta=1.0), Point(0.3, 9.0, -0.5)),
    (Sets(D=2, C=1, q=0.3), Architecture(p=3, nu=0.2, beta=0.5), Point(0.4, 0.0, 0.1)),
]
SETS, ARCHITECTURE, POINT = CASES[0]


METHODS = [Enumeration, partial(Fourier, target=1e-13)]


@pytest.mark.parametrize("method", METHODS, ids=["enumeration", "fourier"])
@pytest.mark.parametrize(("sets", "architecture", "point"), CASES)
def test_gradients_are_autograd_over_every_data_point(sets, architecture, point, method):
    """With A's gradient the same in every entry of a kind (Lemma 4.1)."""
    points = brute.data_points(sets)
    A, own = brute.three_valued(sets, architecture, point)
    risk, d_alpha, d_A = brute.gradient(points, point.alpha, A, architecture)
    found = method(sets, architecture).gradient(point)
    assert found.risk == pytest.approx(risk, rel=1e-10)
    assert found.d_alpha == pytest.approx(d_alpha, rel=1e-10)
    within = d_A[own & ~np.eye(sets.D, dtype=bool)]
    for entries, ours, scale in (
        (within, found.d_gamma, found.scales[2]),
        (d_A[~own], found.d_rho, found.scales[3]),
    ):
        np.testing.assert_allclose(entries, ours, rtol=1e-10, atol=1e-12 * scale)
    wanted = brute.error(points, point.alpha, A, architecture)
    assert Enumeration(sets, architecture).error(point) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("method", METHODS, ids=["enumeration", "fourier"])
def test_gradients_are_finite_differences_of_the_full_models_risk(method):
    points = brute.data_points(SETS)
    A, _ = brute.three_valued(SETS, ARCHITECTURE, POINT)
    found = method(SETS, ARCHITECTURE).gradient(POINT)
    h = 1e-4

    def slope(d_alpha, d_A):
        """By differences of fourth order."""
        risks = [
            brute.risk(points, POINT.alpha + k * h * d_alpha, A + k * h * d_A, ARCHITECTURE).item()
            for k in (-2, -1, 1, 2)
        ]
        return np.dot(risks, [1, -8, 8, -1]) / (12 * h)

    entry = np.zeros_like(A)
    assert found.d_alpha == pytest.approx(slope(1 / SETS.D, entry) * SETS.D, rel=1e-9)
    for place, ours in (((0, 2), found.d_gamma), ((1, 7), found.d_rho)):
        entry[:] = 0
        entry[place] = 100  # one entry alone moves the risk little
        assert ours == pytest.approx(slope(0, entry) / 100, rel=1e-5, abs=1e-9)


def test_the_reduced_derivatives_are_finite_differences_of_the_risk():
    enumeration = Enumeration(SETS, ARCHITECTURE)
    found = enumeration.gradient(POINT)
    entries = {"alpha": 1, "gamma": 12 * 2, "rho": 12 * 9}
    for name, number in entries.items():
        up, down = (
            enumeration.gradient(Point(**(vars(POINT) | {name: getattr(POINT, name) + h}))).risk
            for h in (1e-5, -1e-5)
        )
        reduced_derivative = getattr(found, f"d_{name}") * number
        assert reduced_derivative == pytest.approx((up - down) / 2e-5, rel=1e-7)


def test_noise_orthogonal_to_the_feature_does_not_matter(rng):
    """Why the process has no d: v = alpha w* sees no noise, and its gradient along w* neither."""
    feature = data.draw_feature(6, rng)
    z = rng.choice([-1.0, 0.0, 1.0], (200, 12))
    y = rng.choice([-1.0, 1.0], 200)
    A, _ = brute.three_valued(SETS, ARCHITECTURE, POINT)
    noisy = data.embed(z, feature, rng).astype(float)
    noisy += (z - noisy @ feature)[..., None] * feature / (feature @ feature)
    plain = z[..., None] * np.ones(1)
    found = []
    for X, w in ((noisy, feature.astype(float)), (plain, np.ones(1))):
        v = POINT.alpha * w / (w @ w)
        tensors = [torch.from_numpy(np.ascontiguousarray(array)) for array in (X, y, v, A)]
        gradient = model.gradients_by_autograd(*tensors, ARCHITECTURE)
        found.append((gradient.loss.item(), gradient.v.numpy() @ w, gradient.A.numpy()))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-10)
    assert np.ptp(noisy - z[..., None] * feature) > 1, "there is noise"


@given(st.integers(0, 6), st.integers(1, 5))
def test_compositions_are_each_there_once(m, parts):
    found = histograms.compositions(m, parts)
    assert found.shape == (comb(m + parts - 1, parts - 1), parts)
    assert (found >= 0).all() and (found.sum(axis=1) == m).all()
    assert len({tuple(row) for row in found.tolist()}) == len(found)


@settings(deadline=None, max_examples=30)
@given(
    st.sampled_from([(1, 2), (1, 40), (2, 8), (3, 5), (4, 3), (5, 2)]),
    st.sampled_from([1e-6, 0.3, 1 - 1e-6]),
)
def test_histograms_have_multinomial_probabilities(size, q):
    C, L = size
    sets = Sets(D=C * L, C=C, q=q)
    enumeration = Enumeration(sets, ARCHITECTURE)
    assert len(enumeration.weights) == histograms.number_of_states(sets)
    law = stats.multinomial(L - 1, Types(sets).probability)
    others = enumeration.counts.T.copy()
    others[:, -1] -= 1  # the signal set
    np.testing.assert_allclose(enumeration.weights, law.pmf(others), rtol=1e-9)
    assert enumeration.weights.sum() == pytest.approx(1, abs=1e-14)


def test_many_sets_lose_no_digits():
    """log 700! is 4e3: probabilities made from it alone would be off by 1e-12."""
    sets, point = Sets(D=701, C=1, q=0.4), Point(1e-3, 0.0, 0.0)
    flat = Enumeration(sets, Architecture(p=3, nu=0.1, beta=0.0))
    # At beta = gamma = rho, F = D act(alpha Z): Z alone matters, and its law is a convolution.
    law = np.ones(1)
    for _ in range(700):
        law = np.convolve(law, [0.2, 0.6, 0.2])
    Z = 1 + np.arange(-700, 701)
    F = 701 * ((point.alpha * Z) ** 3 + 0.1 * point.alpha * Z)
    found = flat.gradient(point)
    assert abs(found.risk - law @ np.logaddexp(0, -F)) < 1e-13
    assert found.errors[0] >= 1e-13 * found.scales[0]


def test_too_many_states_are_refused_with_their_number():
    with pytest.raises(BadInput, match=r"4\.29e\+20 states.*use fourier or monte-carlo"):
        Enumeration(Sets(D=400, C=5, q=0.05), ARCHITECTURE)
    with pytest.raises(BadInput, match=r"e\+4215 states"):
        Enumeration(Sets(D=10**6, C=100, q=0.1), ARCHITECTURE)
    assert histograms.number_of_states(Sets(D=20, C=5, q=0.4)) == comb(3 + 20, 20)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["exact", "monte-carlo"])
def test_overflow_is_refused(method):
    how = expectation(SETS, ARCHITECTURE, Method(method, samples=50), 1)
    for alpha in (1e60, -1e300):
        with pytest.raises(BadInput, match="F overflows"):
            how.gradient(Point(alpha, 0.0, 0.0))


def test_equal_weights_are_what_is_left_without_attention():
    """At beta = gamma = rho, F has the sign of Z: the exact error is the majority's (T3.1)."""
    for D, C, q in ((20, 5, 0.4), (18, 3, 0.7), (9, 1, 0.5)):
        flat = Enumeration(Sets(D=D, C=C, q=q), Architecture(p=3, nu=0.1, beta=0.0))
        majority = exact.equal_weights_error(Distribution(D=D, C=C, d=2, q=q))
        assert flat.error(Point(0.01, 0.0, 0.0)) == pytest.approx(majority, abs=1e-12)
        assert flat.error(Point(-0.01, 0.0, 0.0)) == pytest.approx(1 - majority, abs=1e-12)
        assert flat.error(Point(0.0, 0.0, 0.0)) == pytest.approx(0.5, abs=1e-15)


@pytest.mark.parametrize("method", ["exact", "fourier", "monte-carlo"])
@pytest.mark.parametrize("logit", [0.0, 1.5])
def test_without_a_diagonal_of_its_own_attention_never_starts(method, logit):
    """At beta = gamma = rho the gradients in gamma and rho vanish: sums of terms that cancel."""
    sets, flat = Sets(D=20, C=5, q=0.4), Architecture(p=3, nu=0.1, beta=logit)
    how = expectation(sets, flat, Method(method, target=1e-13, samples=500), 1)
    for alpha in (0.01, 0.1):
        point = Point(alpha, logit, logit)
        scales = Enumeration(sets, flat).gradient(point).scales
        found = how.gradient(point)
        assert abs(found.d_gamma) < 1e-13 * scales[2]
        assert abs(found.d_rho) < 1e-13 * scales[3]
        assert abs(found.d_alpha) > 0.1


def test_a_common_sample_is_unbiased_and_knows_its_error():
    """Standardised errors over independent samples have mean 0 and variance 1."""
    exactly = Enumeration(SETS, ARCHITECTURE).gradient(POINT)
    n = 400
    standardised = np.empty((n, 4))
    for k in range(n):
        rng = stream(k, "tests.histograms")
        found = MonteCarlo(SETS, ARCHITECTURE, 2000, rng).gradient(POINT)
        standardised[k] = np.subtract(found[:4], exactly[:4]) / found.errors
    assert (np.abs(standardised.mean(axis=0)) < 4 / np.sqrt(n)).all()
    assert (np.abs(standardised.var(axis=0) - 1) < 4 * np.sqrt(2 / n)).all()


def test_a_sample_is_common_to_all_points():
    sample = MonteCarlo(SETS, ARCHITECTURE, 1000, stream(1, "tests.histograms"))
    here, near = sample.gradient(POINT), Point(POINT.alpha + 1e-6, POINT.gamma, POINT.rho)
    assert sample.gradient(POINT) == here
    slope = (sample.gradient(near).risk - here.risk) / 1e-6
    assert slope == pytest.approx(here.d_alpha, rel=1e-4), "its gradient is its own risk's"
    assert here.errors[1] > 0.01 * abs(here.d_alpha), "which is not the population's"


def test_a_sample_depends_on_the_base_seed_alone():
    def found(base_seed):
        how = expectation(SETS, ARCHITECTURE, Method("monte-carlo", samples=300), base_seed)
        return how.gradient(POINT)

    assert found(1) == found(1) != found(2)


def test_a_samples_error_is_the_exact_one_within_its_standard_error():
    sampled = MonteCarlo(SETS, ARCHITECTURE, 100_000, stream(1, "tests.histograms"))
    error = Enumeration(SETS, ARCHITECTURE).error(POINT)
    assert 0.01 < error < 0.4
    assert abs(sampled.error(POINT) - error) < 4 * np.sqrt(error / 100_000)


def test_loss_and_sigmoid_keep_their_digits_everywhere():
    F = np.array([-800.0, -40.0, -1.0, 0.0, 1.0, 40.0, 700.0])
    loss, sigmoid = histograms.loss_and_sigmoid(F)
    np.testing.assert_allclose(loss, np.logaddexp(0, -F), rtol=1e-15)
    np.testing.assert_allclose(sigmoid, np.exp(-np.logaddexp(0, F)), rtol=1e-13)
