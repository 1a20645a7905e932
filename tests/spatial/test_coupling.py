"""Realistic processes beside the idealised one: exact on enumerated data, and the step itself."""

import subprocess
import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_theory import tables
from attention_theory.errors import BadInput
from attention_theory.spatial import coupled, coupling_columns, idealised, model, sections
from attention_theory.spatial.coupling_settings import Coupling
from attention_theory.spatial.histograms import Enumeration
from attention_theory.spatial.idealised import State
from attention_theory.spatial.population_settings import Point, Sets
from attention_theory.spatial.settings import Architecture
from attention_theory.spatial.training import Problem

ARCHITECTURE = Architecture(p=3, nu=0.1, beta=1.5)
COUPLING = Coupling(
    omega=0.01,
    alpha_0=0.02,
    eta_v=0.02,
    eta_A=40.0,
    steps=30,
    every=7,
    target=1e-6,
    samples="16",
    semi="16",
    gradient_samples="16",
    probes="3",
)
FEATURE = np.array([0.6, -0.8, 0.0])


def population(D, C):
    """All data at q = 1/2, each equally likely, as a sample (float64) with its partition.

    An entry outside the signal set is 1, -1, 0, 0. The noise is a pair +-xi for each pattern: on
    v parallel to w* it enters the gradient once, and leaves it in the mean.
    """
    partition = np.random.default_rng(D).permutation(np.repeat(np.arange(D // C), C))
    z, y = [], []
    for sign, signal in product((1, -1), range(D // C)):
        for spurious in product((1, -1, 0, 0), repeat=D - C):
            pattern = np.full(D, sign)
            pattern[partition != signal] = spurious
            z.append(pattern)
            y.append(sign)
    z, y = np.repeat(z, 2, axis=0), np.repeat(y, 2)
    xi = np.random.default_rng(0).standard_normal((len(z) // 2, D, 3))
    xi = np.stack([xi, -xi], axis=1).reshape(len(z), D, 3)
    xi -= (xi @ FEATURE)[..., None] * FEATURE
    X = z[..., None] * FEATURE + xi
    return coupled.place(X, y.astype(float), FEATURE, partition, "cpu")


SMALL = population(6, 2), Sets(D=6, C=2, q=0.5)


@given(
    st.floats(-0.6, 0.6).filter(lambda alpha: abs(alpha) > 1e-3),
    st.floats(-2, 4),
    st.floats(-2, 4),
    st.floats(-1, 4),
    st.sampled_from([3, 5]),
)
@settings(max_examples=20, deadline=None)
def test_the_populations_gradient_keeps_the_symmetry(alpha, gamma, rho, beta, p):
    """Lemmas 4.1, 4.2, by autograd on every data point there is: exact but for rounding."""
    sample, sets = SMALL
    architecture = Architecture(p, 0.1, beta)
    point = Point(alpha, gamma, rho)
    v, A = coupled.symmetric(sample, beta, point)
    found = model.gradients_by_autograd(sample.X, sample.y, v, A, architecture)
    wanted = Enumeration(sets, architecture).gradient(point)
    # What a gradient in alpha is a sum of; an entry of A has a share of it, times alpha.
    scale = 1e-12 * wanted.scales[1]
    for mask, value in ((sample.within, wanted.d_gamma), (sample.across, wanted.d_rho)):
        np.testing.assert_allclose(found.A.numpy()[mask], value, rtol=0, atol=scale * abs(alpha))
    np.testing.assert_allclose(found.v.numpy(), wanted.d_alpha * FEATURE, rtol=0, atol=scale)
    row = coupled.probe(sample, architecture, State(3, point, wanted))
    assert row["step"] == 3 and row["d_gamma"] == pytest.approx(wanted.d_gamma, abs=scale)
    assert max(row["d_gamma_spread"], row["d_rho_spread"]) < scale * abs(alpha)
    assert row["d_alpha"] == pytest.approx(wanted.d_alpha, abs=scale)
    assert row["d_orthogonal"] < scale


@pytest.mark.parametrize(("D", "C"), [(6, 2), (6, 3), (8, 4)])
def test_descent_on_the_population_is_the_idealised_process(D, C):
    """The whole model, all data, every step: three values, v parallel to w*, no distance."""
    sample, sets = SMALL if (D, C) == (6, 2) else (population(D, C), Sets(D, C, q=0.5))
    states = list(idealised.descend(Enumeration(sets, ARCHITECTURE), COUPLING.path))
    v, A = coupled.symmetric(sample, ARCHITECTURE.beta, states[0].point)
    run = coupled.descend(sample, v, A, ARCHITECTURE, COUPLING)
    assert [row["step"] for row in run.rows] == [0, 7, 14, 21, 28, 30]
    assert run.alphas == pytest.approx([state.point.alpha for state in states], rel=1e-10)
    for row in run.rows:
        state = states[row["step"]]
        assert coupled.distance(D, row, state.point) < 1e-9
        assert max(row["gamma_spread"], row["rho_spread"], row["deviation"]) < 1e-11
        assert row["v_orthogonal"] < 1e-12 and row["loss"] == pytest.approx(state.gradient.risk)
    assert row["gamma"] > 0.1, "it moves"
    assert (np.diagonal(run.attention[-1]) == ARCHITECTURE.beta).all()


def test_the_semi_idealised_process_with_the_idealised_alpha_is_the_idealised_one():
    expectation = Enumeration(SMALL[1], ARCHITECTURE)
    states = list(idealised.descend(expectation, COUPLING.path))
    semi = coupled.semi_idealised(expectation, [s.point.alpha for s in states], COUPLING)
    assert semi == states
    held = coupled.semi_idealised(expectation, [0.0] * 4, COUPLING)
    assert held[-1].point == Point(0.0, 0.0, 0.0), "without v there is nothing to attend to"


def test_rows_of_all_processes(rng):
    """The distance is to the same step; Delta_A belongs to the Gaussian start."""
    sample, sets = SMALL
    expectation = Enumeration(sets, ARCHITECTURE)
    states = list(idealised.descend(expectation, COUPLING.path))
    A = 0.01 * rng.standard_normal((6, 6))
    np.fill_diagonal(A, ARCHITECTURE.beta)
    v = 0.02 * FEATURE + [0.0, 0.0, 0.01]
    found = coupled.side_by_side(
        sample,
        Problem(np.zeros(6), FEATURE, v, A),
        states,
        expectation,
        ARCHITECTURE,
        COUPLING,
        semi=True,
    )
    by_process = {row["process"]: row for row in found if row["step"] == 0}
    assert list(by_process) == ["symmetric", "gaussian", "semi-idealised"]
    assert by_process["symmetric"]["distance"] < 1e-12
    gaussian = by_process["gaussian"]
    off = A[~np.eye(6, dtype=bool)]
    assert by_process["semi-idealised"]["delta_A"] == pytest.approx(np.abs(off).max())
    assert gaussian["v_orthogonal"] == pytest.approx(0.01)
    wanted = np.hypot(A[sample.within].mean(), A[sample.across].mean())
    assert gaussian["distance"] == pytest.approx(wanted, rel=1e-6)
    assert gaussian["gamma_spread"] == pytest.approx(A[sample.within].std(ddof=1))
    deviations = [A[mask] - A[mask].mean() for mask in (sample.within, sample.across)]
    assert gaussian["deviation"] == pytest.approx(max(np.abs(d).max() for d in deviations))
    last = [row for row in found if row["process"] == "semi-idealised"][-1]
    assert last["step"] == 30 and set(last) == {
        "process", "step", "loss", "alpha", "gamma", "rho", "delta_A"
    }  # fmt: skip


def test_divergence_names_the_step():
    v, A = coupled.symmetric(SMALL[0], 1.0, Point(1e200, 0.0, 0.0))
    with pytest.raises(BadInput, match="step 0: the loss is nan"):
        coupled.descend(SMALL[0], v, A, ARCHITECTURE, COUPLING)


SETTING = (
    "--partition scattered --D 12 --C 3 --d 4 --q 0.4 --p 3 --nu 0.1 --beta 1 --omega 0.01 "
    "--alpha-0 0.01 --eta-v 1e-3 --eta-A 5 --steps 4 --every 3 --target 1e-4 --samples 20,40 "
    "--semi 40 --gradient-samples 20,80 --probes 0,4 --seeds 2 --base-seed 1"
).split()


def step(folder, *options):
    """The step as a user runs it, at a size of milliseconds."""
    outputs = ["--table", str(folder / "coupling.csv")]
    outputs += ["--invariance", str(folder / "invariance.csv")]
    command = [sys.executable, "-m", "attention_theory.spatial.coupling", *SETTING]
    return subprocess.run(
        [*command, *outputs, *options], capture_output=True, text=True, check=False
    )


def test_the_step_writes_its_tables_and_the_same_bytes_again(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        done = step(tmp_path / name)
        assert done.returncode == 0, done.stderr
    for table in ("coupling.csv", "invariance.csv"):
        one, two = (tmp_path / name / table for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
    found = tables.read(one.with_name("coupling.csv"), coupling_columns.COUPLING)
    rows = found.groupby(["process", "N", "seed"], dropna=False).step.apply(list)
    assert len(rows) == 1 + 2 * 2 * 2 + 2 and all(steps == [0, 3, 4] for steps in rows)
    assert found[found.process == "idealised"].N.isna().all()
    assert found.distance.notna().sum() == 2 * 2 * 2 * 3 and found.delta_A.notna().sum() == 2 * 3
    alphas = found[found.process == "gaussian"].merge(
        found[found.process == "semi-idealised"], on=["N", "seed", "step"]
    )
    assert len(alphas) == 6 and (alphas.alpha_x == alphas.alpha_y).all()
    gradients = tables.read(one, coupling_columns.INVARIANCE)
    assert list(gradients.N.unique()) == [20, 80] and len(gradients) == 2 * 2 * 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"semi": "30"}, "semi: '30' is not allowed; it must name numbers of samples: 16"),
        ({"probes": "31"}, "probes: '31' is not allowed; it must hold steps from 0 to 30"),
        ({"samples": "0,16"}, "samples: '0,16' is not allowed; it must hold no number below 1"),
        ({"gradient_samples": "-1"}, "gradient_samples: '-1'"),
        ({"samples": "16,x"}, "samples: '16,x' is not allowed; it must be numbers like 1,2,4"),
        ({"target": 0.1}, "target: 0.1 is not allowed; it must lie between"),
        ({"alpha_0": -1.0}, "alpha_0: -1.0 is not allowed; it must be finite and above 0"),
        ({"omega": float("nan")}, "omega: nan"),
        ({"every": 0}, "every: 0 is not allowed; it must be at least 1"),
    ],
)
def test_settings_that_are_none(change, says):
    with pytest.raises(BadInput) as caught:
        replace(COUPLING, **change)
    assert str(caught.value).startswith(says)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--C 1", "C: 1 is not allowed; it must be at least 2"),
        ("--eta-v 1e9", "idealised.step 1: "),
    ],
)
def test_bad_input_is_one_line(tmp_path, options, says):
    done = step(tmp_path, *options.split())
    assert done.returncode == 2 and not list(tmp_path.iterdir())
    assert done.stderr.count("\n") == 1 and says in done.stderr


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("q", 2.0, "config key spatial.coupling.setting.q: 2.0"),
        ("C", 1, "config key spatial.coupling.setting.C: 1"),
        ("steps", 3, "config key spatial.coupling.probes: '5'"),
    ],
)
def test_a_fault_in_the_configuration_names_the_whole_key(key, value, says):
    setting = {name: getattr(COUPLING, name) for name in "omega alpha_0 eta_v eta_A".split()}
    setting |= {"partition": "scattered", "D": 12, "C": 3, "d": 4, "q": 0.4, "p": 3, "nu": 0.1}
    setting |= {"beta": 1.0, "steps": 9, "every": 3, "target": 1e-4}
    section = {"seeds": 2, "samples": [20, 40], "semi": [40], "gradient_samples": [20]}
    section |= {"probes": [5], "setting": setting}
    assert sections.coupling(section)["samples"] == "20,40"
    setting[key] = value
    with pytest.raises(BadInput) as caught:
        sections.coupling(section)
    assert str(caught.value).startswith(says)
