"""Ratios of times, measured in one run: the two sides take turns, so that drift hits both."""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

ROUNDS = 9


class Row(NamedTuple):
    """A benchmark: what is compared, the ratio other / ours with its quartiles, both medians."""

    benchmark: str
    ratio: float
    ratio_low: float
    ratio_high: float
    ours_ms: float
    other_ms: float
    rounds: int


def compare(
    benchmark: str, ours: Callable[[], object], other: Callable[[], object], rounds: int = ROUNDS
) -> Row:
    """Time `ours` and `other` in turn; a ratio above 1 says that ours is faster."""
    ours(), other()  # caches, threads and allocators warm up
    times = np.array([(_seconds(ours), _seconds(other)) for _ in range(rounds)])
    low, ratio, high = np.percentile(times[:, 1] / times[:, 0], [25, 50, 75])
    ours_ms, other_ms = 1e3 * np.median(times, axis=0)
    return Row(benchmark, *map(float, (ratio, low, high, ours_ms, other_ms)), rounds)


def _seconds(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started
