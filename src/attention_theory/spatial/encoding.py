"""How positional encodings P start: the kinds that are trained (no torch)."""

from dataclasses import dataclass
from math import isfinite

import numpy as np

from attention_theory.errors import require
from attention_theory.spatial.settings import Architecture
from attention_theory.step import option

PARAMETRISATIONS = ("orthonormal", "gaussian")
DIAGONALS = ("free", "fixed")
NAMES = "<parametrisation>-<diagonal>-<m>, such as orthonormal-free-50 or gaussian-fixed-5"


@dataclass(frozen=True)
class Fixed:
    """What is needed where A's diagonal is fixed at beta and says nothing of the encodings."""

    size: float = option("|P_i|^2 at the start where A's diagonal is fixed (where free: beta)")
    cap: float = option("most that an entry of A moves in a step, diagonal fixed; 0: no cap")

    def __post_init__(self) -> None:
        require(isfinite(self.size) and self.size > 0, "size", self.size, "be finite and above 0")
        require(isfinite(self.cap) and self.cap >= 0, "cap", self.cap, "be finite and not negative")


@dataclass(frozen=True)
class Encoding:
    """P orthonormal or gaussian, A's diagonal free (P's own) or fixed, m numbers a patch."""

    parametrisation: str
    diagonal: str
    m: int

    @property
    def name(self) -> str:
        """What `parse` reads."""
        return f"{self.parametrisation}-{self.diagonal}-{self.m}"

    @property
    def free(self) -> bool:
        """Whether P makes the diagonal of A too."""
        return self.diagonal == "free"

    def draw(self, D: int, size: float, noise: float, rng: np.random.Generator) -> np.ndarray:
        """P (m, D) float32: Gaussian with |P_i|^2 = `size` in the mean, or orthonormal vectors of
        that squared length plus Gaussian `noise` (a standard deviation).

        Neither the dynamics nor the noise's law change when P is rotated: the first D unit vectors
        stand for any orthonormal encodings.
        """
        gaussian = rng.standard_normal((self.m, D), dtype=np.float32)
        if self.parametrisation == "gaussian":
            return np.float32(np.sqrt(size / self.m)) * gaussian
        unit = np.eye(self.m, D, dtype=np.float32)
        return np.float32(np.sqrt(size)) * unit + np.float32(noise) * gaussian


def parse(name: str, D: int) -> Encoding:
    """The encoding of D patches called e.g. `gaussian-free-200`.

    Raises BadInput for another name, and for orthonormal encodings with m < D.
    """
    words = name.split("-")
    known = len(words) == 3 and words[0] in PARAMETRISATIONS and words[1] in DIAGONALS
    known = known and words[2].isdecimal() and int(words[2]) >= 1
    require(known, "encodings", name, f"read {NAMES}")
    encoding = Encoding(words[0], words[1], int(words[2]))
    fits = encoding.parametrisation != "orthonormal" or encoding.m >= D
    require(fits, "encodings", name, f"have an m of at least D = {D}: it is orthonormal")
    return encoding


def parse_all(names: str, D: int, architecture: Architecture) -> list[Encoding]:
    """The encodings of a list such as `orthonormal-free-50,gaussian-fixed-5`.

    Raises BadInput for a bad name, a repeated one, or a free diagonal with beta <= 0: beta is then
    the squared length of the encodings.
    """
    encodings = [parse(name, D) for name in names.split(",")]
    require(len(set(encodings)) == len(encodings), "encodings", names, "name no encoding twice")
    positive = architecture.beta > 0 or not any(encoding.free for encoding in encodings)
    require(positive, "beta", architecture.beta, "be above 0 where the diagonal is free")
    return encodings
