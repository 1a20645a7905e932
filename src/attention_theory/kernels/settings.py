"""The settings of the study's steps and the conditions on them (no torch)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite

from attention_theory.errors import BadInput, require, within
from attention_theory.step import option

KERNELS = ("softmax", "gaussian")
METHODS = (FIXED, BACKTRACKING) = ("fixed", "backtracking")
TARGETS = ("common", "random", "own")
LARGEST = 0.7  # of sigma: far above it the Gaussian scores underflow at the start


@dataclass(frozen=True)
class Sizes:
    """The data and the initial scores, whatever the number of heads and the dimension."""

    N: int = option("number of samples")
    n: int = option("tokens of a sample")
    d: int = option("width of queries and keys")
    sigma: float = option("standard deviation of the entries of W_Q and W_K at the start")

    def __post_init__(self) -> None:
        for name in ("N", "n", "d"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "be at least 1")
        require(0 < self.sigma <= LARGEST, "sigma", self.sigma, f"lie in (0, {LARGEST}]")

    @property
    def tokens(self) -> int:
        """N n, the number of outputs to fit."""
        return self.N * self.n


@dataclass(frozen=True)
class Convergence:
    """Experiment A1: the sweep, and the budgets of both ways to train."""

    heads: list[int] = option("number of heads H; repeatable")
    dimensions: list[int] = option("dimension D of a token; repeatable")
    value_steps: int = option("steps when W_V alone is trained, in closed form")
    steps: int = option("steps (evaluations) when all weights are trained")
    stop: float = option("loss, relative to the first, at which a run is done")

    def __post_init__(self) -> None:
        _check_lists(self, "heads", "dimensions")
        _check_counts(self, "value_steps", "steps")
        require(1e-20 <= self.stop < 1, "stop", self.stop, "lie in [1e-20, 1)")


@dataclass(frozen=True)
class Stuck:
    """Experiment A2: budgets, and when a run counts as stuck."""

    D: int = option("dimension of a token; at least N n")
    steps: int = option("steps (evaluations)")
    budgets: list[int] = option("steps at which losses are recorded besides; repeatable")
    threshold: float = option("a run is stuck while its loss is above this, relative to the first")
    hessians: int = option("runs of each case and kernel whose Hessian is taken where stuck")

    def __post_init__(self) -> None:
        _check_counts(self, "D", "steps")
        _check_lists(self, "budgets")
        allowed = f"be at most {self.steps}, the steps"
        require(max(self.budgets) <= self.steps, "budgets", self.budgets, allowed)
        require(0 < self.threshold < 1, "threshold", self.threshold, "lie in (0, 1)")
        require(self.hessians >= 0, "hessians", self.hessians, "not be negative")


@dataclass(frozen=True)
class Case:
    """A target for W_Q and W_K alone, and the values that the scores can mix.

    common: size times the sum over heads of a sample's mean value; random: size times N(0, 1);
    own: the outputs of the same kernel with other W_Q and W_K, which can be fitted.
    """

    target: str
    H: int
    n: int
    eps: float
    size: float

    def __post_init__(self) -> None:
        require(self.target in TARGETS, "target", self.target, "be one of: " + ", ".join(TARGETS))
        _check_counts(self, "H", "n")
        require(isfinite(self.eps) and self.eps >= 0, "eps", self.eps, "not be negative")
        require(isfinite(self.size) and self.size != 0, "size", self.size, "not be 0")


@dataclass(frozen=True)
class Lazy:
    """Experiment A3: a sweep of D and one of H, trained to one relative loss."""

    dimensions: list[int] = option("D of the sweep of D; repeatable")
    at_heads: int = option("H of the sweep of D")
    heads: list[int] = option("H of the sweep of H; repeatable")
    at_dimension: int = option("D of the sweep of H")
    goal: float = option("loss, relative to the first, at which a run is done")
    method: str = option("fixed or backtracking steps")
    rate: float = option("step, or the first, in units of 1 / largest eigenvalue of the first NTK")
    steps: int = option("most steps")

    def __post_init__(self) -> None:
        _check_lists(self, "dimensions", "heads")
        _check_counts(self, "at_heads", "at_dimension", "steps")
        require(0 < self.goal < 1, "goal", self.goal, "lie in (0, 1)")
        require(self.method in METHODS, "method", self.method, "be one of: " + ", ".join(METHODS))
        require(0 < self.rate <= 2, "rate", self.rate, "lie in (0, 2]")


def check_seeds(seeds: int) -> None:
    """Raise BadInput unless there is a seed."""
    require(seeds >= 1, "seeds", seeds, "be at least 1")


def check_rank(sizes: Sizes, D: int, cases: Mapping[str, Case]) -> None:
    """Raise BadInput if tokens depend on each other: their values could not be chosen."""
    for name, case in cases.items():
        allowed = f"be at least {sizes.N * case.n}, N n of case {name}"
        require(sizes.N * case.n <= D, "D", D, allowed)


def parse_cases(text: str) -> dict[str, Case]:
    """The cases of a JSON object, by name. Raises BadInput for anything else."""
    try:
        named = json.loads(text)
    except ValueError as error:
        raise BadInput(f"cases: no JSON ({error})") from None
    is_object = isinstance(named, dict) and all(isinstance(one, dict) for one in named.values())
    require(is_object and bool(named), "cases", text, "be a JSON object of objects, one a case")
    return {name: case(name, settings) for name, settings in named.items()}


def case(name: str, settings: Mapping) -> Case:
    """One case, checked. Raises BadInput, naming it."""
    types = {field.name: field.type for field in fields(Case)}
    with within(f"cases.{name}"):
        for key, value in settings.items():
            require(key in types, key, value, "not be set: a case has " + ", ".join(types))
            kind = (int, float) if types[key] is float else types[key]
            is_kind = isinstance(value, kind) and not isinstance(value, bool)
            require(is_kind, key, value, f"be of type {types[key].__name__}")
        missing = [key for key in types if key not in settings]
        require(not missing, "keys", list(settings), f"include {', '.join(missing)}")
        return Case(**settings)


def _check_counts(group: object, *names: str) -> None:
    for name in names:
        require(getattr(group, name) >= 1, name, getattr(group, name), "be at least 1")


def _check_lists(group: object, *names: str) -> None:
    for name in names:
        values = getattr(group, name)
        require(bool(values) and min(values) >= 1, name, values, "hold numbers of at least 1")
        require(len(set(values)) == len(values), name, values, "name no number twice")
