"""Attention, its gradients, the projection and the tangent kernel against slow references."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_theory.kernels import model, ntk
from attention_theory.kernels import problem as problems
from attention_theory.kernels.descent import descend
from attention_theory.kernels.model import Weights
from attention_theory.kernels.settings import BACKTRACKING, FIXED, KERNELS, Sizes

SIZES = Sizes(N=3, n=4, d=2, sigma=0.5)


def stack(sizes=SIZES, H=2, D=5, seeds=2, projected=False):
    drawn = [problems.draw(sizes, H, D, 7, "test", seed) for seed in range(seeds)]
    return problems.stack([problems.project(one) for one in drawn] if projected else drawn)


def slow_outputs(kernel, problem):
    """F of one problem, entry by entry from the definition."""
    N, n, _ = problem.X.shape
    F = np.zeros((N, n))
    for i in range(N):
        for h in range(len(problem.O)):
            q, k = problem.X[i] @ problem.Q[h], problem.X[i] @ problem.K[h]
            v = problem.X[i] @ problem.V[h]
            for a in range(n):
                if kernel == "softmax":
                    weights = np.exp(q[a] @ k.T / np.sqrt(q.shape[1]))
                    weights /= weights.sum()
                else:
                    weights = np.exp(-((q[a] - k) ** 2).sum(1) / np.sqrt(q.shape[1]))
                F[i, a] += weights @ v * problem.O[h]
    return F


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(KERNELS), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3),
    st.integers(1, 6), st.integers(1, 3),
)  # fmt: skip
def test_outputs_loss_and_gradients(kernel, N, n, d, D, H):
    stacked = stack(Sizes(N, n, d, 0.6), H, D)
    data, weights = model.tensors(stacked)
    leaves = Weights(*(W.clone().requires_grad_() for W in weights))
    F = model.outputs(kernel, data.X, leaves)
    for run in range(2):
        one = problems.Problem(*(array[run] for array in stacked))
        np.testing.assert_allclose(F[run].detach(), slow_outputs(kernel, one), atol=1e-13)
    loss = ((F - data.Y) ** 2).mean((1, 2)) / 2
    wanted = torch.autograd.grad(loss.sum(), leaves)
    found = model.evaluate(kernel, data, weights)
    torch.testing.assert_close(found.loss, loss.detach())
    for ours, autograds in zip(found.gradient, wanted, strict=True):
        torch.testing.assert_close(ours, autograds, atol=1e-13, rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("method", [FIXED, BACKTRACKING])
@pytest.mark.parametrize("D", [5, 12, 40])
def test_the_projection_is_exact(kernel, method, D):
    """Losses and movements of full D and of N n coordinates, to rounding, all weights trained."""
    descents = []
    for projected in (False, True):
        data, weights = model.tensors(stack(D=D, projected=projected))
        rate = torch.full((2,), 0.5, dtype=torch.float64)
        found = descend(kernel, data, weights, "QKVO", method, rate, 40)
        moved = [(a - b).norm() for a, b in zip(found.state.weights, weights, strict=True)]
        descents.append((found.losses, torch.stack(moved)))
    (full, full_moved), (small, small_moved) = descents
    torch.testing.assert_close(full, small, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(full_moved, small_moved, rtol=1e-11, atol=1e-13)
    assert (full[-1] < full[0]).all()


def test_a_problem_is_that_of_its_key_and_norms_are_those_of_all_coordinates():
    one, two = (problems.draw(SIZES, 2, 40, 7, "test", 0) for _ in range(2))
    small = problems.project(one)
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert not np.array_equal(one.X, problems.draw(SIZES, 2, 40, 7, "test", 1).X)
    assert small.X.shape == (3, 4, 12) and small.Q.shape == (2, 12, 2)
    np.testing.assert_allclose(small.norms, [np.linalg.norm(W) for W in one[2:6]])
    large = problems.draw(replace(SIZES, N=40), 20, 50, 7, "test")
    spreads = [array.std() for array in large[:6]]
    wanted = [50**-0.5, 1, 0.5, 0.5, 1, 1000**-0.5]
    np.testing.assert_allclose(spreads, wanted, rtol=0.2)


@pytest.mark.parametrize("kernel", KERNELS)
def test_runs_of_a_batch_do_not_know_of_each_other(kernel):
    """A batch against a loop; runs end at different steps and are then left out."""
    data, weights = model.tensors(stack(seeds=5))
    rate = torch.ones(5, dtype=torch.float64)
    together = descend(kernel, data, weights, "QKVO", BACKTRACKING, rate, 120, 0.05)
    assert len(set(together.steps.tolist())) > 2 and (together.steps > 25).any()
    for run in range(5):
        own = slice(run, run + 1)
        alone = descend(
            kernel,
            model.Data(*(part[own] for part in data)),
            Weights(*(W[own] for W in weights)),
            "QKVO", BACKTRACKING, rate[own], 120, 0.05,
        )  # fmt: skip
        assert alone.steps[0] == together.steps[run]
        torch.testing.assert_close(alone.losses[:, 0], together.losses[:, run], rtol=1e-9, atol=0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_tangent_kernel_and_hessian(kernel):
    """The change of outputs along a step; the change of the gradient along a direction."""
    data, weights = model.tensors(stack())
    K = ntk.tangent_kernel(kernel, data.X, weights)
    gradient = model.evaluate(kernel, data, weights).gradient
    h = 1e-6
    F, moved = (
        model.outputs(kernel, data.X, Weights(*(
            W - sign * h * g for W, g in zip(weights, gradient, strict=True)
        )))
        for sign in (-1, 1)
    )  # fmt: skip
    residual = (model.outputs(kernel, data.X, weights) - data.Y).flatten(1)
    slope = ((moved - F) / (2 * h)).flatten(1)
    torch.testing.assert_close(slope, -(K @ residual[..., None])[..., 0], rtol=1e-6, atol=1e-9)
    H = ntk.hessian(kernel, data, weights)
    torch.testing.assert_close(H, H.mT, rtol=1e-9, atol=1e-12)
    direction = torch.from_numpy(np.random.default_rng(0).standard_normal(H.shape[:2]))
    half = direction.shape[1] // 2
    parts = [direction[:, :half], direction[:, half:]]
    ends = []
    for sign in (-1, 1):
        Q, K = (W + sign * h * part.reshape(W.shape)
                for W, part in zip(weights[:2], parts, strict=True))  # fmt: skip
        found = model.evaluate(kernel, data, weights._replace(Q=Q, K=K)).gradient[:2]
        ends.append(torch.cat([part.flatten(1) for part in found], dim=1))
    along = (H @ direction[..., None])[..., 0]
    torch.testing.assert_close((ends[1] - ends[0]) / (2 * h), along, rtol=1e-5, atol=1e-8)
