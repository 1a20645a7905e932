"""The settings of the study's steps and the conditions on them (no torch)."""

from dataclasses import asdict, dataclass
from math import isfinite

from attention_theory.errors import require
from attention_theory.step import option

PARTITIONS = ("contiguous", "scattered")


@dataclass(frozen=True)
class Distribution:
    """The distribution of Assumption 1: one signal set among D / C, spurious features elsewhere."""

    D: int = option("number of patches")
    C: int = option("size of a set of the partition; divides D")
    d: int = option("dimension of a patch, at least 2")
    q: float = option("probability that a patch outside the signal set carries +-feature")

    def __post_init__(self) -> None:
        require(self.C >= 1, "C", self.C, "be at least 1")
        require(self.D >= 1, "D", self.D, "be at least 1")
        require(self.D % self.C == 0, "D", self.D, f"be a multiple of C = {self.C}")
        require(self.D > self.C, "D", self.D, f"be above C = {self.C}: two sets at least")
        require(self.d >= 2, "d", self.d, "be at least 2: the noise is orthogonal to the feature")
        require(0 < self.q < 1, "q", self.q, "lie in (0, 1)")

    @property
    def L(self) -> int:
        """The number of sets."""
        return self.D // self.C


@dataclass(frozen=True)
class Architecture:
    """The simplified ViT of eq. (T): activation x**p + nu x, diagonal of A fixed at beta."""

    p: int = option("power of the activation, odd and at least 3")
    nu: float = option("coefficient of the activation's linear part, not negative")
    beta: float = option("fixed diagonal of A")

    def __post_init__(self) -> None:
        require(self.p >= 3 and self.p % 2 == 1, "p", self.p, "be odd and at least 3")
        require(isfinite(self.nu) and self.nu >= 0, "nu", self.nu, "be finite and not negative")
        require(isfinite(self.beta), "beta", self.beta, "be finite")


@dataclass(frozen=True)
class Descent:
    """Full-batch gradient descent on problem (E), one rate for v and one for A."""

    omega: float = option("standard deviation of the initial v and A")
    N: int = option("number of training samples")
    eta_v: float = option("learning rate of v")
    eta_A: float = option("learning rate of A, off the diagonal")
    steps: int = option("most steps of gradient descent", 500)
    every: int = option("steps between two validations", 5)
    patience: int = option("validations without a lower loss after which training stops", 6)
    validation: int = option("number of validation samples", 4000)
    test: int = option("number of test samples", 20_000)

    def __post_init__(self) -> None:
        for name in ("omega", "eta_v", "eta_A"):
            value = getattr(self, name)
            require(isfinite(value) and value > 0, name, value, "be finite and above 0")
        for name in ("N", "steps", "every", "patience", "validation", "test"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "be at least 1")


def check_partition(partition: str) -> None:
    """Raise BadInput unless `partition` is a kind of partition."""
    require(partition in PARTITIONS, "partition", partition, "be one of: " + ", ".join(PARTITIONS))


def check_seeds(seeds: int) -> None:
    """Raise BadInput unless there is at least one seed."""
    require(seeds >= 1, "seeds", seeds, "be at least 1")


def as_columns(*groups: object) -> dict:
    """The fields of settings in one dict, as columns of a table name them."""
    return {name: value for group in groups for name, value in asdict(group).items()}
