"""The gradient against autograd and finite differences; equivariance; evaluation in law."""

import numpy as np
import pytest
import torch
from cases import ARCHITECTURE, SMALL
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import logsigmoid

from attention_theory.spatial import distribution as data
from attention_theory.spatial import evaluation, model
from attention_theory.spatial.settings import Architecture, Distribution
from attention_theory.streams import stream


def problem(seed, setting=SMALL, n=20, dtype=torch.float64):
    """Data, v and A of a size at which every part of the gradient matters."""
    rng = stream(seed, "model")
    partition = data.draw_partition("scattered", setting, rng)
    X, y = data.sample(setting, partition, data.draw_feature(setting.d, rng), n, rng)
    v = rng.standard_normal(setting.d) / setting.D
    A = rng.standard_normal((setting.D, setting.D))
    return [torch.tensor(array, dtype=dtype) for array in (X, y, v, A)]


def naive_loss(X, y, v, A, architecture):
    """The definition read literally: S X first, then v, patch by patch."""
    D = X.shape[1]
    S = torch.softmax(A, dim=1)
    x = D * torch.einsum("ij,njd->nid", S, X) @ v
    F = (x**architecture.p + architecture.nu * x).sum(dim=1)
    return -logsigmoid(y * F).mean()


ARCHITECTURES = st.builds(
    Architecture, p=st.sampled_from([3, 5]), nu=st.floats(0, 1), beta=st.floats(-1, 3)
)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), ARCHITECTURES)
def test_analytic_gradient_is_autograds(seed, architecture):
    X, y, v, A = problem(seed)
    found = model.gradients(X, y, v, A, architecture)
    wanted = model.gradients_by_autograd(X, y, v, A, architecture)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-13)
    assert (found.A.diagonal() == 0).all()
    torch.testing.assert_close(found.loss, naive_loss(X, y, v, A, architecture))


def test_gradient_is_the_finite_difference_of_the_naive_loss():
    X, y, v, A = problem(1)
    found = model.gradients(X, y, v, A, ARCHITECTURE)
    h = 1e-6
    for place in np.ndindex(*A.shape):
        if place[0] == place[1]:
            continue
        step = torch.zeros_like(A)
        step[place] = h
        up, down = (naive_loss(X, y, v, A + s * step, ARCHITECTURE) for s in (1, -1))
        assert found.A[place].item() == pytest.approx(((up - down) / (2 * h)).item(), abs=1e-8)
    for k in range(len(v)):
        step = torch.zeros_like(v)
        step[k] = h
        up, down = (naive_loss(X, y, v + s * step, A, ARCHITECTURE) for s in (1, -1))
        assert found.v[k].item() == pytest.approx(((up - down) / (2 * h)).item(), abs=1e-7)


def test_float32_is_near_float64():
    exact = model.gradients(*problem(3, n=200), ARCHITECTURE)
    single = model.gradients(*problem(3, n=200, dtype=torch.float32), ARCHITECTURE)
    for one, other in zip(single, exact, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-3, atol=1e-6)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1000))
def test_permuting_patches_permutes_the_gradient(seed):
    """Why a scattered partition is as good as a contiguous one: the model sees no order."""
    X, y, v, A = problem(seed)
    order = torch.from_numpy(np.random.default_rng(seed).permutation(SMALL.D))
    plain = model.gradients(X, y, v, A, ARCHITECTURE)
    moved = model.gradients(
        X[:, order].contiguous(), y, v, A[order][:, order].contiguous(), ARCHITECTURE
    )
    torch.testing.assert_close(moved.loss, plain.loss)
    torch.testing.assert_close(moved.v, plain.v)
    torch.testing.assert_close(moved.A, plain.A[order][:, order])


def test_F_is_odd_in_the_data():
    X, _, v, A = problem(5)
    S = torch.softmax(A, dim=1)
    F = model.outputs(X @ v, S, ARCHITECTURE)
    torch.testing.assert_close(model.outputs(-X @ v, S, ARCHITECTURE), -F)


def test_evaluation_in_law_is_evaluation_on_patches():
    """The law of <v, X_j>, and so accuracy and loss, with and without d-dimensional data."""
    setting = Distribution(D=12, C=3, d=5, q=0.4)
    rng = stream(0, "law")
    partition = data.draw_partition("scattered", setting, rng)
    feature = data.draw_feature(5, rng)
    v = (0.05 * feature + 0.05 * rng.standard_normal(5)).astype(np.float32)
    A = rng.standard_normal((12, 12)).astype(np.float32)
    X, y = data.sample(setting, partition, feature, 60_000, rng)
    v, A, feature = map(torch.from_numpy, (v, A, feature))
    sample = evaluation.draw(setting, partition, 60_000, rng)
    in_law = evaluation.evaluate(sample, v, A, feature, ARCHITECTURE)
    margin = torch.from_numpy(y) * model.outputs(
        torch.from_numpy(X) @ v, torch.softmax(A, dim=1), ARCHITECTURE
    )
    explicit = (margin > 0).float().mean().item()
    sd = np.sqrt(2 * explicit * (1 - explicit) / 60_000)
    assert abs(in_law.accuracy - explicit) < 4 * sd
    assert 0.6 < explicit < 0.95, "a setting in which the noise matters"
    loss = -logsigmoid(margin)
    assert abs(in_law.loss - loss.mean().item()) < 4 * loss.std().item() * np.sqrt(2 / 60_000)
    projected = evaluation.project(sample, v, feature)
    for moment in (1, 2, 4):
        ours = (projected**moment).mean().item()
        assert ours == pytest.approx(
            ((torch.from_numpy(X) @ v) ** moment).mean().item(), rel=0.05, abs=1e-3
        )


def test_evaluation_counts_ties_one_half_and_does_not_depend_on_chunks(monkeypatch, rng):
    partition = data.draw_partition("contiguous", SMALL, rng)
    sample = evaluation.draw(SMALL, partition, 100, rng)
    feature = torch.from_numpy(data.draw_feature(4, rng))
    nothing = evaluation.evaluate(sample, 0 * feature, torch.zeros(12, 12), feature, ARCHITECTURE)
    assert nothing.accuracy == 0.5
    assert nothing.loss == pytest.approx(np.log(2))
    whole = evaluation.evaluate(sample, feature / 10, torch.eye(12), feature, ARCHITECTURE)
    monkeypatch.setattr(evaluation, "CHUNK", 7)
    parts = evaluation.evaluate(sample, feature / 10, torch.eye(12), feature, ARCHITECTURE)
    assert parts.accuracy == whole.accuracy
    assert parts.loss == pytest.approx(whole.loss, rel=1e-6)
