"""Keyed random streams: the key alone decides the numbers."""

from hypothesis import given
from hypothesis import strategies as st

from attention_theory.streams import stream

KEYS = st.tuples(st.integers(0, 2**40), st.sampled_from(["a", "b", "ab"]), st.integers(0, 99))


@given(KEYS, KEYS)
def test_streams_agree_exactly_when_their_keys_do(one, other):
    first, second = (stream(*key).integers(2**62, size=4).tolist() for key in (one, other))
    assert (first == second) == (one == other)


def test_the_numbers_are_pinned():
    """A change of the generator would change every result: it must not come unnoticed."""
    assert stream(1, "pinned", 0).integers(1000, size=3).tolist() == PINNED


def test_a_longer_index_is_another_stream():
    assert stream(1, "a", 2).random() != stream(1, "a", 2, 0).random()


PINNED = [577, 154, 391]
