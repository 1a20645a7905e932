"""Permutations: there and back, on images, tokens and matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_theory import files
from attention_theory.errors import BadInput
from attention_theory.images import permutation as p

KINDS = st.sampled_from(("none", "patch", "pixel"))
SHAPES = st.sampled_from(((4, 1), (4, 2), (6, 3), (8, 2), (8, 8)))


@given(kind=KINDS, shape=SHAPES, seed=st.integers(0, 2**32))
def test_order_and_inverse_lead_there_and_back(kind, shape, seed):
    size, patch = shape
    drawn = p.draw(kind, "digits", size, patch, seed)
    n = len(drawn.order)
    np.testing.assert_array_equal(drawn.order[drawn.inverse], np.arange(n))
    np.testing.assert_array_equal(drawn.inverse[drawn.order], np.arange(n))
    images = np.random.default_rng(seed).random((2, 3, size, size))
    back = p.permute(
        p.permute(images, drawn), drawn._replace(order=drawn.inverse, inverse=drawn.order)
    )
    np.testing.assert_array_equal(back, images)


@given(shape=SHAPES, seed=st.integers(0, 2**32))
def test_patches_move_as_a_whole(shape, seed):
    size, patch = shape
    drawn = p.draw("patch", "digits", size, patch, seed)
    images = np.random.default_rng(seed).random((2, 3, size, size))
    permuted = p.permute(images, drawn)
    tokens = p.to_patches(images, patch)
    np.testing.assert_array_equal(p.to_patches(permuted, patch), tokens[:, drawn.order])
    np.testing.assert_array_equal(p.from_patches(tokens, patch), images)


@given(seed=st.integers(0, 2**32))
def test_tokens_and_matrices_are_put_back(seed):
    drawn = p.draw("patch", "digits", 8, 2, seed)
    rng = np.random.default_rng(seed)
    tokens, M = rng.random((16, 5)), rng.random((3, 16, 16))
    np.testing.assert_array_equal(p.unpermute_tokens(tokens[drawn.order], drawn), tokens)
    permuted = M[:, drawn.order][:, :, drawn.order]
    np.testing.assert_array_equal(p.unpermute_matrix(permuted, drawn), M)


def test_none_is_the_identity_and_the_key_decides():
    images = np.random.default_rng(0).random((2, 1, 8, 8))
    np.testing.assert_array_equal(p.permute(images, p.draw("none", "digits", 8, 2, 5)), images)
    drawn = p.draw("patch", "digits", 8, 2, 0)
    assert drawn.sha256 == p.draw("patch", "digits", 8, 2, 0).sha256
    others = [p.draw("patch", "digits", 8, 2, 1), p.draw("patch", "other", 8, 2, 0)]
    assert drawn.sha256 not in {other.sha256 for other in others}


def test_a_stored_permutation_is_checked(prepared, tmp_path):
    stored = p.read(prepared / "patch.npz")
    assert stored.granularity == "patch" and stored.patch == 2
    arrays = files.read_arrays(prepared / "patch.npz")
    order = arrays["order"][::-1]
    files.write_arrays(tmp_path / "bad.npz", **arrays | {"order": order})
    with pytest.raises(BadInput, match="damaged permutation"):
        p.read(tmp_path / "bad.npz")
    with pytest.raises(BadInput, match="no permutation .it lacks order"):
        p.read(prepared / "digits.npz")
