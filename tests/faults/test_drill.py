"""The drill in short: a run on one core, killed twice at random moments, against the smoke run."""

import drill
import pytest
from checkout import Checkout

pytestmark = pytest.mark.faults


def test_a_run_killed_at_random_moments_gives_the_same_bytes(smoke_results, tmp_path_factory):
    """And one core gives the same as two; drill.py takes any number of rounds."""
    checkout = Checkout(tmp_path_factory.mktemp("drill"))
    kills = drill.moments(seed=1, number=0, kills=2, jobs=30)
    assert drill.disturbed(checkout, 1, kills) == [True, True]
    assert drill.differences(checkout.results(), smoke_results()) == []


def test_a_moment_depends_on_seed_and_round_alone():
    assert drill.moments(3, 17) == drill.moments(3, 17) != drill.moments(3, 18)
    assert drill.moments(3, 17) != drill.moments(4, 17)


def test_a_difference_is_seen():
    before = {"a": "1", "b": "2"}
    assert drill.differences({"a": "1", "c": "3"}, before) == ["b", "c"]
    assert drill.differences({"a": "1", "b": "3"}, before) == ["b"]
    assert drill.differences(dict(before), before) == []
