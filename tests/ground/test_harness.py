"""The benchmark harness on functions whose ratio is known."""

import importlib.util
import time
from pathlib import Path

import numpy as np

HARNESS = Path(__file__).resolve().parents[2] / "benchmarks" / "harness.py"


def load():
    specification = importlib.util.spec_from_file_location("harness", HARNESS)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_ratio_is_the_others_time_in_units_of_ours():
    calls = []
    row = load().compare(
        "sleep",
        lambda: (calls.append("ours"), time.sleep(0.002)),
        lambda: (calls.append("other"), time.sleep(0.02)),
        rounds=5,
    )
    assert calls == ["ours", "other"] * 6, "interleaved, after one warm-up each"
    assert row.ratio_low <= row.ratio <= row.ratio_high and row.ratio > 1
    assert row.rounds == 5 and row.other_ms > row.ours_ms


def test_a_target_that_is_missed_is_data():
    seconds = np.array([1.0, 1.0, 2.0]), np.array([2.0, 2.0, 2.0])
    harness = load()
    for target, verdict in ((2.0, "met"), (2.01, "miss"), (float("nan"), "")):
        row = harness.row("times", *seconds, target=target)
        assert row.ratio == 2 and row.verdict == verdict
    assert harness.row("share", *seconds, scale=0.25, target=0.75).verdict == "miss"
