"""The Jacobians of softmax, l2 and l1 attention, their searches, and the step itself."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_theory import tables
from attention_theory.meanfield import bounds_columns, distances, lipschitz
from attention_theory.meanfield.bounds_settings import Lipschitz


def attention(kind, X):
    """f (D, n) of tokens X (D, n) by definition."""
    D, n = X.shape
    f = []
    for i in range(n):
        apart = X - X[:, i : i + 1]
        logits = {
            "softmax": X.T @ X[:, i] / D**0.5,
            "l2": -(apart**2).sum(0) / D**0.5,
            "l1": -apart.abs().sum(0),
        }[kind]
        f.append(X @ torch.softmax(logits, 0))
    return torch.stack(f) / (D**0.5 if kind == "l2" else 1)


@pytest.mark.parametrize("kind", ["softmax", "l2", "l1"])
@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(2, 5), st.floats(-1, 0.5))
@settings(max_examples=12, deadline=None)
def test_the_jacobian_is_the_derivative(kind, seed, D, n, exponent):
    X = torch.from_numpy(np.random.default_rng(seed).standard_normal((D, n)) * 10**exponent)
    wanted = torch.autograd.functional.jacobian(lambda Y: attention(kind, Y.T), X.T.contiguous())
    found = distances.jacobian(kind, X[None])[0]
    torch.testing.assert_close(found, wanted.reshape(n * D, n * D), rtol=1e-8, atol=1e-8)


@given(st.integers(0, 10_000), st.floats(0.1, 10))
@settings(max_examples=12, deadline=None)
def test_l2_attention_on_a_line_has_one_jacobian_for_every_dimension(seed, scale):
    """sqrt(D) |J| at D^(1/4) x does not depend on D, where the line's own part is the larger."""
    x = torch.from_numpy(scale * np.random.default_rng(seed).standard_normal(6))
    found = []
    for D in (1, 4, 9):
        X = torch.zeros(1, D, 6, dtype=torch.float64)
        X[0, 0] = D**0.25 * x
        J = distances.jacobian("l2", X)[0].reshape(6, D, 6, D)[:, 0, :, 0]
        found.append(D**0.5 * torch.linalg.matrix_norm(J, ord=2))
    torch.testing.assert_close(torch.stack(found), found[0].expand(3), rtol=1e-9, atol=1e-12)


def test_the_families_reach_what_they_are_said_to():
    """Softmax: |T|_F^2 / (2 sqrt D); l2: above log N, below sqrt(N log N) from N = 4 on."""
    for D in (2, 4):
        J, _ = distances.softmax_family(D, 300.0)
        assert 0.99 < J * 2 * D**0.5 / 300**2 < 1.01
    for n in (4, 16, 256):
        scaled, _ = distances.l2_family(n)
        assert np.log(n) < scaled < np.sqrt(n * np.log(n))


def test_ascent_keeps_the_norm_and_never_ends_lower():
    starts = distances.starts(2, 3, 6, 1, 0)
    X, J, _ = distances.climb("softmax", starts, 40, norm=5.0)
    torch.testing.assert_close(X.flatten(1).norm(dim=1), torch.full((6,), 5.0).double())
    norms = torch.linalg.matrix_norm(distances.jacobian("softmax", X), ord=2)
    torch.testing.assert_close(norms, J)
    rescaled = starts * (5 / starts.flatten(1).norm(dim=1))[:, None, None]
    first = torch.linalg.matrix_norm(distances.jacobian("softmax", rescaled), ord=2)
    assert (J >= first - 1e-12).all() and J.max() > first.max()


def test_the_step_writes_its_table_and_repeats_it(tmp_path):
    settings = {"dimensions": "2", "tokens": "2", "many": "2,8", "norms": "1,10"}
    settings |= {"starts": 2, "steps": 6, "seeds": 2}
    command = [sys.executable, "-m", "attention_theory.meanfield.lipschitz"]
    command += [str(word) for key, value in settings.items() for word in (f"--{key}", value)]
    command += ["--base-seed", "5", "--output", str(tmp_path / "lipschitz.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = tables.read(tmp_path / "lipschitz.csv", bounds_columns.LIPSCHITZ)
    counts = found.groupby(["attention", "search"]).size().to_dict()
    ascents = {("l1", "ascent"): 2, ("l2", "ascent"): 2, ("softmax", "ascent"): 4}
    assert counts == ascents | {("l2", "family"): 2, ("softmax", "family"): 2}
    again = lipschitz._ascents(Lipschitz(**settings), 2, 2, 5)
    assert [row["J"] for row in again] == found[found.search == "ascent"].J.tolist()
