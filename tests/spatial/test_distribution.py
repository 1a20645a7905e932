"""The distribution against its law, its labels against f*."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from attention_theory.errors import BadInput
from attention_theory.spatial import distribution as data
from attention_theory.spatial.sections import pretraining
from attention_theory.spatial.settings import Architecture, Distribution
from attention_theory.streams import stream

SETTINGS = st.builds(
    lambda C, L, d, q: Distribution(D=C * L, C=C, d=d, q=q),
    st.integers(1, 5),
    st.integers(2, 6),
    st.integers(2, 8),
    st.floats(0.05, 0.95),
)


@given(SETTINGS, st.sampled_from(["contiguous", "scattered"]), st.integers(0, 1000))
def test_a_partition_has_L_sets_of_size_C(setting, kind, seed):
    partition = data.draw_partition(kind, setting, stream(seed, "t"))
    assert np.bincount(partition).tolist() == [setting.C] * setting.L
    if kind == "contiguous":
        assert (np.diff(partition) >= 0).all()


@given(SETTINGS, st.integers(0, 1000))
def test_the_signal_set_carries_the_label(setting, seed):
    rng = stream(seed, "t")
    partition = data.draw_partition("scattered", setting, rng)
    z, y, signal = data.sample_patterns(setting, partition, 50, rng)
    assert set(np.unique(z)) <= {-1, 0, 1} and set(np.unique(y)) <= {-1, 1}
    for i in range(50):
        assert (z[i, partition == signal[i]] == y[i]).all()


def test_frequencies_follow_the_law(rng):
    setting = Distribution(D=20, C=5, d=4, q=0.3)
    partition = data.draw_partition("scattered", setting, rng)
    z, y, signal = data.sample_patterns(setting, partition, 20_000, rng)
    outside = z[partition != signal[:, None]]
    counts = [(outside == value).sum() for value in (-1, 0, 1)]
    expected = np.array([0.15, 0.7, 0.15]) * outside.size
    assert stats.chisquare(counts, expected).pvalue > 1e-4
    assert stats.binomtest(int((y == 1).sum()), 20_000).pvalue > 1e-4
    assert stats.chisquare(np.bincount(signal)).pvalue > 1e-4
    # Neither where the signal is nor what is outside it depends on the label.
    assert abs(np.corrcoef(y, signal)[0, 1]) < 0.04
    assert abs(np.corrcoef(np.repeat(y, 15), outside)[0, 1]) < 0.02


def test_noise_is_orthogonal_to_the_feature_and_has_variance_one_over_d(rng):
    setting = Distribution(D=10, C=5, d=6, q=0.3)
    partition = data.draw_partition("contiguous", setting, rng)
    feature = data.draw_feature(6, rng)
    z = data.sample_patterns(setting, partition, 4000, rng).z
    X = data.embed(z, feature, rng)
    np.testing.assert_allclose(X @ feature, z, atol=1e-5)
    noise = (X - z[..., None] * feature).reshape(-1, 6)
    covariance = noise.T @ noise / len(noise)
    wanted = (np.eye(6) - np.outer(feature, feature)) / 6
    np.testing.assert_allclose(covariance, wanted, atol=0.005)
    assert np.linalg.norm(feature) == pytest.approx(1, abs=1e-6)


@given(SETTINGS, st.integers(0, 1000))
def test_f_star_is_the_sum_over_sets_of_the_thresholded_sum(setting, seed):
    rng = stream(seed, "t")
    partition = data.draw_partition("scattered", setting, rng)
    z = data.sample_patterns(setting, partition, 20, rng).z
    for row, found in zip(z, data.labelling_function(z, partition, setting.C), strict=True):
        sums = [int(row[partition == s].sum()) for s in range(setting.L)]
        assert found == sum(s for s in sums if abs(s) > 0.9 * setting.C)


def test_f_star_is_the_label_but_for_rare_other_full_sets(rng):
    setting = Distribution(D=50, C=5, d=2, q=0.4)
    partition = data.draw_partition("scattered", setting, rng)
    z, y, signal = data.sample_patterns(setting, partition, 20_000, rng)
    f = data.labelling_function(z, partition, 5)
    sums = z @ np.eye(10)[partition]
    others = np.where(np.arange(10) == signal[:, None], 0, sums)
    alone = (np.abs(others) < 5).all(axis=1)
    assert alone.mean() > 0.99
    assert (np.sign(f[alone]) == y[alone]).all()


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("D", {"D": 51}),
        ("D", {"D": 5}),
        ("C", {"C": 0}),
        ("d", {"d": 1}),
        ("q", {"q": 0.0}),
        ("q", {"q": 1.0}),
        ("q", {"q": float("nan")}),
    ],
)
def test_a_distribution_that_is_none(key, change):
    with pytest.raises(BadInput, match=f"^{key}: .* is not allowed; it must"):
        Distribution(**({"D": 50, "C": 5, "d": 4, "q": 0.4} | change))


@pytest.mark.parametrize("p", [1, 2, 4, -3])
def test_p_must_be_odd_and_at_least_3(p):
    with pytest.raises(BadInput, match=f"p: {p} is not allowed; it must be odd and at least 3"):
        Architecture(p=p, nu=0.1, beta=1.0)


def test_a_fault_in_a_sweep_names_the_whole_key():
    setting = {"partition": "scattered", "D": 50, "C": 5, "d": 4, "q": 0.4, "p": 3, "nu": 0.1}
    setting |= {"beta": 3, "omega": 1e-3, "N": 10, "eta_v": 1e-4, "eta_A": 1, "steps": 1}
    setting |= {"every": 1, "patience": 1, "validation": 1, "test": 1}
    section = {"seeds": 1, "setting": setting, "sweeps": {"main": [{}], "D": [{"D": 51}]}}
    key = "config key spatial.pretraining.sweeps.D.0.D: 51 "
    with pytest.raises(BadInput, match=f"^{key}"):
        pretraining(section)
    section["sweeps"]["D"] = [{"D": 60}]
    assert list(pretraining(section)) == ["main-0", "D-0"]
