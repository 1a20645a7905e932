"""Total variation distances against enumeration of all patterns, and against simulation."""

import itertools
import subprocess
import sys
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from attention_theory import tables
from attention_theory.errors import BadInput
from attention_theory.spatial import beyond_columns
from attention_theory.spatial import total_variation as tv
from attention_theory.spatial.planted_settings import Samples, Scaling


def laws(m, C, q, sets=None):
    """D_1 (n,) and, for each set that may be planted, D_2 given it (sets, n), over {-1, 0, 1}^m."""
    z = np.array(list(itertools.product((-1, 0, 1), repeat=m)))
    chance = np.where(z == 0, 1 - q, q / 2)
    planted = []
    for S in sets or itertools.combinations(range(m), C):
        outside = np.setdiff1d(np.arange(m), S)
        planted.append((z[:, list(S)] == 1).all(axis=1) * chance[:, outside].prod(axis=1))
    return z, chance.prod(axis=1), np.array(planted)


def distance(p, q):
    return np.abs(p - q).sum() / 2


@settings(deadline=None, max_examples=15)
@given(st.integers(2, 6), st.integers(1, 3), st.floats(0.05, 0.95))
def test_likelihood_ratio_and_distance_are_the_enumerated_ones(m, C, q):
    C = min(C, m - 1)
    z, one, planted = laws(m, C, q)
    two = planted.mean(axis=0)
    k = (z == 1).sum(axis=1)
    identity = [comb(int(count), C) / (comb(m, C) * (q / 2) ** C) for count in k]
    np.testing.assert_allclose(two, one * identity, rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(np.exp(tv.log_ratio(k, m, C, q / 2)), identity, rtol=1e-10)
    assert tv.planted(m, C, q / 2) == pytest.approx(distance(one, two), abs=1e-12)


def test_n_samples_are_the_enumerated_ones():
    m, C, q = 4, 2, 0.6
    sets = [(0, 1), (2, 3)]  # a known partition
    _, one, planted = laws(m, C, q)
    _, _, partition = laws(m, C, q, sets)
    own, known = planted.mean(axis=0), partition.mean(axis=0)
    for n, letters in ((1, "a"), (2, "ab")):
        axes = ",".join(letters)

        def joint(law, axes=axes, letters=letters, n=n):
            return np.einsum(f"{axes}->{letters}", *[law] * n)

        common = np.mean([joint(law) for law in planted], axis=0)
        for found, wanted in (
            (tv.own(m, C, q / 2, n), joint(own)),
            (tv.known(m, C, q / 2, n), joint(known)),
            (tv.common(m, C, q / 2, n), common),
        ):
            assert found.tv == pytest.approx(distance(joint(one), wanted), abs=1e-6)
            assert found.error < 1e-6


def test_three_samples_and_the_grids_error(monkeypatch):
    """Own sets at n = 3 by enumeration of three counts; a coarser grid errs as it says, upwards."""
    m, C, r = 30, 3, 0.1
    k = np.arange(m + 1)
    one, two = binom.pmf(k, m, r), binom.pmf(k - C, m - C, r)
    wanted = distance(*(np.einsum("a,b,c->abc", p, p, p) for p in (one, two)))
    fine = tv.own(m, C, r, 3)
    assert fine.tv == pytest.approx(wanted, abs=1e-5)
    monkeypatch.setattr(tv, "GRID", 0.1)
    coarse = tv.own(m, C, r, 3)
    assert -1e-12 < coarse.tv - wanted < coarse.error < 0.01


def test_many_own_samples_against_simulation(rng):
    """Total variation is the mean of (1 - ratio)_+ under D_1."""
    m, C, r, n, draws = 200, 4, 0.1, 12, 40_000
    counts = rng.binomial(m, r, size=(draws, n))
    ratio = np.exp(tv.log_ratio(counts, m, C, r).sum(axis=1))
    gain = np.maximum(1 - ratio, 0)
    found = tv.own(m, C, r, n)
    assert abs(found.tv - gain.mean()) < 4 * gain.std() / np.sqrt(draws)
    assert found.error < 1e-4


@pytest.mark.parametrize(("m", "C", "q"), [(50, 5, 0.4), (1000, 5, 0.4), (3000, 20, 0.05)])
def test_one_sample_is_the_sum_over_counts_and_near_its_asymptotics(m, C, q):
    k = np.arange(m + 1)
    wanted = distance(binom.pmf(k, m, q / 2), binom.pmf(k - C, m - C, q / 2))
    assert tv.planted(m, C, q / 2) == pytest.approx(wanted, abs=1e-11)
    big = 10**6 * m
    # The variance is q m / 2 (1 - q / 2): the formula is for small q.
    exact = tv.asymptotic(big, C, q) * np.sqrt(1 - q / 2)
    assert tv.planted(big, C, q / 2) == pytest.approx(exact, rel=1e-3)


def test_what_is_known_helps_in_this_order():
    for n in (2, 3, 5):
        own, common, known = (f(50, 5, 0.2, n).tv for f in (tv.own, tv.common, tv.known))
        assert own < common < known
    assert tv.own(50, 5, 0.2, 200).tv == pytest.approx(1, abs=1e-9)
    increasing = [tv.own(50, 5, 0.2, n).tv for n in (1, 2, 3, 4, 8, 16)]
    assert (np.diff(increasing) > 0).all()


STEP = (
    "--q 0.01 --C 4,8,16 --ratios 1,4 --degrees 1,2,3 --samples-q 0.4 --samples-C 5 "
    "--samples-n 1,4 --samples-m"
)


def step(m, table):
    command = [sys.executable, "-m", "attention_theory.spatial.planted", *STEP.split(), m]
    command += ["--table", str(table)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_step_writes_the_three_curves(tmp_path):
    done = step("50,100", tmp_path / "planted.csv")
    assert done.returncode == 0, done.stderr
    found = tables.read(tmp_path / "planted.csv", beyond_columns.PLANTED)
    assert dict(found.curve.value_counts()) == {"ratio": 6, "degree": 9, "samples": 12}
    row = found[(found.curve == "degree") & (found.degree == 2) & (found.C == 8)].iloc[0]
    assert row.m == 6400 and row.tv == tv.planted(6400, 8, 0.005)
    assert found.tv.between(0, 1).all() and (found.error < 1e-4).all()


def test_bad_input_is_one_line(tmp_path):
    done = step("51", tmp_path / "planted.csv")
    assert done.returncode == 2 and not list(tmp_path.iterdir())
    assert done.stderr.count("\n") == 1 and "samples_m: 51 is not allowed" in done.stderr


def test_sizes_out_of_reach_are_named():
    good = {"q": 0.01, "C": "4,8", "ratios": "1", "degrees": "2"}
    assert Scaling(**good).points("degree") == [(2.0, 4, 1600), (2.0, 8, 6400)]
    for change, says in (
        ({"q": 0.5, "ratios": "0.1"}, r"ratios: 0.1 .* give m from C \+ 1 .*at C = 4, m is 3.2"),
        ({"C": "512", "degrees": "9"}, r"degrees: 9.0 .* to 2\^53"),
        ({"C": "0"}, "C: '0'"),
        ({"q": 1.0}, "q: 1.0"),
    ):
        with pytest.raises(BadInput, match=says):
            Scaling(**(good | change))
    good = {"samples_q": 0.4, "samples_C": 5, "samples_m": "50", "samples_n": "1,2"}
    for change in (
        {"samples_m": "5"},
        {"samples_m": "10000000"},
        {"samples_n": "0"},
        {"samples_n": "2001"},
        {"samples_C": 0},
        {"samples_q": 0.0},
    ):
        with pytest.raises(BadInput, match=f"{next(iter(change))}: "):
            Samples(**(good | change))
