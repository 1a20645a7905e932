"""Draws of experiment 4: halves of the classes, batches and samples, all keyed."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_theory.images import halves

LABELS = np.random.default_rng(0).integers(0, 9, 400)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 30), st.sampled_from(halves.ROLES), st.integers(0, 5))
def test_halves_are_disjoint_equal_and_keyed(base_seed, classes, role, number):
    one = halves.draw(base_seed, "x", role, number, classes)
    assert len(one.pretrained) == len(one.other) == classes // 2
    assert not set(one.pretrained) & set(one.other)
    again = halves.draw(base_seed, "x", role, number, classes)
    assert (again.pretrained == one.pretrained).all() and (again.other == one.other).all()
    numbers = one.stream("samples").random(4)
    assert (again.stream("samples").random(4) == numbers).all()
    others = [(base_seed + 1, role, number), (base_seed, role, number + 1)]
    others += [(base_seed, next(x for x in halves.ROLES if x != role), number)]
    for seed, kind, index in others:
        other = halves.draw(seed, "x", kind, index, classes)
        assert (other.stream("samples").random(4) != numbers).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 20), st.integers(1, 30))
def test_batches_and_samples_come_from_their_half_alone(base_seed, steps, most):
    one = halves.draw(base_seed, "x", "tested", 0, 9)
    batches = halves.batches(one, LABELS, steps, 32)
    assert batches.shape == (steps, 32) and np.isin(LABELS[batches], one.pretrained).all()
    epoch = len(halves.of(LABELS, one.pretrained))
    first = batches.reshape(-1)[:epoch]
    assert len(set(first)) == len(first), "an epoch sees no image twice"
    places = halves.samples(one, LABELS, most)
    assert (LABELS[places] == one.other).all() and len(set(places.flat)) == most * 4
    fewer = halves.samples(one, LABELS, max(1, most // 2))
    assert (fewer == places[: len(fewer)]).all(), "few samples are among many"
    assert (halves.renamed(LABELS[places], one.other) == np.arange(4)).all()
