"""Measures of similarity on maps where the answer is known exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_theory import files
from attention_theory.errors import BadInput
from attention_theory.images import columns
from attention_theory.images import permutation as p
from attention_theory.images import similarity as s

GRID = s.grid_distances(4)
SETTING = {"dataset": "digits", "model": "vit", "attention": "self", "patch": 2}


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


def smooth_encodings(side: int = 4) -> np.ndarray:
    """Encodings whose cosine falls with the distance on the grid: points on a small cap."""
    rows, columns = np.divmod(np.arange(side**2), side)
    return np.stack([rows - 1.5, columns - 1.5, np.full(side**2, 30.0)], axis=1)


def snapshot(order: p.Permutation, **changes) -> dict[str, np.ndarray]:
    """Initial: random encodings; final: smooth ones, as the tokens of permuted images stand."""
    smooth = smooth_encodings()[order.order]
    positions = np.stack([np.random.default_rng(0).standard_normal(smooth.shape), smooth])
    local = np.exp(-GRID)[order.order][:, order.order]
    matrices = np.stack([np.full((2, 16, 16), 1 / 16), np.stack([local, local])])
    found = SETTING | {"permutation": order.granularity, "seed": 3}
    found |= {"permutation_sha256": order.sha256, "epoch": [0, 60], "state": ["initial", "final"]}
    found |= {"positions": positions, "attention_matrices": matrices} | changes
    return {name: np.asarray(value) for name, value in found.items()}


def test_maps_of_permuted_images_are_put_back_first():
    order = p.draw("patch", "digits", 8, 2, 0)
    rows = {(row["measure"], row["state"]): row for row in s.measure(snapshot(order), order)}
    assert set(rows[("positions", "final")]) == set(columns.SIMILARITY)
    for measure in ("positions", "attention"):
        final = rows[(measure, "final")]
        assert final["precision_at_4"] == pytest.approx(0.75)
        assert final["epoch"] == 60 and final["seed"] == 3
        assert final["spearman"] < -0.95
    assert rows[("attention", "initial")]["precision_at_4"] == pytest.approx(0.2)
    identity = p.draw("none", "digits", 8, 2, 0)
    wrong = s.measure(snapshot(order), identity)
    assert max(row["precision_at_4"] for row in wrong) < 0.5


def test_snapshots_without_tokens_or_a_grid_are_refused():
    order = p.draw("patch", "digits", 8, 2, 0)
    whole = snapshot(order)
    assert s.check_tokens(whole, "here") == order.sha256
    del whole["positions"]
    with pytest.raises(BadInput, match="here: no snapshots of a model with tokens"):
        s.check_tokens(whole, "here")
    with pytest.raises(BadInput, match="here: permuted pixels"):
        s.check_grid(p.draw("pixel", "digits", 8, 2, 0), "here")
    with pytest.raises(BadInput, match="here: 4 tokens; there must be more than 4"):
        s.check_grid(p.draw("patch", "digits", 8, 4, 0), "here")


def test_the_step_finds_each_models_permutation(call, prepared, tmp_path):
    for name in ("none", "patch"):
        order = p.read(prepared / f"{name}.npz")
        files.write_arrays(tmp_path / f"s-{name}.npz", **snapshot(order))
    words = ["--permutation", prepared / "none.npz", "--permutation", prepared / "patch.npz"]
    code, _ = call("similarity", "s-none.npz", "s-patch.npz", *words, "--output", "out.csv")
    assert code == 0
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == ",".join(columns.SIMILARITY) and len(lines) == 1 + 2 * 4
    code, error = call("similarity", "s-patch.npz", *words[:2], "--output", "no.csv")
    assert code == 2 and "s-patch.npz: trained under a permutation that is not among" in error
    assert call("similarity", "--output", "none.csv")[0] == 0
    assert (tmp_path / "none.csv").read_text() == lines[0] + "\n"
