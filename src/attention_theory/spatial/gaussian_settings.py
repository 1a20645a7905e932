"""The settings of the Gaussian step and its labelling functions (no torch)."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

import numpy as np

from attention_theory.errors import require
from attention_theory.step import option


class Phi(NamedTuple):
    """phi of Definition 2.1: from the coefficients <w*, X_i> of each set's patches, (..., C), to
    (...). Odd, so that both labels are as likely."""

    function: Callable[[np.ndarray], np.ndarray]
    label: str  # in figures; s is the sum over a set
    structured: bool = True  # f* depends on the partition: there is a structure to learn


PHIS = {  # tanh saturates, cubic grows faster than linearly
    "tanh": Phi(lambda c: np.tanh(c.sum(axis=-1) / 2), "$\\tanh(s/2)$"),
    "cubic": Phi(lambda c: c.sum(axis=-1) ** 3, "$s^3$"),
    "linear": Phi(lambda c: c.sum(axis=-1), "$s$", structured=False),
    "per_patch": Phi(lambda c: np.tanh(c).sum(axis=-1), "$\\Sigma_i \\tanh$", structured=False),
}
STRUCTURED = tuple(name for name, phi in PHIS.items() if phi.structured)


@dataclass(frozen=True)
class Gaussian:
    """Gaussian data: D patches X_j ~ N(0, I), independent, in sets of size C."""

    D: int = option("number of patches")
    C: int = option("size of a set of the partition; divides D")
    d: int = option("dimension of a patch")

    def __post_init__(self) -> None:
        require(self.C >= 2, "C", self.C, "be at least 2: a set of one patch is no structure")
        require(self.D % self.C == 0, "D", self.D, f"be a multiple of C = {self.C}")
        require(self.D > self.C, "D", self.D, f"be above C = {self.C}: two sets at least")
        require(self.d >= 1, "d", self.d, "be at least 1")

    @property
    def L(self) -> int:
        """The number of sets."""
        return self.D // self.C


def parse_phis(names: str) -> list[str]:
    """The phi of a list such as `tanh,cubic`. BadInput for an unknown or a repeated one."""
    phis = names.split(",")
    for name in phis:
        require(name in PHIS, "phis", name, "be one of: " + ", ".join(PHIS))
    require(len(set(phis)) == len(phis), "phis", names, "name no phi twice")
    return phis


def check_cap(cap: float) -> None:
    """Raise BadInput unless `cap` is finite and not negative."""
    require(isfinite(cap) and cap >= 0, "cap", cap, "be finite and not negative (0: no cap)")
