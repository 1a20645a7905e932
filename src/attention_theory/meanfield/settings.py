"""The settings of the steps of the residual flow and the conditions on them (no torch)."""

from dataclasses import asdict, dataclass
from math import isfinite

from attention_theory import listing
from attention_theory.errors import require
from attention_theory.step import option


@dataclass(frozen=True)
class Problem:
    """In-context linear regression, and rho_0, the law of the particles at the start."""

    d_x: int = option("dimension of an input x; a column of a prompt is (x, y)")
    n: int = option("columns of a prompt; the last is the query, its y is 0")
    tasks: int = option("prompts that are trained on")
    fresh: int = option("prompts that are not")
    mean: float = option("standard deviation, over seeds, of each entry of rho_0's mean")
    spread: float = option("standard deviation of each entry under rho_0, about its mean")
    neurons: float = option("factor of both for the entries of W1 and W2")

    def __post_init__(self) -> None:
        for name, least in (("d_x", 1), ("n", 2), ("tasks", 1), ("fresh", 1)):
            require(getattr(self, name) >= least, name, getattr(self, name), f"be at least {least}")
        _not_negative(self, "mean")
        _positive(self, "spread")
        _positive(self, "neurons")

    @property
    def D(self) -> int:
        """Rows of a prompt."""
        return self.d_x + 1


@dataclass(frozen=True)
class Descent:
    """The Euler flow theta -= d_tau (L M grad R + decay theta)."""

    d_tau: float = option("time of a step")
    decay: float = option("lambda, of lambda |theta|^2 / 2")
    steps: int = option("steps; nothing stops earlier")

    def __post_init__(self) -> None:
        _positive(self, "d_tau")
        _not_negative(self, "decay")
        require(self.steps >= 1, "steps", self.steps, "be at least 1")

    def tau(self, step: int) -> float:
        """The time after a number of steps, without the digits of rounding."""
        return round(step * self.d_tau, 9)


@dataclass(frozen=True)
class Gap:
    """B1: the discrete transformer against its limits in depth and in width."""

    K: int = option("atoms of rho_0")
    depths: str = option("list of L, at M = infinity, held against the limit in depth")
    limit: int = option("the limit in depth is extrapolated from this L and twice it")
    width_depths: str = option("list of L at which widths are varied; the limit's L or of depths")
    widths: str = option("list of M, held against M = infinity at the same L")

    def __post_init__(self) -> None:
        _at_least(self, K=1, limit=1)
        two = len(listing.counts("widths", self.widths)) >= 2
        require(two, "widths", self.widths, "hold two widths or more")
        below = min(listing.counts("depths", self.depths)) < self.limit
        require(below, "depths", self.depths, f"hold a depth below the limit's {self.limit}")
        known = {*listing.counts("depths", self.depths), self.limit, 2 * self.limit}
        allowed = f"name depths that are run at M = infinity: {', '.join(map(str, sorted(known)))}"
        within = set(listing.counts("width_depths", self.width_depths)) <= known
        require(within, "width_depths", self.width_depths, allowed)


@dataclass(frozen=True)
class Widths:
    """B5 (b): attention and MLP of widths of their own."""

    K: int = option("atoms of rho_0")
    L: int = option("layers")
    widths: str = option("list of widths of either; infinity is run besides")

    def __post_init__(self) -> None:
        _at_least(self, K=1, L=1)
        listing.counts("widths", self.widths)


@dataclass(frozen=True)
class Horizon:
    """B5 (a): the gap to the limit in depth and width over a long time."""

    K: int = option("atoms of rho_0")
    sizes: str = option("list of sizes LxM; each L divides the limit's")
    limit: int = option("the limit is extrapolated from this L and twice it, at M = infinity")
    every: int = option("steps between two rows of the table")

    def __post_init__(self) -> None:
        _at_least(self, K=1, limit=1, every=1)
        divide = all(self.limit % L == 0 for L, _ in listing.sizes("sizes", self.sizes))
        require(divide, "sizes", self.sizes, f"hold L that divide the limit's {self.limit}")


@dataclass(frozen=True)
class Risk:
    """B2: the risk that training ends with, over sizes and over the decay."""

    sizes: str = option("list of sizes LxM")
    decays: str = option("list of decays (lambda), each at every size")
    sweep_size: str = option("the size LxM at which more decays are run")
    sweep: str = option("list of those decays")
    every: int = option("steps between two rows of the table")

    def __post_init__(self) -> None:
        _at_least(self, every=1)
        listing.sizes("sizes", self.sizes)
        one = len(listing.sizes("sweep_size", self.sweep_size)) == 1
        require(one, "sweep_size", self.sweep_size, "be one size like 2x8")
        for name in ("decays", "sweep"):
            values = listing.numbers(name, getattr(self, name))
            require(min(values) >= 0, name, getattr(self, name), "hold no number below 0")

    def cells(self) -> list[tuple[int, int, float]]:
        """(L, M, decay) of every training, none twice."""
        pairs = (("sizes", "decays"), ("sweep_size", "sweep"))
        cells = [
            (*size, decay)
            for sizes, decays in pairs
            for size in listing.sizes(sizes, getattr(self, sizes))
            for decay in listing.numbers(decays, getattr(self, decays))
        ]
        return list(dict.fromkeys(cells))


def check_seeds(seeds: int) -> None:
    """Raise BadInput unless there is a seed."""
    require(seeds >= 1, "seeds", seeds, "be at least 1")


def as_columns(*settings: object) -> dict[str, object]:
    """The fields of settings as columns of a table, lists left out."""
    fields = {name: value for one in settings for name, value in asdict(one).items()}
    return {name: value for name, value in fields.items() if not isinstance(value, str)}


def _at_least(settings: object, **least: int) -> None:
    for name, bound in least.items():
        value = getattr(settings, name)
        require(value >= bound, name, value, f"be at least {bound}")


def _positive(settings: object, name: str) -> None:
    value = getattr(settings, name)
    require(isfinite(value) and value > 0, name, value, "be finite and above 0")


def _not_negative(settings: object, name: str) -> None:
    value = getattr(settings, name)
    require(isfinite(value) and value >= 0, name, value, "be finite and at least 0")
