"""Prompts, particles and copies: their laws, and what does not depend on what."""

from math import inf

import numpy as np
import pytest

from attention_theory.meanfield import drawing
from attention_theory.meanfield.settings import Problem

PROBLEM = Problem(d_x=2, n=5, tasks=40, fresh=30, mean=0.3, spread=0.6, neurons=2.0)


@pytest.mark.parametrize("d_x", [1, 2, 3])
def test_a_prompt_is_a_regression_that_its_other_columns_decide(d_x):
    problem = Problem(d_x, 5, 40, 30, 0.3, 0.6, 1.0)
    tasks = drawing.tasks(1, 2, problem, "fresh")
    assert tasks.Z.shape == (2, d_x + 1, 5, 30) and (tasks.Z[:, -1, -1] == 0).all()
    for prompt, target in zip(np.moveaxis(tasks.Z[1], 2, 0), tasks.target[1], strict=True):
        w = np.linalg.lstsq(prompt[:-1, :-1].T, prompt[-1, :-1], rcond=None)[0]
        assert w @ w == pytest.approx(1) and w @ prompt[:-1, -1] == pytest.approx(target)
    assert np.linalg.norm(tasks.Z[:, :-1], axis=1).max() <= drawing.RADIUS


def test_inputs_have_unit_variance_in_two_dimensions():
    problem = Problem(2, 5, 20000, 1, 0.3, 0.6, 1.0)
    x = drawing.tasks(1, 1, problem, "train").Z[0, :-1]
    np.testing.assert_allclose(x.var(axis=(1, 2)), 1, atol=0.02)


def test_a_seed_does_not_depend_on_how_many_there_are():
    for kind in ("train", "fresh"):
        one, more = (drawing.tasks(1, seeds, PROBLEM, kind).Z for seeds in (1, 3))
        assert (one[0] == more[0]).all() and (more[1] != more[0]).any()
    assert (drawing.tasks(1, 1, PROBLEM, "train").Z[..., :30] != one).any()
    one, more = (drawing.particles(1, seeds, PROBLEM, 2, 3) for seeds in (1, 3))
    assert all((a[0] == b[0]).all() for a, b in zip(one, more, strict=True))
    assert (drawing.particles(2, 1, PROBLEM, 2, 3).V != one.V).any()


def test_particles_spread_about_a_mean_that_every_size_shares():
    particles = drawing.particles(1, 2, PROBLEM, 4, 3000)
    other = drawing.particles(1, 2, PROBLEM, 2, 5000)
    for name, scale in (("V", 1), ("W", 1), ("W1", 2), ("W2", 2)):
        one, two = (getattr(found, name) for found in (particles, other))
        np.testing.assert_allclose(one.mean((1, 2)), two.mean((1, 2)), atol=0.05 * scale)
        np.testing.assert_allclose(one.std(axis=(1, 2)), 0.6 * scale, rtol=0.05)
        assert abs(one.mean((1, 2))).max() > 0.1 * scale


def test_atoms_are_the_same_in_every_layer_and_at_every_depth():
    one, two = (drawing.atoms(1, 2, PROBLEM, 4, L) for L in (1, 3))
    for a, b in zip(one, two, strict=True):
        assert (b == a[:, :1]).all() and b.shape[1] == 3


def test_shares_are_those_of_M_copies():
    weights = drawing.weights(1, 300, 2, 4, 6, 10)
    for shares, M in zip(weights, (6, 10), strict=True):
        copies = shares * M
        np.testing.assert_allclose(copies, np.rint(copies), atol=1e-12)
        np.testing.assert_allclose(shares.sum(axis=2), 1)
        np.testing.assert_allclose(copies.var(axis=(0, 1)), M * 3 / 16, rtol=0.2)
    infinite = drawing.weights(1, 2, 2, 4, inf, 10)
    assert (infinite.attention == 1 / 4).all()
    assert (infinite.mlp == weights.mlp[:2]).all(), "one width's draws serve with any other"


def test_layers_draw_alone_or_share():
    alone, shared = (drawing.weights(1, 50, 3, 4, 9, 9, shared) for shared in (False, True))
    assert (shared.mlp == shared.mlp[:, :1]).all() and (alone.mlp[:, 0] != alone.mlp[:, 1]).any()
    assert (shared.mlp != shared.attention).any()
    deeper = drawing.weights(1, 50, 5, 4, 9, 9, True)
    assert (deeper.mlp[:, :3] == shared.mlp).all(), "shared draws are the same at every depth"
    correlation = np.corrcoef(alone.mlp[:, 0].ravel(), alone.mlp[:, 1].ravel())[0, 1]
    assert abs(correlation) < 0.3
