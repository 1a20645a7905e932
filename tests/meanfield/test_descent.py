"""The Euler flow: explicit copies train alike, decay alone shrinks, gaps have their rates."""

from math import inf

import numpy as np
import pytest

from attention_theory.errors import BadInput
from attention_theory.meanfield import descent, drawing
from attention_theory.meanfield.descent import Comparison, descend, gap, risk
from attention_theory.meanfield.horizon import parameter_gap
from attention_theory.meanfield.model import Flow, Weights
from attention_theory.meanfield.risk import norm
from attention_theory.meanfield.settings import Descent, Problem

PROBLEM = Problem(d_x=2, n=4, tasks=6, fresh=8, mean=0.3, spread=0.5, neurons=1.25)
DESCENT = Descent(d_tau=0.2, decay=0.01, steps=5)


def train(tasks, particles, weights, settings=DESCENT):
    flow = Flow(tasks, *particles.V.shape[1:3])
    return list(descend(flow, particles, weights, settings))


def test_explicit_copies_train_as_their_atoms():
    """A transformer of width 7, each particle its own parameters, against shares of 3 atoms."""
    tasks = drawing.tasks(1, 2, PROBLEM, "train")
    atoms, weights = drawing.atoms(1, 2, PROBLEM, 3, 2), drawing.weights(1, 2, 2, 3, 7, 7, True)
    weights = weights._replace(mlp=weights.attention)  # copies of whole particles
    copies = np.rint(7 * weights.mlp[:, 0]).astype(int)

    def copied(array):
        pairs = zip(array, copies, strict=True)
        return np.stack([np.repeat(own, count, axis=1) for own, count in pairs])

    equal = Weights(*[np.full((2, 2, 7), 1 / 7)] * 2)
    few, many = train(tasks, atoms, weights), train(tasks, atoms.map(copied), equal)
    for one, other in zip(few, many, strict=True):
        np.testing.assert_allclose(one.predictions, other.predictions, rtol=0, atol=1e-12)
    for ours, theirs in zip(few[-1].particles, many[-1].particles, strict=True):
        np.testing.assert_allclose(copied(ours), theirs, rtol=0, atol=1e-12)


def test_a_step_is_the_stated_one():
    tasks = drawing.tasks(1, 1, PROBLEM, "train")
    particles, weights = (
        drawing.particles(1, 1, PROBLEM, 2, 3),
        drawing.weights(1, 1, 2, 3, inf, inf),
    )
    first, second = train(tasks, particles, weights)[:2]
    _, gradients = Flow(tasks, 2, 3).gradients(particles, weights)
    assert first.particles is particles and [first.step, second.step] == [0, 1]
    for theta, g, moved in zip(particles, gradients, second.particles, strict=True):
        np.testing.assert_allclose(moved, theta - 0.2 * (g + 0.01 * theta), rtol=1e-12)


def test_a_small_step_lowers_the_risk_by_the_squared_gradient():
    """dR / d tau = -(1 / L) sum_k w_k |g_k|^2: the factor L M and the shares belong together."""
    tasks = drawing.tasks(1, 1, PROBLEM, "train")
    particles, weights = drawing.atoms(1, 1, PROBLEM, 4, 3), drawing.weights(1, 1, 3, 4, 9, 9)
    found = train(tasks, particles, weights, Descent(1e-5, 0, 1))
    before, after = (risk(state.predictions, tasks.target)[0] for state in found)
    _, g = Flow(tasks, 3, 4).gradients(particles, weights)
    squared = g.map(lambda array: (array**2).reshape(*array.shape[:3], -1).sum(axis=3))
    attention = ((squared.V + squared.W) * weights.attention).sum()
    mlp = ((squared.W1 + squared.W2) * weights.mlp).sum()
    assert (before - after) / 1e-5 == pytest.approx((attention + mlp) / 3, rel=1e-3)


def test_without_prompts_to_learn_the_decay_shrinks():
    tasks = drawing.tasks(1, 1, PROBLEM, "train")
    tasks = tasks._replace(Z=0 * tasks.Z, target=0 * tasks.target)
    particles = drawing.particles(1, 1, PROBLEM, 1, 3)
    last = train(tasks, particles, drawing.weights(1, 1, 1, 3, inf, inf))[-1]
    np.testing.assert_allclose(norm(last.particles), norm(particles) * (1 - 0.2 * 0.01) ** 5)


def test_divergence_names_the_step():
    wild = Problem(d_x=2, n=4, tasks=6, fresh=8, mean=30, spread=50, neurons=1)
    tasks, particles = drawing.tasks(1, 1, wild, "train"), drawing.particles(1, 1, wild, 4, 3)
    with pytest.raises(BadInput, match="step [0-9]+: the risk is not finite; lower d_tau"):
        train(tasks, particles, drawing.weights(1, 1, 4, 3, inf, inf), Descent(10.0, 0.0, 50))


def test_gaps_fall_at_their_rates():
    """1 / L at M = infinity; M^-1/2, and (L M)^-1/2 only where each layer draws alone."""
    comparison = Comparison(3, 40, PROBLEM, 6, Descent(0.2, 0.01, 1))
    start = (0.0, "fresh")
    found = {L: comparison.run(L, inf, inf)[start] for L in (4, 8, 16, 32, 64)}
    limit = 2 * found[64] - found[32]
    ratio = np.sqrt((gap(found[8], limit) ** 2).mean() / (gap(found[16], limit) ** 2).mean())
    assert ratio == pytest.approx(2, abs=0.15)

    def square(L, M, shared):
        return (gap(comparison.run(L, M, M, shared)[start], found[L]) ** 2).mean()

    assert square(4, 8, False) / square(4, 128, False) == pytest.approx(16, rel=0.5)
    assert square(4, 32, False) / square(16, 32, False) == pytest.approx(4, rel=0.5)
    assert square(4, 32, True) / square(16, 32, True) == pytest.approx(1, rel=0.25)


def test_what_is_measured(rng):
    x, y = rng.standard_normal((2, 3, 5))
    np.testing.assert_allclose(
        descent.risk(x, y), [((a - b) ** 2).mean() / 2 for a, b in zip(x, y, strict=True)]
    )
    np.testing.assert_allclose(descent.gap(x, y), np.sqrt(2 * descent.risk(x, y)))


def test_the_gap_of_parameters_compares_equal_depths():
    """Particles that are moved by delta where they have copies, at two of four depths."""
    coarse = drawing.particles(1, 2, PROBLEM, 2, 3)
    fine = coarse.map(lambda array: np.repeat(array, 2, axis=1))
    weights = drawing.weights(1, 2, 2, 3, inf, inf)
    assert (parameter_gap(coarse, fine, weights) == 0).all()
    fine = fine.map(lambda array: array + np.arange(4).reshape(1, 4, *[1] * (array.ndim - 2)))
    entries = 2 * 9 + 2 * 3  # depths 0 and 2 of four are those of the two layers
    np.testing.assert_allclose(parameter_gap(coarse, fine, weights), np.sqrt(entries * (0 + 4) / 2))


def test_norm_is_that_of_a_particle():
    particles = drawing.particles(1, 3, PROBLEM, 2, 4).map(lambda array: 0 * array + 2)
    np.testing.assert_allclose(norm(particles), np.sqrt(4 * (9 + 9 + 3 + 3)))
