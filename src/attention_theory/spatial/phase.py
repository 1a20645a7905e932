"""The phase step (experiment 2): where the idealised process ends, over (beta, q D).

It descends on a common sample, which is fast; the risk where it ends is integrated.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from threadpoolctl import threadpool_limits

from attention_theory import step, tables
from attention_theory.errors import within
from attention_theory.progress import Progress
from attention_theory.spatial.exact import perturbed_weights_error
from attention_theory.spatial.expectation import expectation
from attention_theory.spatial.fourier import Fourier
from attention_theory.spatial.idealised import descend
from attention_theory.spatial.phase_settings import PHASE_COLUMNS, Phase
from attention_theory.spatial.population_settings import SEPARATED, Method, Point, Sets
from attention_theory.spatial.settings import Architecture, Distribution

TARGET = 1e-6  # of the risk at the end


def main(
    phase: Phase,
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a cell")],
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Descend on the population risk for every (beta, q D), to a fixed number of steps."""
    method, path = Method("monte-carlo", samples=phase.samples), phase.path()
    rates = {name: getattr(path, name) for name in ("alpha_0", "eta_v", "eta_A", "steps")}
    cells = phase.cells()
    rows = []
    with (
        step.record(provenance, "spatial.phase", base_seed=base_seed, threads=threads),
        threadpool_limits(threads),
        Progress("spatial.phase", len(cells)) as progress,
    ):
        for sets, architecture in cells:
            q_D = sets.q * sets.D
            with within(f"beta {architecture.beta:g}, q D {q_D:g}"):
                *_, last = descend(expectation(sets, architecture, method, base_seed), path)
                end = Fourier(sets, architecture, TARGET).gradient(last.point)
            found = {
                "q_D": q_D,
                **asdict(last.point),
                "risk": end.risk,
                "risk_error": end.errors[0],
                "patch_association": patch_association(sets, architecture, last.point),
                "linear_error": perturbed_weights_error(
                    Distribution(sets.D, sets.C, d=2, q=sets.q)
                ),
            }
            rows.append(asdict(sets) | asdict(architecture) | rates | found)
            progress.advance(f"beta {architecture.beta:g}, q D {q_D:g}: risk {end.risk:.3g}")
        tables.write(table, rows, PHASE_COLUMNS)


def patch_association(sets: Sets, architecture: Architecture, point: Point) -> float:
    """The share of associated rows of the three-valued A: all or none (Definition 2.2).

    What rounding leaves of the gradient that vanishes at beta = 0 (1e-12) is no association.
    """
    weakest_own = min(architecture.beta, point.gamma) if sets.C > 1 else architecture.beta
    return float(weakest_own > point.rho + SEPARATED)


if __name__ == "__main__":
    step.run(main)
