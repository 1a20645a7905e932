"""Measures of similarity on maps where the answer is known exactly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_theory.images import locality as s
from attention_theory.images import permutation as p

GRID = s.grid_distances(4)


def test_chance_and_ceiling_on_a_4_by_4_grid():
    found = s.precision_at_k(-GRID, GRID)
    assert found == pytest.approx((0.75, 0.2, 0.75))


def test_constant_similarity_is_at_chance():
    found = s.precision_at_k(np.ones((16, 16)), GRID)
    assert found.precision == pytest.approx(found.chance)


def test_a_map_that_prefers_the_far_corner_finds_no_neighbours():
    assert s.precision_at_k(GRID, GRID).precision == 0


def test_precision_of_a_map_that_knows_rows_and_pairs_of_rows():
    """Top 4: the three tokens of the own row, 1 or 2 of them neighbours, and a vertical one."""
    row, column = np.divmod(np.arange(16), 4)
    M = 2.0 * (row[:, None] == row)
    M += (row[:, None] == row ^ 1) & (column[:, None] == column)
    assert s.precision_at_k(M, GRID).precision == pytest.approx((1.5 + 1) / 4)


def test_random_maps_are_at_chance_on_average():
    rng = np.random.default_rng(0)
    values = [s.precision_at_k(rng.random((16, 16)), GRID).precision for _ in range(400)]
    assert np.mean(values) == pytest.approx(0.2, abs=0.01)  # 4.5 standard errors


@given(seed=st.integers(0, 2**32), side=st.integers(3, 6))
def test_measures_do_not_depend_on_scale_or_place(seed, side):
    distances = s.grid_distances(side)
    M = np.random.default_rng(seed).standard_normal(distances.shape)
    found = s.precision_at_k(M, distances)
    assert 0 <= found.precision <= found.ceiling
    assert s.precision_at_k(3 * M + 1, distances) == pytest.approx(found)
    assert s.spearman(np.exp(M), distances) == pytest.approx(s.spearman(M, distances))


def test_spearman_knows_the_direction():
    assert s.spearman(-GRID, GRID) == pytest.approx(-1)
    assert s.spearman(GRID**2, GRID) == pytest.approx(1)
    assert np.isnan(s.spearman(np.ones((16, 16)), GRID))


def test_cosines():
    vectors = np.array([[1.0, 0], [0, 2], [-3, 0], [1, 1], [0, 0]])
    found = s.cosine_similarity(vectors)
    assert found[0].tolist() == pytest.approx([1, 0, -1, 0.5**0.5, 0])
    assert found[4].tolist() == [0] * 5
    np.testing.assert_array_equal(found, found.T)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="n > 4"):
        s.precision_at_k(np.eye(4), s.grid_distances(2))


def test_permutation_tests_tell_a_grid_from_noise():
    orders = s.shuffles(16, np.random.default_rng(0))
    local = s.locality(-GRID, GRID, orders)
    assert local.precision_p == local.spearman_p == 1 / (1 + s.SHUFFLES)
    assert local.precision_at_4 == 0.75 and local.spearman == pytest.approx(-1)
    far = s.locality(GRID, GRID, orders)
    assert far.precision_p > 0.99 and far.spearman_p == 1
    flat = s.locality(np.ones((16, 16)), GRID, orders)
    assert flat.precision_p == 1, "nothing is as local as anything else"
    assert np.isnan([flat.spearman, flat.spearman_p]).all()


def test_p_values_of_noise_are_uniform():
    rng = np.random.default_rng(1)
    orders = s.shuffles(16, rng, 199)
    found = [s.locality(rng.random((16, 16)), GRID, orders) for _ in range(300)]
    for name in ("precision_p", "spearman_p"):
        values = np.array([getattr(one, name) for one in found])
        assert 0.02 < (values <= 0.05).mean() < 0.10
        assert 0.4 < values.mean() < 0.62  # precision has few values: its test is conservative


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32), st.integers(3, 4))
def test_the_fast_test_is_the_slow_one(seed, side):
    rng = np.random.default_rng(seed)
    M, distances = rng.random((side**2, side**2)), s.grid_distances(side)
    orders = s.shuffles(side**2, rng, 19)
    found = s.locality(M, distances, orders)
    moved = [distances[np.ix_(order, order)] for order in orders]
    precise = [s.precision_at_k(M, other).precision for other in moved]
    correlated = [s.spearman(M, other) for other in moved]
    assert found.precision_p == (1 + sum(x >= found.precision_at_4 - 1e-9 for x in precise)) / 20
    assert found.spearman_p == (1 + sum(x <= found.spearman + 1e-9 for x in correlated)) / 20


def test_tokens_of_permuted_pixels_are_as_far_as_their_pixels():
    order = p.draw("pixel", "digits", 8, 2, 3)
    found = s.token_distances(order)
    token = p.to_patches(order.order.reshape(1, 1, 8, 8), 2)[0].reshape(16, 4)
    slow = [
        [
            np.mean([np.hypot(i // 8 - j // 8, i % 8 - j % 8) / 2 for i in a for j in b])
            for b in token
        ]
        for a in token
    ]
    np.testing.assert_allclose(found, slow)
    patch = p.draw("patch", "digits", 8, 2, 3)
    np.testing.assert_array_equal(s.token_distances(patch), GRID)


def test_without_a_grid_there_is_no_precision():
    order = p.draw("pixel", "digits", 8, 2, 3)
    distances = s.token_distances(order)
    found = s.locality(-distances, distances, s.shuffles(16, np.random.default_rng(0), 99))
    assert np.isnan([found.precision_at_4, found.chance, found.ceiling, found.precision_p]).all()
    assert found.spearman == pytest.approx(-1) and found.spearman_p == 0.01
