"""The methods step (experiment 2): error and work of each way to take the expectation, against D.

At fixed q D and D alpha. The work is counted in multiplications and additions from the sizes of the
arrays, so that the table does not depend on the machine; benchmarks/ measures seconds.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from threadpoolctl import threadpool_limits

from attention_theory import devices, step, tables
from attention_theory.progress import Progress
from attention_theory.spatial.fourier import Fourier
from attention_theory.spatial.histograms import (
    MOST_STATES,
    Enumeration,
    Histograms,
    MonteCarlo,
    number_of_states,
)
from attention_theory.spatial.phase_settings import METHODS_COLUMNS, Scale
from attention_theory.spatial.population_settings import Point, Sets
from attention_theory.spatial.reduced import Gradient, per_entry
from attention_theory.spatial.settings import Architecture
from attention_theory.streams import stream

TERMS = 4  # numbers a type that a histogram sums: F and three derivatives
COMPLEX = 4  # real operations a complex one, about


def main(
    scale: Scale,
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a method at a D")],
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Evaluate one population gradient at every D by every method that reaches it."""
    devices.prepare(0, threads)
    architecture = Architecture(scale.p, scale.nu, scale.beta)
    points = scale.points()
    rows = []
    with (
        step.record(provenance, "spatial.methods", base_seed=base_seed, threads=threads),
        threadpool_limits(threads),
        Progress("spatial.methods", len(points)) as progress,
    ):
        for sets, point in points:
            reference = Fourier(sets, architecture, scale.finest).gradient(point)
            common = {**asdict(sets), **asdict(architecture), "alpha_D": scale.alpha_D}
            common |= {"gamma": point.gamma, "rho": point.rho}
            for method, work, found in _by_method(scale, sets, architecture, point, base_seed):
                measured = dict(zip("risk d_alpha d_gamma d_rho".split(), found, strict=False))
                measured |= {
                    "reported": _largest(found.errors, reference.scales),
                    "difference": _largest(np.subtract(found[:4], reference[:4]), reference.scales),
                }
                rows.append(common | measured | {"method": method, "work": work})
            progress.advance(f"D {sets.D}")
        tables.write(table, rows, METHODS_COLUMNS)


def _by_method(
    scale: Scale, sets: Sets, architecture: Architecture, point: Point, base_seed: int
) -> list[tuple[str, float, Gradient]]:
    """(method, work, gradient) for each method that reaches this D."""
    found = []
    if number_of_states(sets) <= MOST_STATES:
        enumeration = Enumeration(sets, architecture)
        # It sums the absolute values too.
        found.append(("exact", 2 * _histogram_work(enumeration), enumeration.gradient(point)))
    fourier = Fourier(sets, architecture, scale.target)
    gradient = fourier.gradient(point)
    # A product with the 2 C + 1 powers of x before the power of g, and one after.
    work = fourier.evaluations * 2 * (2 * sets.C + 1) * 2 * COMPLEX
    found.append(("fourier", float(work), gradient))
    rng = stream(base_seed, "spatial.methods", sets.D)
    sample = MonteCarlo(sets, architecture, scale.samples, rng)
    found.append(("monte-carlo", _histogram_work(sample), sample.gradient(point)))
    if sets.D <= scale.full:
        # X v is one product a patch here; S (u), its transpose and u dx are n D^2 each.
        work = 2.0 * 3 * scale.samples * sets.D**2
        found.append(("full model", work, full(sample, point)))
    return found


def _histogram_work(histograms: Histograms) -> float:
    return 2.0 * histograms.counts.size * TERMS


def full(sample: MonteCarlo, point: Point) -> Gradient:
    """The full D x D model's gradient on the patterns of a sample, averaged over A's entries."""
    import torch

    from attention_theory.spatial import model

    sets, architecture = sample.sets, sample.architecture
    z = torch.from_numpy(sample.patterns()).double()
    partition = torch.arange(sets.D) // sets.C
    same = partition[:, None] == partition
    A = point.rho + (point.gamma - point.rho) * same.double()
    A.fill_diagonal_(architecture.beta)
    v = torch.tensor([point.alpha], dtype=torch.float64)
    found = model.gradients(z[..., None], torch.ones(len(z)).double(), v, A, architecture)
    within = same.double().fill_diagonal_(0)
    summed = [found.loss, found.v[0], (found.A * within).sum(), (found.A * ~same).sum()]
    values = np.array([float(value) for value in summed])
    missing = (float("nan"),) * 4
    return Gradient(*per_entry(sets, values), missing, missing)


def _largest(errors: np.ndarray, scales: tuple[float, ...]) -> float:
    """The largest error relative to the sums of absolute terms."""
    return max(abs(error) / scale for error, scale in zip(errors, scales, strict=True) if scale > 0)


if __name__ == "__main__":
    step.run(main)
