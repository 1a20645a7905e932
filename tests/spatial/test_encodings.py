"""Encodings P trained with A = P^T P: gradient, rate, caps, starts; the structure is learned."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from cases import ARCHITECTURE, DESCENT, SMALL

from attention_theory import tables
from attention_theory.errors import BadInput
from attention_theory.spatial import beyond_columns, gram, model, training
from attention_theory.spatial import distribution as data
from attention_theory.spatial.encoding import Encoding, Fixed, parse, parse_all
from attention_theory.spatial.settings import Architecture, Distribution
from attention_theory.streams import stream

FIXED = Fixed(size=0.01, cap=0.1)


def problem(rng, m=7):
    """Data, v and P (float64) at which every part of the gradient matters."""
    partition = data.draw_partition("scattered", SMALL, rng)
    X, y = data.sample(SMALL, partition, data.draw_feature(SMALL.d, rng), 30, rng)
    X, y = (torch.tensor(array, dtype=torch.float64) for array in (X, y))
    return X, y, rng.standard_normal(SMALL.d) / SMALL.D, rng.standard_normal((m, SMALL.D))


@pytest.mark.parametrize("diagonal", [None, 1.5])
def test_gradient_in_P_is_autograds(diagonal, rng):
    X, y, v, P = problem(rng)
    encoded = gram.Encoded(v, P, DESCENT, diagonal)
    found = encoded.gradient_in_P(model.gradients(X, y, encoded.v, encoded.A, ARCHITECTURE))
    leaf = torch.tensor(P, requires_grad=True)
    A = leaf.T @ leaf
    if diagonal is not None:
        A = A - torch.diag(A.diagonal()) + diagonal * torch.eye(SMALL.D, dtype=A.dtype)
    torch.testing.assert_close(encoded.A, A.detach())
    margin = y * model.outputs(X @ encoded.v, torch.softmax(A, dim=1), ARCHITECTURE)
    (wanted,) = torch.autograd.grad(-torch.nn.functional.logsigmoid(margin).mean(), leaf)
    torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-13)


def test_orthonormal_encodings_move_A_as_its_own_rate_would(rng):
    """dA = -eta_A (G + G^T) / 2 to first order, and exactly linear in the rate in the limit."""
    X, y, v, _ = problem(rng)
    P = np.sqrt(2.0) * np.linalg.qr(rng.standard_normal((SMALL.D, SMALL.D)))[0]
    slow = replace(DESCENT, eta_A=1e-4)
    encoded = gram.Encoded(v, P, slow)
    before = encoded.A
    gradient = model.gradients(X, y, encoded.v, before, ARCHITECTURE)
    encoded.descend(gradient)
    full = gradient.A - torch.diag(gradient.A.sum(dim=1))
    wanted = -slow.eta_A * (full + full.T) / 2
    torch.testing.assert_close(encoded.A - before, wanted, rtol=1e-3, atol=1e-9)


def test_capped_steps(rng):
    X, y, v, P = problem(rng)
    free = replace(DESCENT, eta_v=1e3, eta_A=1e-3)
    wild = replace(DESCENT, eta_v=1e3, eta_A=1e6)
    for descent, long in ((free, False), (wild, True)):
        encoded = gram.Encoded(v, P, descent, diagonal=1.0, cap=1e-3)
        before, v_before = encoded.A, encoded.v.clone()
        encoded.descend(model.gradients(X, y, encoded.v, before, ARCHITECTURE))
        moved = (encoded.A - before).abs().max().item()
        assert moved == pytest.approx(1e-3, rel=0.05) if long else moved < 1e-3
        share = (encoded.v - v_before).norm() / v_before.norm()
        assert share.item() == pytest.approx(gram.SHARE)
        assert (encoded.A.diagonal() == 1).all()


def test_starts(rng):
    orthonormal = Encoding("orthonormal", "free", 14).draw(12, 3.0, 1e-3, rng)
    assert orthonormal.shape == (14, 12) and orthonormal.dtype == np.float32
    np.testing.assert_allclose(orthonormal.T @ orthonormal, 3 * np.eye(12), atol=0.02)
    assert np.ptp(orthonormal[13]) > 0, "the noise fills all of P"
    gaussian = Encoding("gaussian", "free", 2000).draw(50, 3.0, 1e-3, rng)
    assert (gaussian**2).sum(axis=0).mean() == pytest.approx(3, rel=0.03)


def test_names_are_read_and_bad_ones_named():
    assert parse("gaussian-fixed-5", 50) == Encoding("gaussian", "fixed", 5)
    assert parse("gaussian-fixed-5", 50).name == "gaussian-fixed-5"
    for name in (
        "gaussian",
        "gaussian-fixed-0",
        "gaussian-loose-5",
        "a-free-5",
        "gaussian-free--5",
    ):
        with pytest.raises(BadInput, match="encodings: .*must read <parametrisation>"):
            parse(name, 50)
    with pytest.raises(BadInput, match="at least D = 50"):
        parse("orthonormal-free-49", 50)
    with pytest.raises(BadInput, match="twice"):
        parse_all("gaussian-free-9,gaussian-free-9", 50, ARCHITECTURE)
    with pytest.raises(BadInput, match="beta: 0.0"):
        parse_all("gaussian-free-9", 50, replace(ARCHITECTURE, beta=0.0))
    for size, cap in ((0.0, 0.1), (float("nan"), 0.1), (1.0, -1.0)):
        with pytest.raises(BadInput):
            Fixed(size=size, cap=cap)


def test_direct_parameters_are_the_default():
    start = training.initialise(SMALL, ARCHITECTURE, DESCENT.omega, "scattered", 1, 0)
    common = (start, SMALL, ARCHITECTURE, DESCENT, 1, 0)
    direct = training.Direct(start, DESCENT, "cpu")
    one, two = training.train(*common), training.train(*common, parameters=direct)
    assert one.A.tobytes() == two.A.tobytes() and one.trajectory == two.trajectory


@pytest.mark.parametrize("name", ["orthonormal-free-20", "gaussian-fixed-20"])
def test_the_structure_is_learned_at_small_size(name):
    distribution = Distribution(D=20, C=4, d=8, q=0.3)
    architecture = Architecture(p=3, nu=0.1, beta=2.0)
    descent = replace(
        DESCENT,
        omega=1e-3,
        N=4000,
        eta_v=1e-3,
        eta_A=20.0,
        steps=200,
        every=10,
        patience=6,
        validation=2000,
        test=5000,
    )
    start = training.initialise(distribution, architecture, descent.omega, "scattered", 1, 0)
    rng = stream(1, "encodings", name)
    kind = parse(name, 20)
    parameters = gram.begin(kind, start, architecture, descent, FIXED, rng)
    if kind.diagonal == "fixed":
        assert (parameters.A.diagonal() == architecture.beta).all()
    trained = training.train(
        start, distribution, architecture, descent, 1, 0, parameters=parameters
    )
    assert trained.trajectory[-1]["patch_association"] == 1
    assert trained.accuracy > 0.97
    assert np.linalg.matrix_rank(trained.A) <= 20 and np.allclose(trained.A, trained.A.T)


def step(*options):
    """The step as a user runs it, at a size of milliseconds."""
    setting = (
        "--partition scattered --D 12 --C 3 --d 4 --q 0.4 --p 3 --nu 0.1 --beta 1 --omega 0.01 "
        "--N 64 --eta-v 1e-3 --eta-A 5 --steps 4 --every 2 --patience 3 --validation 32 --test 64 "
        "--size 0.01 --cap 0.1 --seeds 2 --base-seed 1"
    ).split()
    command = [sys.executable, "-m", "attention_theory.spatial.encodings", *setting, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_step_writes_a_row_a_seed_of_an_encoding(tmp_path):
    table = tmp_path / "encodings.csv"
    done = step("--encodings", "orthonormal-free-12,gaussian-fixed-5", "--table", str(table))
    assert done.returncode == 0, done.stderr
    found = tables.read(table, beyond_columns.ENCODINGS)
    assert list(found.m) == [12, 12, 5, 5] and list(found.seed) == [0, 1, 0, 1]
    assert list(found["size"]) == [1, 1, 0.01, 0.01] and list(found.cap) == [0, 0, 0.1, 0.1]
    assert (found.patch_association <= found.patch_association_max).all()


def test_bad_input_is_one_line(tmp_path):
    done = step("--encodings", "orthonormal-free-5", "--table", str(tmp_path / "t.csv"))
    assert done.returncode == 2 and not list(tmp_path.iterdir())
    assert done.stderr.count("\n") == 1 and "at least D = 12" in done.stderr
