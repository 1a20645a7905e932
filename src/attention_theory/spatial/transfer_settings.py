"""The settings of transfer (experiment 6) and the conditions on them (no torch)."""

from dataclasses import dataclass
from math import isfinite

from attention_theory.errors import require
from attention_theory.step import option

COLUMNS = "D C d q beta seed attention optimiser step_size scan samples draw accuracy".split()
LIMIT = 2**31  # bytes of the patches of one draw of a downstream task, float32


@dataclass(frozen=True)
class Frozen:
    """Training v alone, from 0, with attention frozen: by gradient descent and by one step."""

    dimensions: list[int] = option("dimension d of the patches; at the first everything is run")
    samples: list[int] = option("numbers of downstream samples, ascending")
    few: int = option("most samples at the other dimensions, where learned attention alone is run")
    draws: int = option("draws of the downstream task a seed, at most")
    fewest: int = option("draws of the downstream task a seed, at least")
    pool: int = option("samples of all draws together, between these bounds")
    step_pool: int = option("the same for one step, which needs no d-dimensional data")
    rate: float = option("learning rate of v, times D")
    steps: int = option("steps of gradient descent")
    step_size: float = option("length of the one normalised step, times D")
    scan: list[float] = option("other lengths, times D, tried at `scan-samples`")
    scan_samples: int = option("number of downstream samples at which lengths are tried")
    test: int = option("number of test samples")

    def __post_init__(self) -> None:
        _require_counts(self, "few draws fewest pool step_pool steps scan_samples test".split())
        _require_positive(self, ("rate", "step_size"))
        _require_ascending("samples", self.samples)
        among = self.scan_samples in self.samples
        require(among, "scan_samples", self.scan_samples, f"be one of samples, {self.samples}")
        for length in self.scan:
            require(isfinite(length) and length > 0, "scan", length, "be finite and above 0")
        require(len(self.dimensions) > 0, "dimensions", self.dimensions, "name one at least")
        unique = len(set(self.dimensions)) == len(self.dimensions)
        require(unique, "dimensions", self.dimensions, "differ from each other")
        require(self.fewest <= self.draws, "fewest", self.fewest, f"be at most {self.draws}")

    def draws_at(self, n: int, optimiser: str) -> int:
        """How many draws of n samples are taken: as many as the pool holds, within the bounds."""
        pool = self.pool if optimiser == "gd" else self.step_pool
        return max(self.fewest, min(self.draws, pool // n))


@dataclass(frozen=True)
class Scratch:
    """Training v and A together, from the initial distribution, on the downstream samples."""

    scratch_samples: list[int] = option("numbers of samples, ascending, until .95 is reached")
    scratch_draws: int = option("draws of the task a seed")
    omega: float = option("standard deviation of the initial v and A")
    scratch_rate: float = option("learning rate of v, times D")
    eta_A: float = option("learning rate of A, off the diagonal")
    scratch_steps: int = option("most steps of gradient descent")
    every: int = option("steps between two validations")
    patience: int = option("validations without a lower loss after which training stops")
    validation: int = option("number of validation samples, beyond the downstream samples")

    def __post_init__(self) -> None:
        _require_counts(self, "scratch_draws scratch_steps every patience validation".split())
        _require_positive(self, ("omega", "scratch_rate", "eta_A"))
        _require_ascending("scratch_samples", self.scratch_samples)


def check_size(key: str, n: int, D: int, d: int) -> None:
    """Raise BadInput for more samples than the generator can give: their patches fill LIMIT."""
    most = LIMIT // (4 * D * d)
    allowed = f"be at most {most}: the patches (D {D}, d {d}) may fill {LIMIT >> 30} GiB of memory"
    require(n <= most, key, n, allowed)


def check_sizes(frozen: Frozen, scratch: Scratch, D: int) -> None:
    """Raise BadInput for any number of samples that is too large for its dimension."""
    for number, d in enumerate(frozen.dimensions):
        for n in frozen.samples:
            if number == 0 or n <= frozen.few:
                check_size("samples", n, D, d)
        for n in scratch.scratch_samples:
            check_size("scratch_samples", n, D, d)


def _require_counts(settings: object, names: list[str]) -> None:
    for name in names:
        require(getattr(settings, name) >= 1, name, getattr(settings, name), "be at least 1")


def _require_positive(settings: object, names: tuple[str, ...]) -> None:
    for name in names:
        value = getattr(settings, name)
        require(isfinite(value) and value > 0, name, value, "be finite and above 0")


def _require_ascending(name: str, values: list[int]) -> None:
    require(len(values) > 0 and values[0] >= 1, name, values, "be numbers from 1 on")
    ascending = all(a < b for a, b in zip(values, values[1:], strict=False))
    require(ascending, name, values, "ascend")
