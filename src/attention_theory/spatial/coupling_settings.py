"""The settings of the coupling step (experiments 3 and 4) and the conditions on them (no torch)."""

from dataclasses import dataclass
from math import isfinite

from attention_theory import listing
from attention_theory.errors import require
from attention_theory.spatial.population_settings import Path
from attention_theory.step import option


@dataclass(frozen=True)
class Coupling:
    """The idealised process and realistic ones beside it, all for the same number of steps."""

    omega: float = option("standard deviation of v and A at a Gaussian start")
    alpha_0: float = option("v = alpha_0 w* and A = 0 off its diagonal at a symmetric start")
    eta_v: float = option("learning rate of v")
    eta_A: float = option("learning rate of A, off the diagonal")
    steps: int = option("steps of gradient descent; nothing stops earlier")
    every: int = option("steps between two rows of the table")
    target: float = option("error of a population gradient, relative to its absolute terms")
    samples: str = option("list of numbers N of training samples")
    semi: str = option("those of them at which the semi-idealised process is run as well")
    gradient_samples: str = option("list of N at which single gradients are taken")
    probes: str = option("list of steps of the idealised process at which they are taken")

    def __post_init__(self) -> None:
        for name in ("omega", "alpha_0", "eta_v", "eta_A"):
            value = getattr(self, name)
            require(isfinite(value) and value > 0, name, value, "be finite and above 0")
        for name in ("steps", "every"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "be at least 1")
        allowed = "lie between 1e-14 and 0.01"
        require(1e-14 <= self.target <= 0.01, "target", self.target, allowed)
        for name in ("samples", "gradient_samples"):
            require(min(self.of(name)) >= 1, name, getattr(self, name), "hold no number below 1")
        known = set(self.of("semi")) <= set(self.of("samples"))
        require(known, "semi", self.semi, f"name numbers of samples: {self.samples}")
        within = all(0 <= step <= self.steps for step in self.of("probes"))
        require(within, "probes", self.probes, f"hold steps from 0 to {self.steps}")

    def of(self, name: str) -> list[int]:
        """The numbers of one of the lists."""
        return listing.numbers(name, getattr(self, name), int)

    @property
    def path(self) -> Path:
        """The idealised trajectory at the same rates, which never stops early."""
        return Path(
            self.alpha_0, self.eta_v, self.eta_A, self.steps, stop_risk=0, every=self.every, test=1
        )

    def recorded(self, step: int) -> bool:
        """Whether the table has a row for a step."""
        return step % self.every == 0 or step == self.steps


def check_size(C: int) -> None:
    """Raise BadInput for sets of one patch: A has no entries within them, and so no gamma."""
    require(C >= 2, "C", C, "be at least 2")
