"""Gaussian data: labels, what the first step does, training with capped steps, the step itself."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from cases import DESCENT
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_theory import files, tables
from attention_theory.errors import BadInput
from attention_theory.spatial import (
    evaluation,
    gaussian_columns,
    gaussian_data,
    gaussian_training,
    model,
    sections,
    training,
)
from attention_theory.spatial.gaussian_settings import (
    PHIS,
    STRUCTURED,
    Gaussian,
    check_cap,
    parse_phis,
)
from attention_theory.spatial.settings import Architecture
from attention_theory.streams import stream

SMALL = Gaussian(D=12, C=3, d=4)
ARCHITECTURE = Architecture(p=3, nu=0.1, beta=1.0)


def scattered(seed, L=4, C=3):
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(L), C))


def coefficients(seed, n=50, D=12):
    return np.random.default_rng(seed).standard_normal((n, D)).astype(np.float32)


def naive_labelling_function(phi, z, partition):
    """Definition 2.1 read literally, point by point and set by set."""
    return np.array(
        [
            sum(float(PHIS[phi].function(point[partition == s])) for s in set(partition))
            for point in z
        ]
    )


@settings(deadline=None, max_examples=20)
@given(st.sampled_from(list(PHIS)), st.integers(0, 999))
def test_labels_are_the_sign_of_the_labelling_function(phi, seed):
    z, partition = coefficients(seed), scattered(seed)
    f = naive_labelling_function(phi, z.astype(float), partition)
    found = gaussian_data.labelling_function(phi, z, partition)
    np.testing.assert_allclose(found, f, rtol=1e-9, atol=1e-12)
    y = gaussian_data.labels(phi, z, partition)
    assert y.dtype == np.float32 and (y == np.sign(f)).all()
    assert (gaussian_data.labels(phi, -z, partition) == -y).all(), "both labels are as likely"


@settings(deadline=None, max_examples=20)
@given(st.sampled_from(list(PHIS)), st.integers(0, 999))
def test_only_structured_phi_depend_on_the_partition(phi, seed):
    z, one, other = coefficients(seed, n=400), scattered(seed), scattered(seed + 1)
    differ = gaussian_data.labels(phi, z, one) != gaussian_data.labels(phi, z, other)
    same_sets = ((one[:, None] == one) == (other[:, None] == other)).all()
    assert differ.any() == (phi in STRUCTURED and not same_sets)


def test_the_linear_rule_is_exact_for_the_linear_phi_alone():
    z, partition = coefficients(0, n=20_000), scattered(0)
    found = {
        phi: gaussian_data.linear_accuracy(z, gaussian_data.labels(phi, z, partition))
        for phi in ("tanh", "cubic", "linear", "per_patch")
    }
    assert found.pop("linear") == 1
    assert all(0.8 < accuracy < 0.98 for accuracy in found.values())


@settings(deadline=None, max_examples=20)
@given(st.sampled_from(list(PHIS)), st.sampled_from([3, 5]), st.integers(0, 999))
def test_the_contrast_is_the_full_models_first_step(phi, p, seed):
    """Against autograd on the D x D model, v = alpha w* small and A zero off its diagonal."""
    architecture = Architecture(p=p, nu=0.0, beta=1.0)
    partition, alpha, D = scattered(seed), 1e-3, 12
    z = coefficients(seed).astype(float)
    y = gaussian_data.labels(phi, z, partition)
    A = torch.diag(torch.full((D,), architecture.beta, dtype=torch.float64))
    X, v = torch.tensor(z)[..., None], torch.tensor([alpha], dtype=torch.float64)
    gradient = model.gradients_by_autograd(X, torch.tensor(y).double(), v, A, architecture)
    gamma, rho = training.means(-gradient.A.numpy(), partition)
    S = 1 / (np.exp(architecture.beta) + D - 1)
    wanted = p / 2 * (alpha * D) ** p * S
    wanted *= gaussian_data.contrast(z, y, partition, architecture)
    assert gamma - rho == pytest.approx(wanted, rel=1e-3)


def test_the_contrast_has_the_sign_that_phi_gives_it():
    """Negative where phi saturates, positive where it grows, zero where f* ignores the sets."""
    partition, architecture = scattered(0, L=6, C=5), replace(ARCHITECTURE, beta=2.0)
    samples = [coefficients(seed, n=5000, D=30) for seed in range(20)]
    found = {}
    for phi in ("tanh", "cubic", "linear", "per_patch"):
        labelled = [(z, gaussian_data.labels(phi, z, partition)) for z in samples]
        parts = [gaussian_data.contrast(z, y, partition, architecture) for z, y in labelled]
        found[phi] = np.mean(parts) / (np.std(parts) / np.sqrt(20))
    assert found["tanh"] < -5 and found["cubic"] > 5
    assert abs(found["linear"]) < 4 and abs(found["per_patch"]) < 4


def test_without_the_diagonal_the_contrast_is_that_of_a_symmetric_weight():
    """beta = 0: x_i is the same for every patch, and so are j and k: nothing tells them apart."""
    z, partition = coefficients(1, n=100_000), scattered(1)
    y = gaussian_data.labels("tanh", z, partition)
    flat, diagonal = (
        gaussian_data.contrast(z, y, partition, replace(ARCHITECTURE, beta=beta))
        for beta in (0.0, 1.0)
    )
    assert flat == pytest.approx(0, abs=1e-9) and diagonal < -1e-4


def test_evaluation_samples_have_the_law_of_explicit_data():
    rng = stream(0, "gaussian law")
    partition, n = scattered(2), 60_000
    feature = np.float32([0.6, 0.8, 0, 0])
    v = 0.05 * feature + np.float32([0, 0, 0.08, -0.05])
    X = rng.standard_normal((n, 12, 4), dtype=np.float32)
    y = torch.from_numpy(gaussian_data.labels("tanh", X @ feature, partition))
    A = torch.from_numpy(rng.standard_normal((12, 12), dtype=np.float32))
    sample = gaussian_training.draw("tanh", SMALL, partition, n, rng)
    X, v, feature = map(torch.from_numpy, (X, v, feature))
    in_law = evaluation.evaluate(sample, v, A, feature, ARCHITECTURE)
    margin = y * model.outputs(X @ v, torch.softmax(A, dim=1), ARCHITECTURE)
    explicit = (margin > 0).float().mean().item()
    assert 0.6 < explicit < 0.95, "a setting in which the noise matters"
    assert abs(in_law.accuracy - explicit) < 4 * np.sqrt(2 * explicit * (1 - explicit) / n)
    assert evaluation.project(sample, v, feature).std().item() == pytest.approx(
        torch.linalg.vector_norm(v).item(), rel=0.01
    )


def begin(seed=0):
    return training.initialise(SMALL, ARCHITECTURE, DESCENT.omega, "scattered", 1, seed)


def test_capped_steps(rng):
    problem = begin()
    X = torch.from_numpy(rng.standard_normal((30, 12, 4), dtype=np.float32))
    y = torch.sign(torch.from_numpy(rng.standard_normal(30, dtype=np.float32)))
    wild = replace(DESCENT, eta_v=1e3, eta_A=1e6)
    for descent, cap, long in ((wild, 0.1, True), (DESCENT, 0.1, False), (wild, 0.0, False)):
        parameters = gaussian_training.Capped(problem, descent, cap, "cpu")
        gradient = model.gradients(X, y, parameters.v, parameters.A, ARCHITECTURE)
        before = parameters.v.clone(), parameters.A.clone()
        parameters.descend(gradient)
        dv, dA = before[0] - parameters.v, before[1] - parameters.A
        assert (dA.diagonal() == 0).all()
        if long:
            assert dA.abs().max().item() == pytest.approx(cap, rel=1e-4)
            assert (dv.norm() / before[0].norm()).item() == pytest.approx(0.1, rel=1e-3)
        else:
            torch.testing.assert_close(dA, descent.eta_A * gradient.A, rtol=1e-3, atol=1e-7)
            torch.testing.assert_close(dv, descent.eta_v * gradient.v, rtol=1e-3, atol=1e-7)


def train(phi="tanh", descent=DESCENT, seed=0, cap=0.1):
    return gaussian_training.train(phi, begin(seed), SMALL, ARCHITECTURE, descent, cap, 1, seed)


def test_the_same_seed_gives_the_same_bytes_and_the_stopping_rule_holds():
    one, two, other = train(), train(), train(seed=1)
    assert one.A.tobytes() == two.A.tobytes() and one[2:] == two[2:]
    assert one.A.tobytes() != other.A.tobytes()
    assert train(descent=replace(DESCENT, steps=5, patience=9)).steps == 5
    overfitted = replace(
        DESCENT, N=8, validation=2000, eta_v=0.05, steps=2000, every=1, patience=5, eta_A=20.0
    )
    assert train(descent=overfitted).steps < 2000


def test_divergence_is_one_line_with_its_place():
    with pytest.raises(BadInput, match=r"training: step \d+: the loss is .*; lower eta_v or eta_A"):
        train(descent=replace(DESCENT, steps=50, eta_v=1e30), cap=0.0)


def test_a_saturating_phi_is_learned_backwards_and_a_growing_one_forwards():
    """The finding at a size of a second."""
    gaussian = Gaussian(D=12, C=4, d=3)
    architecture = Architecture(p=3, nu=0.1, beta=2.0)
    descent = replace(
        DESCENT, omega=1e-3, N=10_000, eta_v=2e-3, eta_A=10.0, steps=150, every=10, patience=15
    )
    problem = training.initialise(gaussian, architecture, descent.omega, "scattered", 1, 0)
    found = {}
    for phi in STRUCTURED:
        trained = gaussian_training.train(phi, problem, gaussian, architecture, descent, 0.1, 1, 0)
        found[phi] = np.subtract(*training.means(trained.A, problem.partition))
    assert found["tanh"] < -0.1 and found["cubic"] > 0.5


def test_settings_out_of_reach_are_named():
    for change, says in (
        ({"D": 31}, "D: 31 .* multiple of C = 5"),
        ({"C": 30}, "D: 30 .* above C = 30"),
        ({"C": 1}, "C: 1 .* at least 2"),
        ({"d": 0}, "d: 0"),
    ):
        with pytest.raises(BadInput, match=says):
            Gaussian(**({"D": 30, "C": 5, "d": 10} | change))
    for phis, says in (("tanh,sine", "phis: 'sine'"), ("tanh,tanh", "twice"), ("", "phis: ''")):
        with pytest.raises(BadInput, match=says):
            parse_phis(phis)
    for cap in (-1.0, float("nan"), float("inf")):
        with pytest.raises(BadInput, match="cap: "):
            check_cap(cap)


SECTION = {
    "seeds": 2,
    "phis": ["tanh", "cubic"],
    "cap": 0.1,
    "setting": {
        **{"partition": "scattered", "D": 12, "C": 3, "d": 4, "p": 3, "nu": 0.1, "beta": 1.0},
        **vars(DESCENT),
    },
}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"cap": -1}, "config key spatial.gaussian.cap: -1"),
        ({"phis": ["tanh", "sine"]}, "config key spatial.gaussian.phis: 'sine'"),
        ({"setting": SECTION["setting"] | {"D": 13}}, "spatial.gaussian.setting.D: 13"),
        ({"setting": SECTION["setting"] | {"p": 4}}, "spatial.gaussian.setting.p: 4"),
        ({"setting": SECTION["setting"] | {"eta_A": 0}}, "spatial.gaussian.setting.eta_A: 0"),
        ({"setting": SECTION["setting"] | {"q": 0.4}}, "setting.q: Gaussian data have none"),
    ],
)
def test_the_section_is_checked_with_the_key_at_fault(change, says):
    assert sections.gaussian(SECTION)["phis"] == "tanh,cubic"
    with pytest.raises(BadInput, match=says):
        sections.gaussian(SECTION | change)


def step(folder, *options):
    """The step as a user runs it, at a size of milliseconds."""
    setting = (
        "--partition scattered --D 12 --C 3 --d 4 --p 3 --nu 0.1 --beta 1 --omega 0.01 --N 64 "
        "--eta-v 1e-3 --eta-A 5 --steps 4 --every 2 --patience 3 --validation 32 --test 64 "
        "--cap 0.1 --seeds 2 --base-seed 1"
    ).split()
    setting += ["--table", str(folder / "g.csv"), "--attention", str(folder / "g.npz")]
    command = [sys.executable, "-m", "attention_theory.spatial.gaussian", *setting, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_step_writes_a_row_a_seed_of_a_phi_and_the_mean_attention(tmp_path):
    done = step(tmp_path, "--phis", "tanh,per_patch")
    assert done.returncode == 0, done.stderr
    found = tables.read(tmp_path / "g.csv", gaussian_columns.GAUSSIAN)
    assert list(found.phi) == ["tanh"] * 2 + ["per_patch"] * 2
    assert list(found.seed) == [0, 1, 0, 1] and not found.isna().any(axis=None)
    arrays = files.read_arrays(tmp_path / "g.npz")
    assert list(arrays["phi"]) == ["tanh", "per_patch"] and arrays["A"].shape == (2, 12, 12)
    sets = np.repeat(np.arange(4), 3)  # in the order of the means, whatever the seeds' partitions
    for phi, A in zip(arrays["phi"], arrays["A"], strict=True):
        rows = found[found.phi == phi]
        assert training.means(A, sets) == pytest.approx((rows.gamma.mean(), rows.rho.mean()), 1e-4)


def test_bad_input_is_one_line(tmp_path):
    for options, says in (
        (("--phis", "tanh,sine"), "phis: 'sine' is not allowed; it must be one of: tanh, cubic"),
        (("--phis", "tanh", "--D", "13"), "D: 13 is not allowed; it must be a multiple of C = 3"),
    ):
        done = step(tmp_path, *options)
        assert done.returncode == 2 and not list(tmp_path.iterdir())
        assert done.stderr.count("\n") == 1 and says in done.stderr
