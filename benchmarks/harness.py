"""Ratios of times, measured in one run: the two sides take turns, so that drift hits both."""

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

ROUNDS = 9


class Row(NamedTuple):
    """A benchmark: what is compared, the ratio other / ours with its quartiles, both medians; and
    what the ratio should be at least, with `miss` where it is not."""

    benchmark: str
    ratio: float
    ratio_low: float
    ratio_high: float
    ours_ms: float
    other_ms: float
    rounds: int
    target: float = float("nan")
    verdict: str = ""


def compare(
    benchmark: str,
    ours: Callable[[], object],
    other: Callable[[], object],
    rounds: int = ROUNDS,
    target: float = float("nan"),
) -> Row:
    """Time `ours` and `other` in turn; a ratio above 1 says that ours is faster."""
    seconds = race({"ours": ours, "other": other}, rounds)
    return row(benchmark, seconds["ours"], seconds["other"], target=target)


def race(functions: dict[str, Callable[[], object]], rounds: int) -> dict[str, np.ndarray]:
    """Seconds (rounds,) of each function; they take turns, after a warm-up of each."""
    for function in functions.values():
        function()  # caches, threads and allocators warm up
    times = [[_seconds(function) for function in functions.values()] for _ in range(rounds)]
    return dict(zip(functions, np.array(times).T, strict=True))


def row(
    benchmark: str,
    ours: np.ndarray,
    other: np.ndarray,
    scale: float = 1,
    target: float = float("nan"),
) -> Row:
    """The row of two functions that took turns; the ratio may be in units of `scale`, and should be
    at least `target`."""
    low, ratio, high = np.percentile(scale * other / ours, [25, 50, 75])
    times = 1e3 * np.median(ours), 1e3 * np.median(other)
    verdict = "" if math.isnan(target) else "met" if ratio >= target else "miss"
    return Row(benchmark, *map(float, (ratio, low, high, *times)), len(ours), target, verdict)


def _seconds(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started
