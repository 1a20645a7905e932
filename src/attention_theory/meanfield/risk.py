"""The risk step (experiment B2): what training ends with, over sizes (L, M) and over the decay.

M particles a layer, drawn independently from a rho_0 with a density, each a parameter of its own.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from threadpoolctl import threadpool_limits

from attention_theory import step, tables
from attention_theory.errors import within
from attention_theory.meanfield import columns, descent, drawing, settings
from attention_theory.meanfield.model import Flow, Particles, Weights
from attention_theory.meanfield.settings import Descent, Problem, Risk
from attention_theory.progress import Progress


def norm(particles: Particles) -> np.ndarray:
    """The root mean square (S,) of |(theta, w)| over layers and particles."""
    squared = particles.map(lambda array: (array**2).mean(axis=(1, 2)).reshape(len(array), -1))
    return np.sqrt(sum(array.sum(axis=1) for array in squared))


def main(
    problem: Problem,
    risk: Risk,
    d_tau: Annotated[float, typer.Option(help="time of a step")],
    steps: Annotated[int, typer.Option(help="steps; nothing stops earlier")],
    seeds: Annotated[int, typer.Option(help="number of seeds: 0, 1, ...")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a size, decay, time and seed")],
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Follow the risk of transformers of several sizes and decays."""
    settings.check_seeds(seeds)
    cells = [(L, M, Descent(d_tau, decay, steps)) for L, M, decay in risk.cells()]
    key = (base_seed, seeds)
    train, fresh = (drawing.tasks(*key, problem, kind) for kind in ("train", "fresh"))
    common = settings.as_columns(problem) | {"d_tau": d_tau, "steps": steps}
    rows = []
    with (
        step.record(
            provenance, "meanfield.risk", base_seed=base_seed, seeds=range(seeds), threads=threads
        ),
        threadpool_limits(threads),
        Progress("meanfield.risk", len(cells)) as progress,
    ):
        for L, M, flow in cells:
            place = f"L {L}, M {M}, decay {flow.decay:g}"
            weights = Weights(*[np.full((seeds, L, M), 1 / M)] * 2)
            start = drawing.particles(*key, problem, L, M)
            held_out = Flow(fresh, L, M)
            with within(place):
                for state in descent.descend(Flow(train, L, M), start, weights, flow):
                    if state.step % risk.every and state.step != steps:
                        continue
                    measured = {
                        "risk": descent.risk(state.predictions, train.target),
                        "fresh_risk": descent.risk(
                            held_out.predict(state.particles, weights), fresh.target
                        ),
                        "norm": norm(state.particles),
                    }
                    at = {"L": L, "M": M, "decay": flow.decay, "tau": flow.tau(state.step)}
                    rows += [
                        common | at | {"seed": seed} | {k: v[seed] for k, v in measured.items()}
                        for seed in range(seeds)
                    ]
            progress.advance(place)
        tables.write(table, rows, columns.RISK)


if __name__ == "__main__":
    step.run(main)
