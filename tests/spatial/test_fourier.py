"""The quadrature against enumeration, at every target, at the edges and at D = 1e6."""

import itertools
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_theory.errors import BadInput
from attention_theory.spatial import fourier, tilts
from attention_theory.spatial.fourier import Fourier
from attention_theory.spatial.histograms import (
    Enumeration,
    Histograms,
    MonteCarlo,
    loss_and_sigmoid,
    number_of_states,
)
from attention_theory.spatial.population_settings import Point, Sets
from attention_theory.spatial.reduced import Types, per_entry
from attention_theory.spatial.settings import Architecture
from attention_theory.streams import stream

SIZES = [
    (C, L)
    for C, L in itertools.product(range(1, 6), range(2, 13))
    if number_of_states(Sets(D=C * L, C=C, q=0.5)) <= 5000
]
LOGITS = st.just(0.0) | st.floats(-5, 5) | st.floats(-60, 60)
QS = st.sampled_from([1e-6, 0.01, 0.99, 1 - 1e-6]) | st.floats(0.001, 0.999)


@st.composite
def problems(draw):
    C, L = draw(st.sampled_from(SIZES))
    sets = Sets(D=C * L, C=C, q=draw(QS))
    architecture = Architecture(
        p=draw(st.sampled_from([3, 5])),
        nu=draw(st.sampled_from([0.0, 0.1, 1.0]) | st.floats(0.001, 2)),
        beta=draw(LOGITS),
    )
    size = draw(st.sampled_from([0.0, 1.0, 1.0, -1.0])) * 10 ** draw(st.floats(-3, 1))
    return sets, architecture, Point(size / sets.D, draw(LOGITS), draw(LOGITS))


def absolute_terms(enumeration, point):
    """E[1 + |F|] and E|dF|, |.| of every set's term apart; the last two per entry."""
    absolute = enumeration.absolute(point) @ enumeration.weights
    return np.array(per_entry(enumeration.sets, absolute + [1, 0, 0, 0]))


def largest_F(sets, architecture, point):
    """The largest |F| at any Z, of sets of any types: also of those that do not sum to Z."""
    patches = sets.D - sets.C
    j = np.arange(-patches, patches + 1)
    window = tilts.look(sets, architecture, Types(sets), point, j)
    of_sets = np.abs(window.sets[:, :, 0]).max(axis=1)
    return (np.abs(window.own[:, 0]) + sets.others * of_sets).max()


@settings(deadline=None, max_examples=250)
@given(problems())
def test_quadrature_is_enumeration(problem):
    sets, architecture, point = problem
    enumeration = Enumeration(sets, architecture)
    exactly = enumeration.gradient(point)
    try:
        found = Fourier(sets, architecture, 1e-13).gradient(point)
    except BadInput as error:
        assert "F ranges over" in str(error)
        assert largest_F(sets, architecture, point) > fourier.REACH - 100
        return
    wrong = np.abs(np.subtract(found[:4], exactly[:4]))
    scales, sigmoid_scales = np.array(found.scales), np.array(exactly.scales)
    np.testing.assert_allclose(scales, absolute_terms(enumeration, point), rtol=1e-9)
    assert (wrong <= 1e-12 * scales).all()
    # Relative to the terms of E[sigmoid(-F) dF]: but where they are less than 1e-3 of the |dF|,
    # that is, where the model is all but always right, digits are lost in their proportion.
    assert (wrong <= 1e-11 * np.maximum(sigmoid_scales, 1e-3 * scales)).all()
    assert (wrong <= np.add(found.errors, exactly.errors)).all(), "the errors are bounds"
    # With two sets a derivative may live on rare patterns only, and its bound on all.
    assert sets.others == 1 or (np.array(found.errors) <= 1e-11 * scales).all()


EDGES = {
    "middle": (Sets(D=20, C=5, q=0.4), Architecture(p=3, nu=0.1, beta=3.0), Point(0.05, 1.0, -0.5)),
    "far": (Sets(D=20, C=5, q=0.4), Architecture(p=3, nu=0.1, beta=3.0), Point(0.3, 1.0, -0.5)),
    "alpha 0": (Sets(D=12, C=3, q=0.4), Architecture(p=3, nu=0.1, beta=1.0), Point(0.0, 1.0, 0.0)),
    "F is 0": (Sets(D=12, C=3, q=0.4), Architecture(p=3, nu=0.0, beta=1.0), Point(0.0, 1.0, 0.0)),
    "below": (Sets(D=12, C=3, q=0.4), Architecture(p=5, nu=0.2, beta=1.0), Point(-0.1, 1.0, 0.0)),
    "two sets": (Sets(D=4, C=2, q=0.9), Architecture(p=3, nu=0.1, beta=1.0), Point(0.3, 1.0, 0.2)),
    "C 1": (Sets(D=40, C=1, q=0.3), Architecture(p=3, nu=0.1, beta=1.0), Point(0.02, 7.0, 0.2)),
    "q low": (Sets(D=24, C=3, q=1e-6), Architecture(p=3, nu=0.1, beta=1.0), Point(0.1, 1.0, 0.2)),
    "q high": (
        Sets(D=24, C=3, q=1 - 1e-6),
        Architecture(p=3, nu=0.1, beta=1.0),
        Point(0.05, 1.0, 0.2),
    ),
    "gamma high": (
        Sets(D=12, C=3, q=0.4),
        Architecture(p=3, nu=0.1, beta=2.0),
        Point(0.1, 800.0, -800.0),
    ),
    "power 9": (Sets(D=12, C=3, q=0.2), Architecture(p=9, nu=0.1, beta=1.0), Point(0.1, 1.0, 0.2)),
}


def test_a_derivative_that_lives_on_rare_patterns_keeps_its_digits():
    """Two patches, rarely zero: d_rho is made of the patterns with a zero alone."""
    sets, architecture = Sets(D=2, C=1, q=1 - 1e-6), Architecture(p=3, nu=0.0, beta=1.0)
    point = Point(0.5, 0.0, 1.0)
    exactly = Enumeration(sets, architecture).gradient(point)
    found = Fourier(sets, architecture, 1e-13).gradient(point)
    assert 0 < found.scales[3] < 1e-6
    assert abs(found.d_rho - exactly.d_rho) < 1e-13 * found.scales[3]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("edge", EDGES)
def test_every_target_is_met_and_its_error_a_bound(edge):
    sets, architecture, point = EDGES[edge]
    exactly = Enumeration(sets, architecture).gradient(point)
    costs = []
    for target in (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-13):
        quadrature = Fourier(sets, architecture, target)
        found = quadrature.gradient(point)
        costs.append(quadrature.evaluations)
        wrong = np.abs(np.subtract(found[:4], exactly[:4]))
        assert (wrong <= target * np.array(found.scales)).all()
        assert (wrong <= np.add(found.errors, exactly.errors)).all()
        rounding = 1e-12 if target < 1e-12 else 0  # there the errors are mostly roundings
        assert (np.array(found.errors) <= (target + rounding) * np.array(found.scales)).all()
    assert costs == sorted(costs), "a stricter target costs more"


def test_what_cannot_be_resolved_is_refused_with_the_range():
    sets, architecture = Sets(D=20, C=5, q=0.4), Architecture(p=3, nu=0.1, beta=3.0)
    quadrature = Fourier(sets, architecture)
    with pytest.raises(BadInput, match=r"F ranges over \+-.*beyond \+-5000; lower \|alpha\|"):
        quadrature.gradient(Point(5.0, 0.0, 0.0))
    with pytest.raises(BadInput, match="the range of F is infinite"):
        quadrature.gradient(Point(1e80, 0.0, 0.0))
    # A range that large matters only if it has a probability.
    rare = Sets(D=20, C=5, q=1e-9)
    point = Point(0.35, 0.0, 0.0)
    largest = np.abs(Enumeration(rare, architecture).evaluate(point)[0]).max()
    assert largest > fourier.REACH
    found = Fourier(rare, architecture).gradient(point)
    wanted = Enumeration(rare, architecture).gradient(point)
    assert (np.abs(np.subtract(found[:4], wanted[:4])) <= 1e-10 * np.array(found.scales)).all()


def test_the_window_grows_until_its_ends_do_not_matter(monkeypatch):
    sets, architecture, point = EDGES["middle"]
    wanted = Fourier(sets, architecture).gradient(point)
    monkeypatch.setattr(fourier, "UNLIKELY", 0.1)
    narrow = Fourier(sets, architecture)
    assert narrow.reach < 5
    found = narrow.gradient(point)
    assert (np.abs(np.subtract(found[:4], wanted[:4])) <= 1e-10 * np.array(found.scales)).all()


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(SIZES), QS)
def test_tilted_laws_are_the_laws_of_Z(size, q):
    """mass P~(Z) is P(Z), by convolution, and mass bounds it, at every Z."""
    C, L = size
    sets, step = Sets(D=C * L, C=C, q=q), [q / 2, 1 - q, q / 2]
    patches = C * (L - 1)
    law = np.ones(1)
    for _ in range(patches):
        law = np.convolve(law, step)
    j = np.arange(-patches, patches + 1)
    found = tilts.tilts(sets, Types(sets), j)
    circle = fourier.Circle(C, Types(sets), 2 * patches + C + 1, j)
    joint = circle.joint(found.law, 0 * found.law, L - 1, np.arange(len(j))).real
    np.testing.assert_allclose(np.exp(found.log_mass) * joint.sum(axis=1), law, rtol=1e-9)
    assert (law <= np.exp(found.log_mass) * (1 + 1e-12)).all()


def scaled(D, alpha_D=1.0, gamma=0.0, rho=0.0):
    """The process at fixed q D = 20 and D alpha: what it tends to does not depend on D."""
    sets = Sets(D=D, C=5, q=20 / D)
    return sets, Architecture(p=3, nu=0.1, beta=2.0), Point(alpha_D / D, gamma, rho)


def few_collisions(sets):
    """Counts of sets by type, and probabilities, where few sets hold two non-zero patches or more.

    With q D fixed, all but 1e-9 of the probability at D = 1e6: at most two sets with two non-zero
    patches, or one with three. No Fourier, and no power of m = 2e5.
    """
    types, m = Types(sets), sets.others
    full = types.a + types.b
    (none,) = np.flatnonzero(full == 0)
    pairs, triples = np.flatnonzero(full == 2), np.flatnonzero(full == 3)
    crowds = [(), *((k,) for k in [*pairs, *triples])]
    crowds += itertools.combinations_with_replacement(pairs, 2)
    singles = np.array(list(itertools.product(range(45), repeat=2)))
    blocks = []
    for crowd in crowds:
        block = np.zeros((len(singles), len(full)), dtype=int)
        block[:, (full == 1) & (types.a == 1)] = singles[:, :1]
        block[:, (full == 1) & (types.b == 1)] = singles[:, 1:]
        for k in crowd:
            block[:, k] += 1
        blocks.append(block)
    counts = np.concatenate(blocks)
    holding = counts.sum(axis=1)
    counts[:, none] = m - holding
    log_factorial = np.append(0, np.cumsum(np.log(np.arange(1, 100))))
    falling = np.append(0, np.cumsum(np.log(m - np.arange(100.0))))  # of m! / (m - n)!
    rest = np.delete(counts, none, axis=1)
    log_p = np.delete(types.log_probability, none)
    log_weights = falling[holding] - log_factorial[rest].sum(axis=1) + rest @ log_p
    log_weights += (m - holding) * sets.C * np.log1p(-sets.q)
    return counts, np.exp(log_weights)


@pytest.mark.parametrize("where", [(1.0, 0.0, 0.0), (4.0, 1.5, -0.2), (-2.0, 0.5, 0.1)])
def test_a_million_patches_against_conditioning_on_collisions(where):
    sets, architecture, point = scaled(10**6, *where)
    counts, weights = few_collisions(sets)
    missing = 1 - weights.sum()
    assert -1e-12 < missing < 1e-9
    few = Histograms(sets, architecture, counts, weights)
    values = few.evaluate(point)
    values[0], sigmoid = loss_and_sigmoid(values[0])
    values[1:] *= -sigmoid
    wanted = np.array(per_entry(sets, values @ few.weights))
    found = Fourier(sets, architecture, 1e-12).gradient(point)
    scales = np.array(found.scales)
    # The patterns left out are no more than 1e3 times as heavy as the others.
    assert (np.abs(np.subtract(found[:4], wanted)) <= (1e3 * max(missing, 1e-14)) * scales).all()
    for target in (1e-6, 1e-8):
        coarse = Fourier(sets, architecture, target).gradient(point)
        assert (np.abs(np.subtract(coarse[:4], found[:4])) <= target * scales).all()


def test_the_cost_does_not_grow_with_D():
    @cache
    def cost(D):
        quadrature = Fourier(*scaled(D)[:2], 1e-8)
        found = quadrature.gradient(scaled(D)[2])
        assert (np.array(found.errors) <= 1e-8 * np.array(found.scales)).all()
        return quadrature.evaluations

    assert cost(400) < 2 * cost(50)
    assert cost(10**6) < 1.2 * cost(400)


def test_a_common_sample_agrees_where_enumeration_is_hopeless():
    sets, architecture, point = scaled(400, 4.0, 1.5, -0.2)
    found = Fourier(sets, architecture, 1e-8).gradient(point)
    sample = MonteCarlo(sets, architecture, 100_000, stream(1, "tests.fourier"))
    sampled = sample.gradient(point)
    standardised = np.subtract(sampled[:4], found[:4]) / sampled.errors
    assert (np.abs(standardised) < 4).all()
    assert (np.array(sampled.errors) < 0.1 * np.abs(sampled[:4])).all()
