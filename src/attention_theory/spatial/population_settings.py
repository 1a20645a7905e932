"""The settings of the idealised process and the conditions on them (no torch).

The process needs no patch dimension: the noise is orthogonal to w* and v stays parallel to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import NamedTuple

from attention_theory.errors import require
from attention_theory.spatial.settings import Architecture
from attention_theory.step import option

SEPARATED = 1e-6  # entries of A act through their exponential: closer than that they are tied
METHODS = ("exact", "fourier", "monte-carlo")


@dataclass(frozen=True)
class Sets:
    """The pattern's law (Assumption 1): L = D / C sets, one of them the signal set."""

    D: int = option("number of patches")
    C: int = option("size of a set of the partition; divides D")
    q: float = option("probability that a patch outside the signal set carries +-feature")

    def __post_init__(self) -> None:
        require(self.C >= 1, "C", self.C, "be at least 1")
        require(self.D >= 1, "D", self.D, "be at least 1")
        require(self.D % self.C == 0, "D", self.D, f"be a multiple of C = {self.C}")
        require(self.D > self.C, "D", self.D, f"be above C = {self.C}: two sets at least")
        require(0 < self.q < 1, "q", self.q, "lie in (0, 1)")

    @property
    def others(self) -> int:
        """The number m = L - 1 of sets besides the signal set."""
        return self.D // self.C - 1


@dataclass(frozen=True)
class Point:
    """Where the process stands: v = alpha w*, A = gamma within a set, rho across sets."""

    alpha: float = option("coefficient of v along the feature")
    gamma: float = option("entry of A within a set, off the diagonal")
    rho: float = option("entry of A across sets")

    def __post_init__(self) -> None:
        for name in ("alpha", "gamma", "rho"):
            value = getattr(self, name)
            require(isfinite(value), name, value, "be finite")


@dataclass(frozen=True)
class Method:
    """How an expectation over the data is taken, and how well."""

    method: str = option("exact (enumeration), fourier (quadrature) or monte-carlo")
    target: float = option("fourier: error aimed at, relative to the sum of absolute terms", 1e-10)
    samples: int = option("monte-carlo: number of patterns", 20_000)

    def __post_init__(self) -> None:
        require(self.method in METHODS, "method", self.method, "be one of: " + ", ".join(METHODS))
        allowed = "lie between 1e-14 and 0.01"
        require(1e-14 <= self.target <= 0.01, "target", self.target, allowed)
        require(self.samples >= 2, "samples", self.samples, "be at least 2")


@dataclass(frozen=True)
class Path:
    """A trajectory: its start, its two rates, its stopping rule, and how it is watched."""

    alpha_0: float = option("initial alpha; A starts at 0 off its diagonal")
    eta_v: float = option("learning rate of v")
    eta_A: float = option("learning rate of A, off the diagonal")
    steps: int = option("most steps of gradient descent")
    stop_risk: float = option("risk at which descent stops")
    every: int = option("steps between two test errors")
    test: int = option("patterns of a sampled test error")

    def __post_init__(self) -> None:
        for name in ("alpha_0", "stop_risk"):
            value = getattr(self, name)
            require(isfinite(value) and value >= 0, name, value, "be finite and not negative")
        for name in ("eta_v", "eta_A"):
            value = getattr(self, name)
            require(isfinite(value) and value > 0, name, value, "be finite and above 0")
        for name in ("steps", "every", "test"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "be at least 1")


KINDS = {int: (int, "a whole number"), float: ((int, float), "a number"), str: (str, "a word")}
GROUPS = (Sets, Architecture, Method, Path)


class Trajectory(NamedTuple):
    """Everything that a named trajectory needs."""

    sets: Sets
    architecture: Architecture
    method: Method
    path: Path


def trajectory(settings: Mapping) -> Trajectory:
    """The trajectory of a flat mapping of settings. Raises BadInput for what is not allowed."""
    known = {field.name: field.type for group in GROUPS for field in fields(group)}
    for name, value in settings.items():
        require(name in known, name, value, "not be set: there is no such setting")
        kind, in_words = KINDS[known[name]]
        allowed = isinstance(value, kind) and not isinstance(value, bool)
        require(allowed, name, value, f"be {in_words}")
    missing = sorted(known - settings.keys())
    require(not missing, "settings", ", ".join(settings), f"hold {', '.join(missing)} too")
    groups = [group(**{f.name: settings[f.name] for f in fields(group)}) for group in GROUPS]
    return Trajectory(*groups)
