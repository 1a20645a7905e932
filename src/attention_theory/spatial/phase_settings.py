"""The settings of the phase diagram and of the methods' comparison (no torch)."""

from dataclasses import dataclass

from attention_theory import listing
from attention_theory.errors import require
from attention_theory.spatial.population_settings import Path, Point, Sets
from attention_theory.spatial.settings import Architecture
from attention_theory.step import option

PHASE_COLUMNS = (
    "D C q p nu beta alpha_0 eta_v eta_A steps q_D alpha gamma rho risk risk_error "
    "patch_association linear_error"
).split()
METHODS_COLUMNS = (
    "method D C q p nu beta alpha_D gamma rho work risk d_alpha d_gamma d_rho reported difference"
).split()


@dataclass(frozen=True)
class Phase:
    """A descent a cell of (beta, q D), on a common sample."""

    D: int = option("number of patches")
    C: int = option("size of a set of the partition")
    p: int = option("power of the activation")
    nu: float = option("coefficient of the activation's linear part")
    betas: str = option("list of diagonals beta, parted by commas")
    q_Ds: str = option("list of expected numbers of spurious features q D, parted by commas")
    alpha_0: float = option("initial alpha")
    eta_v: float = option("learning rate of v")
    eta_A: float = option("learning rate of A, off the diagonal")
    steps: int = option("steps of gradient descent")
    samples: int = option("patterns of the common sample")

    def __post_init__(self) -> None:
        require(self.samples >= 2, "samples", self.samples, "be at least 2")
        self.cells()
        self.path()

    def cells(self) -> list[tuple[Sets, Architecture]]:
        """The setting of each cell. Raises BadInput for a list that is none."""
        betas = listing.numbers("betas", self.betas)
        q_Ds = listing.numbers("q_Ds", self.q_Ds)
        for q_D in q_Ds:
            require(0 < q_D < self.D, "q_Ds", q_D, f"lie in (0, D), D = {self.D}")
        return [
            (Sets(self.D, self.C, q_D / self.D), Architecture(self.p, self.nu, beta))
            for q_D in q_Ds
            for beta in betas
        ]

    def path(self) -> Path:
        """The descent of every cell; it takes all its steps."""
        return Path(self.alpha_0, self.eta_v, self.eta_A, self.steps, 0.0, self.steps, 1)


@dataclass(frozen=True)
class Scale:
    """One point at fixed q D and D alpha, by every method that reaches it, at each D."""

    sizes: str = option("list of numbers of patches D, parted by commas")
    C: int = option("size of a set of the partition")
    q_D: float = option("expected number of spurious features q D")
    p: int = option("power of the activation")
    nu: float = option("coefficient of the activation's linear part")
    beta: float = option("fixed diagonal of A")
    alpha_D: float = option("alpha D")
    gamma: float = option("entry of A within a set, off the diagonal")
    rho: float = option("entry of A across sets")
    target: float = option("error aimed at by the quadrature")
    finest: float = option("error aimed at by the quadrature that others are held against")
    samples: int = option("patterns of the common sample")
    full: int = option("largest D at which the full D x D model is evaluated on the sample")

    def __post_init__(self) -> None:
        require(self.samples >= 2, "samples", self.samples, "be at least 2")
        require(self.full >= 0, "full", self.full, "not be negative")
        require(self.finest < self.target, "finest", self.finest, f"be below {self.target}")
        Architecture(self.p, self.nu, self.beta)
        self.points()

    def points(self) -> list[tuple[Sets, Point]]:
        """The law and the point at each D. Raises BadInput for a list that is none."""
        sizes = listing.numbers("sizes", self.sizes, int)
        for D in sizes:
            require(0 < self.q_D < D, "q_D", self.q_D, f"lie in (0, D), D = {D}")
        return [
            (Sets(D, self.C, self.q_D / D), Point(self.alpha_D / D, self.gamma, self.rho))
            for D in sizes
        ]
