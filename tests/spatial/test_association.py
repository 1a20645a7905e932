"""Patch association on matrices whose answer is known."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_theory.spatial.association import associate

PARTITION = np.array([0, 1, 0, 2, 1, 2])
SAME = (PARTITION[:, None] == PARTITION[None, :]).astype(float)


def test_block_matrix_is_associated():
    assert associate(SAME, PARTITION) == (1.0, 1.0)
    assert associate(SAME - 5, PARTITION) == (1.0, 1.0)


def test_anti_association():
    assert associate(-SAME, PARTITION).patch_association == 0


def test_one_wrong_row():
    M = SAME.copy()
    M[0, 1] = 2.0
    assert associate(M, PARTITION) == (5 / 6, (5 + 0.5) / 6)


def test_all_tied_is_not_associated_and_has_chance_precision():
    found = associate(np.zeros((6, 6)), PARTITION)
    assert found.patch_association == 0
    assert found.precision_at_c == pytest.approx(2 / 6)


def test_a_tie_within_rounding_is_a_tie():
    M = 3.0 * SAME
    M[0, 1] = 3.0 - 1e-9
    assert associate(M, PARTITION).patch_association == 5 / 6
    M[0, 1] = 3.0 - 1e-3
    assert associate(M, PARTITION).patch_association == 1


@given(st.lists(st.integers(0, 2), min_size=36, max_size=36))
def test_precision_is_the_mean_over_all_ways_to_break_ties(entries):
    M = np.array(entries, dtype=float).reshape(6, 6)
    total = 0.0
    for row, own in zip(M, SAME, strict=True):
        tops = [
            top
            for top in itertools.combinations(range(6), 2)
            if min(row[list(top)]) >= max(np.delete(row, top))
        ]
        total += np.mean([own[list(top)].sum() / 2 for top in tops])
    assert associate(M, PARTITION).precision_at_c == pytest.approx(total / 6)


@given(st.permutations(range(6)), st.integers(0, 1000))
def test_renaming_patches_changes_nothing(order, seed):
    M = np.random.default_rng(seed).standard_normal((6, 6))
    order = np.array(order)
    moved = associate(M[np.ix_(order, order)], PARTITION[order])
    assert moved == pytest.approx(associate(M, PARTITION))


@pytest.mark.parametrize("partition", [np.array([0, 0, 1]), np.array([0, 0, 0, 0, 1, 1])])
def test_sets_of_unequal_size_or_number(partition):
    with pytest.raises(ValueError, match="one size"):
        associate(SAME, partition)
