"""The settings of the audit and of the search for Lipschitz constants (no torch)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from attention_theory import listing
from attention_theory.errors import require, within
from attention_theory.step import option


class Size(NamedTuple):
    """D features, N + 1 tokens (of the proposition; the MLP has hidden width D)."""

    D: int
    N: int


@dataclass(frozen=True)
class Search:
    """How much is searched for a violation of each statement."""

    sizes: str = option("list of sizes DxN (features, tokens less one), e.g. 1x1,2x2")
    seeds: int = option("number of seeds: 0, 1, ...")
    draws: int = option("random draws for each statement, size and seed")
    starts: int = option("starts of gradient ascent for each statement, size and seed")
    steps: int = option("steps of gradient ascent")

    def __post_init__(self) -> None:
        for name in ("seeds", "draws", "starts", "steps"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "be at least 1")
        require(self.starts <= self.draws, "starts", self.starts, f"be at most draws, {self.draws}")
        self.all_sizes()

    def all_sizes(self) -> list[Size]:
        """The sizes, smallest first: counterexamples are looked for in this order."""
        sizes = []
        for word in self.sizes.split(","):
            D, _, N = word.partition("x")
            whole = all(part.isascii() and part.isdigit() and 1 <= int(part) for part in (D, N))
            require(whole, "sizes", self.sizes, "be sizes DxN like 1x1,2x4, from 1 upwards")
            sizes.append(Size(int(D), int(N)))
        require(len(set(sizes)) == len(sizes), "sizes", self.sizes, "name no size twice")
        most = max(size.D * (size.N + 1) for size in sizes)
        require(most <= 64, "sizes", self.sizes, "have at most 64 entries D (N + 1) each")
        return sorted(sizes, key=lambda size: (size.D * (size.N + 1), size))


@dataclass(frozen=True)
class Lipschitz:
    """How much is searched for the largest |J| of softmax, l2 and l1 attention (B5(c))."""

    dimensions: str = option("list of numbers of features D")
    tokens: str = option("list of numbers of tokens, for gradient ascent")
    many: str = option("list of numbers of tokens, for the explicit families")
    norms: str = option("list of |T|_F at which softmax attention is searched")
    starts: int = option("starts of gradient ascent, a seed")
    steps: int = option("steps of gradient ascent")
    seeds: int = option("number of seeds: 0, 1, ...")

    def __post_init__(self) -> None:
        for name in ("starts", "steps", "seeds"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "be at least 1")
        for name, least in (("dimensions", 2), ("tokens", 2), ("many", 2), ("norms", 0.01)):
            kind = float if name == "norms" else int
            values = listing.numbers(name, getattr(self, name), kind)
            require(min(values) >= least, name, getattr(self, name), f"hold {least} or more only")
        D, n = max(self.of("dimensions")), max(self.of("tokens"))
        require(D * n <= 256, "tokens", self.tokens, "have at most 256 entries with the largest D")
        require(max(self.of("many")) <= 4096, "many", self.many, "hold at most 4096")

    def of(self, name: str) -> list[int]:
        """The whole numbers of a list, ascending."""
        return sorted(listing.numbers(name, getattr(self, name), int))

    def all_norms(self) -> list[float]:
        """The norms, ascending."""
        return sorted(listing.numbers("norms", self.norms))


def options(section: Mapping) -> dict[str, dict]:
    """The options of both steps from the configuration's section; checked, in one line a fault."""
    found = {}
    for step, settings in (("search", Search), ("lipschitz", Lipschitz)):
        own = {
            key: ",".join(map(str, value)) if isinstance(value, list | tuple) else value
            for key, value in section[step].items()
        }
        with within(f"config key meanfield.bounds.{step}"):
            settings(**own)
        found[step] = own
    return found
