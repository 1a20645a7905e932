"""The idealised problem (P): a population gradient at a point, and whole trajectories.

`gradient` prints one gradient as a JSON line; `trajectories` is the step of experiment 2.
"""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from threadpoolctl import threadpool_limits

from attention_theory import step, tables
from attention_theory.errors import BadInput, within
from attention_theory.progress import Progress
from attention_theory.spatial import population_settings
from attention_theory.spatial.expectation import expectation
from attention_theory.spatial.histograms import check_states
from attention_theory.spatial.idealised import TestSample, descend
from attention_theory.spatial.population_columns import POPULATION
from attention_theory.spatial.population_settings import Method, Point, Sets, Trajectory
from attention_theory.spatial.settings import Architecture


def gradient(
    sets: Sets,
    architecture: Architecture,
    point: Point,
    method: Method,
    base_seed: step.BaseSeed = 1,
    threads: step.Threads = 1,
) -> None:
    """Print risk, d_alpha, d_gamma, d_rho (the last two per entry) at a point as a JSON line.

    With the absolute error of each: rounding (exact), a bound (fourier), a standard error
    (monte-carlo).
    """
    start = time.perf_counter()
    with threadpool_limits(threads):
        found = expectation(sets, architecture, method, base_seed).gradient(point)
    seconds = time.perf_counter() - start
    names = "risk d_alpha d_gamma d_rho".split()
    values = dict(zip(names, found[:4], strict=True))
    errors = {f"{name}_error": error for name, error in zip(names, found.errors, strict=True)}
    print(json.dumps(values | errors | {"method": method.method, "seconds": seconds}))


def trajectories(
    settings: Annotated[
        str, typer.Option(help="JSON: by trajectory's name, its settings by their names")
    ],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a step of a trajectory")],
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Descend on the population risk from every configured start."""
    named = _parse(settings)
    rows = []
    with (
        step.record(provenance, "spatial.population", base_seed=base_seed, threads=threads),
        threadpool_limits(threads),
    ):
        for name, trajectory in named.items():
            with within(f"trajectory {name}"):
                rows += _run(name, trajectory, base_seed)
        tables.write(table, rows, POPULATION)


def _parse(settings: str) -> dict[str, Trajectory]:
    try:
        named = json.loads(settings, parse_int=_whole)
    except ValueError as error:
        raise BadInput(f"settings: no JSON ({error})") from None
    if not (isinstance(named, dict) and all(isinstance(each, dict) for each in named.values())):
        raise BadInput("settings: it must be a JSON object of objects, one a trajectory")
    found = {}
    for name, own in named.items():
        with within(f"trajectory {name}"):
            found[name] = population_settings.trajectory(own)
            if found[name].method.method == "exact":
                check_states(found[name].sets)
    return found


def _whole(text: str) -> int | float:
    """A whole number of JSON; one beyond 64 bits as a float, infinite beyond any float."""
    return int(text) if len(text) < 19 else float(text)


def _run(name: str, trajectory: Trajectory, base_seed: int) -> list[dict]:
    """The rows of one trajectory; a test error at every `every`-th step and at the last."""
    sets, architecture, method, path = trajectory
    how = expectation(sets, architecture, method, base_seed)
    test = TestSample(sets, architecture, path.test, base_seed)
    common = {
        "trajectory": name,
        **asdict(sets),
        **asdict(architecture),
        **{key: getattr(path, key) for key in ("alpha_0", "eta_v", "eta_A")},
        "method": method.method,
    }
    rows: list[dict] = []
    blank = dict.fromkeys("error error_low error_high error_method".split())
    with Progress(f"spatial.population {name}", path.steps) as progress:
        for state in descend(how, path):
            found = state.gradient
            rows.append(
                common
                | {"step": state.step, **asdict(state.point), "risk": found.risk}
                | {"d_gamma_error": found.errors[2], "d_rho_error": found.errors[3]}
                | blank
            )
            if state.step % path.every == 0:
                rows[-1] |= test.error(state.point)._asdict()
                progress.advance(f"risk {found.risk:.3g}", state.step - progress.done)
        rows[-1] |= test.error(state.point)._asdict()
    return rows


if __name__ == "__main__":
    step.run(gradient, trajectories)
