"""Expectations over the data of problem (P): one interface, three methods."""

from typing import Protocol

from attention_theory.spatial.fourier import Fourier
from attention_theory.spatial.histograms import Enumeration, MonteCarlo
from attention_theory.spatial.population_settings import Method, Point, Sets
from attention_theory.spatial.reduced import Gradient
from attention_theory.spatial.settings import Architecture
from attention_theory.streams import stream


class Expectation(Protocol):
    """The expectation over the data of the simplified ViT's loss, by any method."""

    def gradient(self, point: Point) -> Gradient:
        """The population risk and its derivatives at a point. Raises BadInput beyond its reach."""


def expectation(
    sets: Sets, architecture: Architecture, method: Method, base_seed: int
) -> Expectation:
    """The expectation that `method` names: all histograms, a quadrature, or a common sample.

    Raises BadInput, naming the other methods, where there are too many histograms.
    """
    if method.method == "exact":
        return Enumeration(sets, architecture)
    if method.method == "fourier":
        return Fourier(sets, architecture, method.target)
    rng = stream(base_seed, "spatial.population", sets.D, sets.C)
    return MonteCarlo(sets, architecture, method.samples, rng)
