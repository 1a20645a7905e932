"""Exact errors against enumeration and simulation; learned linear models."""

import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_theory import code, tables
from attention_theory.spatial import columns, exact, linear
from attention_theory.spatial import distribution as data
from attention_theory.spatial.linear import EXACT, LEARNED, learned_errors
from attention_theory.spatial.settings import Distribution

TINY = Distribution(D=6, C=2, d=2, q=0.3)
PARTITION = np.repeat(np.arange(3), 2)


def enumerated_error(setting, score):
    """The error of sign(score(z)) over every pattern with y = +1; a tie counts one half."""
    partition = np.repeat(np.arange(setting.L), setting.C)
    error = 0.0
    for signal in range(setting.L):
        outside = np.flatnonzero(partition != signal)
        for values in itertools.product((-1, 0, 1), repeat=len(outside)):
            z = np.ones(setting.D)
            z[outside] = values
            zeros = values.count(0)
            p = (1 - setting.q) ** zeros * (setting.q / 2) ** (len(values) - zeros)
            s = score(z)
            error += p / setting.L * ((s < 0) + (s == 0) / 2)
    return error


@settings(deadline=None, max_examples=10)
@given(st.lists(st.integers(1, 4), min_size=3, max_size=3), st.floats(0.05, 0.95))
def test_weighted_error_is_the_enumerated_one(weights, q):
    setting = Distribution(D=6, C=2, d=2, q=q)
    w = np.repeat(weights, 2)
    wanted = enumerated_error(setting, lambda z: w @ z)
    assert exact.weighted_error(setting, weights) == pytest.approx(wanted, abs=1e-12)


@settings(deadline=None, max_examples=5)
@given(st.floats(0.05, 0.95))
def test_labelling_functions_error_is_the_enumerated_one(q):
    setting = Distribution(D=6, C=2, d=2, q=q)
    wanted = enumerated_error(setting, lambda z: data.labelling_function(z[None], PARTITION, 2)[0])
    assert exact.labelling_function_error(setting) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("D", "C", "q"), [(50, 5, 0.4), (50, 5, 0.6), (24, 12, 0.95), (60, 20, 0.97)]
)
def test_exact_errors_against_simulation(D, C, q, rng):
    """C = 20: sums short of C pass the threshold .9 C as well."""
    setting = Distribution(D=D, C=C, d=2, q=q)
    partition = data.draw_partition("contiguous", setting, rng)
    n = 200_000
    z, y, _ = data.sample_patterns(setting, partition, n, rng)
    one_lower = np.where(partition == 0, 19, 20)
    scores = {
        exact.equal_weights_error(setting): z.sum(axis=1),
        exact.weighted_error(setting, one_lower[::C]): z.astype(int) @ one_lower,
        exact.labelling_function_error(setting): data.labelling_function(z, partition, C),
    }
    for error, score in scores.items():
        simulated = ((score * y < 0) + (score == 0) / 2).mean()
        assert abs(simulated - error) < 4 * np.sqrt(error / n)


@pytest.mark.parametrize("weights", [[1, 1], [1, 1, 1, 1], [0, 1, 1]])
def test_weights_must_be_positive_and_one_a_set(weights):
    with pytest.raises(ValueError, match="3 positive weights"):
        exact.weighted_error(TINY, weights)


def test_unequal_weights_break_ties():
    setting = Distribution(D=50, C=5, d=2, q=0.4)
    assert exact.perturbed_weights_error(setting) < exact.equal_weights_error(setting)
    # A scale in common changes nothing.
    doubled = exact.weighted_error(setting, np.full(10, 2))
    assert doubled == pytest.approx(exact.equal_weights_error(setting))


def test_learned_models_do_better_than_chance_and_no_better_than_the_majority():
    setting = Distribution(D=20, C=4, d=4, q=0.4)
    errors = learned_errors(setting, 2000, 4000, base_seed=1, seed=0)
    best = exact.perturbed_weights_error(setting)
    assert list(errors) == list(LEARNED)
    for error in errors.values():
        assert best - 4 * np.sqrt(best / 4000) < error < 0.3
    assert errors == learned_errors(setting, 2000, 4000, base_seed=1, seed=0)
    assert errors != learned_errors(setting, 2000, 4000, base_seed=2, seed=0)


def test_the_step_writes_exact_errors_once_and_learned_ones_a_seed(tmp_path):
    setting = Distribution(D=20, C=4, d=4, q=0.4)
    for name in ("a", "b"):
        linear.main(
            setting,
            N=200,
            test=500,
            seeds=2,
            base_seed=1,
            table=tmp_path / f"{name}.csv",
            provenance=tmp_path / f"{name}.json",
        )
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    table = tables.read(tmp_path / "a.csv", columns.LINEAR)
    for name, error in EXACT.items():
        row = table[table.classifier == name].squeeze()
        assert (row.N, row.seed, row.error) == (0, -1, pytest.approx(error(setting)))
    learned = table[table.seed >= 0]
    assert len(table) == len(EXACT) + len(learned) and (learned.N == 200).all()
    for seed, rows in learned.groupby("seed"):
        errors = learned_errors(setting, 200, 500, base_seed=1, seed=seed)
        assert dict(zip(rows.classifier, rows.error, strict=True)) == pytest.approx(errors)
    assert set(learned.seed) == {0, 1}
    record = json.loads((tmp_path / "a.json").read_text())
    assert (record["step"], record["setting"], record["seeds"]) == ("linear", "q=0.4", [0, 1])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("--q .4", "--q 1"), "q: 1.0 is not allowed"),
        (("--N 200", "--N 99"), "Invalid value for '--N'"),
    ],
)
def test_the_command_refuses_in_one_line(tmp_path, change, said):
    words = "--D 20 --C 4 --d 4 --q .4 --N 200 --test 500 --seeds 1 --base-seed 1 --table t.csv"
    done = subprocess.run(
        [sys.executable, "-m", "attention_theory.spatial.linear", *words.replace(*change).split()],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(code.SOURCE)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
