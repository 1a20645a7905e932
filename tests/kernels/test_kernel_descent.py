"""Steps, the closed form for W_V, and the lowest loss that scores can reach."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_theory.errors import BadInput
from attention_theory.kernels import model, sweep, targets, values
from attention_theory.kernels import problem as problems
from attention_theory.kernels.descent import descend
from attention_theory.kernels.settings import BACKTRACKING, FIXED, KERNELS, Case, Sizes

SIZES = Sizes(N=3, n=4, d=4, sigma=0.5)


def tensors(H=2, D=8, seeds=3, sizes=SIZES):
    drawn = [problems.draw(sizes, H, D, 3, "test", seed) for seed in range(seeds)]
    return model.tensors(problems.stack([problems.project(one) for one in drawn]))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("H", "D"), [(1, 5), (2, 5), (1, 20), (3, 20)])
def test_the_closed_form_is_gradient_descent_on_W_V(kernel, H, D):
    data, weights = tensors(H, D)
    linear = values.linearise(kernel, data, weights)
    rate = 1 / linear.largest
    found = descend(kernel, data, weights, "V", FIXED, rate, 300)
    torch.testing.assert_close(
        linear.losses(rate, torch.arange(301)), found.losses, rtol=1e-10, atol=1e-14
    )
    assert linear.rank.tolist() == [min(12, H * D)] * 3
    # Where it ends: the part of Y outside the features' range, by least squares.
    B = values.features(kernel, data.X, weights)
    left = [np.linalg.lstsq(b, y, rcond=None) for b, y in
            zip(B.numpy(), data.Y.flatten(1).numpy(), strict=True)]  # fmt: skip
    rest = [((b @ fit[0] - y) ** 2).mean() / 2 for b, fit, y in
            zip(B.numpy(), left, data.Y.flatten(1).numpy(), strict=True)]  # fmt: skip
    np.testing.assert_allclose(linear.limit, rest, atol=1e-9)
    assert ((linear.limit == 0) == (H * D >= 12)).all()
    assert ((linear.condition > 0) == (H * D >= 12)).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_late_losses_fall_at_the_rate_of_the_smallest_eigenvalue(kernel):
    data, weights = tensors(H=4, D=40)
    linear = values.linearise(kernel, data, weights)
    late = torch.tensor([10**8, 2 * 10**8]) // 10 ** (8 - 6)
    losses = linear.losses(1 / linear.largest, late)
    rate = -(losses[1] / losses[0]).log() / (late[1] - late[0])
    seen = losses[1] > 1e-300
    torch.testing.assert_close(rate[seen], (-2 * torch.log1p(-linear.condition))[seen], rtol=1e-3,
                               atol=1e-12)  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS)
def test_backtracking_never_raises_the_loss_and_only_moves_what_is_trained(kernel):
    data, weights = tensors()
    rate = torch.full((3,), 1e6, dtype=torch.float64)
    found = descend(kernel, data, weights, "QK", BACKTRACKING, rate, 200)
    assert (found.losses[1:] <= found.losses[:-1]).all()
    assert (found.losses[-1] < found.losses[0]).all()
    assert found.state.weights.V is not None
    assert torch.equal(found.state.weights.V, weights.V)
    assert torch.equal(found.state.weights.O, weights.O)
    last = model.evaluate(kernel, data, found.state.weights)
    torch.testing.assert_close(last.loss, found.losses[-1])
    torch.testing.assert_close(last.gradient.Q, found.state.gradient.Q)


def test_a_run_ends_at_its_goal():
    data, weights = tensors()
    rate = torch.ones(3, dtype=torch.float64)
    found = descend("softmax", data, weights, "QKVO", BACKTRACKING, rate, 200, 0.3)
    for run, steps in enumerate(found.steps.tolist()):
        losses = found.losses[:, run] / found.losses[0, run]
        assert losses[steps] <= 0.3 < losses[steps - 1]
        assert (losses[steps:] == losses[steps]).all()


def test_fixed_steps_that_diverge_are_named():
    data, weights = tensors()
    rate = torch.full((3,), 1e4, dtype=torch.float64)
    with pytest.raises(BadInput, match=r"rate: a loss is no number at step \d+; it must be lower"):
        descend("softmax", data, weights, "QKVO", FIXED, rate, 500)


def test_one_token_leaves_softmax_without_gradient():
    data, weights = tensors(sizes=Sizes(N=4, n=1, d=4, sigma=0.5))
    found = model.evaluate("softmax", data, weights)
    assert (found.gradient.Q == 0).all() and (found.gradient.K == 0).all()
    from attention_theory.kernels.ntk import hessian

    assert (hessian("softmax", data, weights) == 0).all()
    assert (model.evaluate("gaussian", data, weights).gradient.Q != 0).any()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 2), st.integers(1, 3))
def test_reach_against_brute_force(seed, H, n):
    """Every mixture on a grid of simplices (softmax), every score on a grid (Gaussian)."""
    v = np.random.default_rng(seed).standard_normal((H, n))
    grid = [np.array(w) / 4 for w in itertools.product(range(5), repeat=n)]
    for kernel in KERNELS:
        weights = [w for w in grid if kernel == "gaussian" or w.sum() == 1]
        outputs = [
            sum(w @ v[h] for h, w in enumerate(choice))
            for choice in itertools.product(weights, repeat=H)
        ]
        low, high = targets.reach(kernel, torch.from_numpy(v)[None, :, None])
        assert low.item() == pytest.approx(min(outputs))
        assert high.item() == pytest.approx(max(outputs))


def pose(case, seeds=6, D=16):
    own = [targets.pose(SIZES, D, case, 3, seed) for seed in range(seeds)]
    return problems.stack(own)


def test_the_floor_is_the_softmax_infimum():
    """W_Q and W_K that reach it: a sample's X W_K = I, its X W_Q = the log of the mixtures."""
    stacked = pose(Case(target="random", H=2, n=4, eps=1.0, size=0.7))
    data, weights = model.tensors(stacked)
    v = (model.project(data.X, weights)[2] * weights.O[..., None, None]).numpy()  # (R, H, N, n)
    low, high = v.min(-1).sum(1)[..., None], v.max(-1).sum(1)[..., None]
    t = np.clip((stacked.Y - low) / (high - low), 0, 1)[:, None]  # of the way, in every head
    logits = np.full((*v.shape, 4), -80.0)
    for extreme, weight in ((v.argmin(-1), 1 - t), (v.argmax(-1), t)):
        place = np.broadcast_to(extreme[..., None, None], (*v.shape, 1))
        np.put_along_axis(logits, place, np.log(weight + 1e-30)[..., None] + 0 * place, axis=-1)
    tokens = stacked.X.reshape(6, 1, 12, -1)
    keys = np.broadcast_to(np.eye(4), logits.shape).reshape(6, 2, 12, 4)
    queries = 2 * logits.reshape(6, 2, 12, 4)  # over sqrt d = 2
    Q, K = np.linalg.solve(tokens[..., :12], queries), np.linalg.solve(tokens[..., :12], keys)
    built = weights._replace(Q=torch.from_numpy(Q), K=torch.from_numpy(K))
    floor = targets.floor("softmax", data, weights)
    torch.testing.assert_close(
        model.evaluate("softmax", data, built).loss, floor, rtol=1e-8, atol=1e-12
    )
    assert (floor > 0).any()


@pytest.mark.parametrize("kernel", KERNELS)
def test_no_scores_fall_below_the_floor(kernel):
    """A random search over scores of every scale; the Gaussian's floor is the lower one."""
    stacked = pose(Case(target="random", H=2, n=4, eps=1.0, size=0.7))
    floor = targets.floor(kernel, *model.tensors(stacked))
    rng = np.random.default_rng(0)
    for scale in np.geomspace(0.1, 30, 40):
        Q, K = scale * rng.standard_normal((2, *stacked.Q.shape))
        found = model.evaluate(kernel, *model.tensors(stacked._replace(Q=Q, K=K)))
        assert (found.loss >= floor - 1e-14).all()
    assert (floor <= targets.floor("softmax", *model.tensors(stacked))).all()


@pytest.mark.parametrize("eps", [0.0, 0.05, 1.0])
def test_values_and_targets_are_those_of_the_case(eps):
    common = Case(target="common", H=2, n=4, eps=eps, size=-0.6)
    one, drawn = (targets.pose(SIZES, 16, case, 3, 0) for case in
                  (common, Case("random", 2, 4, 1.0, 0.3)))  # fmt: skip
    v, free = (p.X @ p.V.T * p.O for p in (one, drawn))
    mean = free.mean(1, keepdims=True)
    np.testing.assert_allclose(v, mean + eps * (free - mean), atol=1e-12)
    np.testing.assert_allclose(one.Y, -0.6 * np.broadcast_to(mean.sum(2), one.Y.shape), atol=1e-12)
    assert np.array_equal(one.Q, drawn.Q)
    wide = [targets.pose(SIZES, 16, Case("random", 2, 4, 1.0, 0.3), 3, s).Y for s in range(40)]
    assert np.std(wide) == pytest.approx(0.3, rel=0.2)


@pytest.mark.parametrize("kernel", KERNELS)
def test_own_targets_can_be_fitted(kernel):
    stacked = pose(Case("own", 2, 4, 1.0, 1.0))
    teacher = problems.stack([
        problems.project(problems.draw(SIZES, 2, 16, 3, "teacher", seed)) for seed in range(6)
    ])  # fmt: skip
    own = np.array([True] * 5 + [False])
    data, weights = targets.fit_own(kernel, stacked, teacher, own)
    _, other = model.tensors(teacher)
    taught = weights._replace(Q=other.Q, K=other.K)
    losses = model.evaluate(kernel, data, taught).loss
    assert (losses[:5] == 0).all() and losses[5] > 0
    assert (model.evaluate(kernel, data, weights).loss > 0).all()
    assert (targets.floor(kernel, data, weights)[:5] == 0).all()


def test_late_rate_of_a_known_line():
    losses = np.exp(-0.03 * np.arange(101))
    assert sweep.late_rate(losses) == pytest.approx(0.03)
    assert np.isnan(sweep.late_rate(losses[:3]))
