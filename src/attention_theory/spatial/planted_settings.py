"""The settings of the planted step and the conditions on them (light: the workflow reads it)."""

import math
from dataclasses import dataclass

from attention_theory import listing
from attention_theory.errors import require
from attention_theory.step import option

LARGEST = 2**53  # counts above are no longer whole numbers in floating point
PATCHES, SAMPLES = 10**6, 2000  # most of the samples curves: memory of outcomes and of their sums


@dataclass(frozen=True)
class Scaling:
    """One sample, set unknown: the curves ratio (q m / C^2) and degree (q m = C^degree)."""

    q: float = option("probability of +-1 outside the set, ratio and degree curves")
    C: str = option("list of set sizes, ratio and degree curves")
    ratios: str = option("list of values of q m / C^2, ratio curve")
    degrees: str = option("list of degrees, q m = C^degree, degree curve")

    def __post_init__(self) -> None:
        require(0 < self.q < 1, "q", self.q, "lie in (0, 1)")
        require(min(listing.numbers("C", self.C, int)) >= 1, "C", self.C, "hold no number below 1")
        for curve in ("ratio", "degree"):
            self.points(curve)

    def points(self, curve: str) -> list[tuple[float, int, int]]:
        """The (ratio or degree, C, m) of a curve. BadInput where no m of use belongs to them."""
        key = {"ratio": "ratios", "degree": "degrees"}[curve]
        points = []
        for value in listing.numbers(key, getattr(self, key)):
            for C in listing.numbers("C", self.C, int):
                q_m = value * C**2 if curve == "ratio" else _power(C, value)
                fits = q_m / self.q <= LARGEST and C < round(q_m / self.q)
                allowed = f"give m from C + 1 to 2^53 (at C = {C}, m is {q_m / self.q:.4g})"
                require(fits, key, value, allowed)
                points.append((value, C, round(q_m / self.q)))
        return points


def _power(C: int, degree: float) -> float:
    """C^degree, infinite where a float ends."""
    try:
        return float(C) ** degree
    except OverflowError:
        return math.inf


@dataclass(frozen=True)
class Samples:
    """n samples: the samples curve, by what is known of the set."""

    samples_q: float = option("q of the samples curve")
    samples_C: int = option("C of the samples curve")
    samples_m: str = option("list of m of the samples curve, multiples of C")
    samples_n: str = option("list of numbers of samples")

    def __post_init__(self) -> None:
        C = self.samples_C
        require(0 < self.samples_q < 1, "samples_q", self.samples_q, "lie in (0, 1)")
        require(C >= 1, "samples_C", C, "be at least 1")
        for m in self.m:
            fits = C < m <= PATCHES and m % C == 0
            allowed = f"be a multiple of C = {C} from {2 * C} to {PATCHES}"
            require(fits, "samples_m", m, allowed)
        fits = min(self.n) >= 1 and max(self.n) <= SAMPLES
        require(fits, "samples_n", self.samples_n, f"hold numbers from 1 to {SAMPLES}")

    @property
    def m(self) -> list[int]:
        """The numbers of patches."""
        return listing.numbers("samples_m", self.samples_m, int)

    @property
    def n(self) -> list[int]:
        """The numbers of samples."""
        return listing.numbers("samples_n", self.samples_n, int)
