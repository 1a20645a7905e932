"""What a run will cost, before anyone submits it: a row a study.

    python -m attention_theory.plan --config config/paper.yaml
    python -m attention_theory.plan --config config/paper.yaml --tflops 40

The jobs are those of a dry run. What each computes is counted from its options (<study>/work.py)
and turned into seconds by the throughput of a finished run, step by step, or where there is none of
a second here. docs/plan.md says what is counted and how good it was.
"""

import math
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from attention_theory import config, planning, step
from attention_theory.errors import require
from attention_theory.planning import Finished, Job, Work

SHARE = 0.2  # of a large matrix product's speed that steps reach on a CPU, as a rule
TRUST = 3.0  # seconds of work of one step that say as much of its speed as that rule does
UNKNOWN = {"startup": 3.0, "small": 2.0, "memory": 700 * 2**20, "disk": 1e5}  # of a job, likewise
FEWEST = 3  # jobs of one step that can show a spread


class Throughput(NamedTuple):
    """What jobs of one step take: seconds before the work and an operation, or (of a step that
    nobody counts) in all; memory beside the arrays, and bytes left on the disk."""

    startup: float
    an_operation: float
    whole: float
    memory: float
    disk: float
    gpu: bool = False


class Cost(NamedTuple):
    """What a job, or several, will take: hours, bytes; `counted` is how many were counted."""

    gpu_hours: float
    cpu_hours: float
    disk: float
    scratch: float
    memory: float


def main(
    configuration: Annotated[
        str,
        typer.Option("--config", envvar="CONFIG", help="laid over config/config.yaml"),
    ] = "",
    run: Annotated[
        Path | None,
        typer.Option(help="results folder of a finished run; default: the newest in results/"),
    ] = None,
    tflops: Annotated[
        float,
        typer.Option(envvar="TFLOPS", help="sustained TFLOP/s of a GPU, for steps that can"),
    ] = 0.0,
) -> None:
    """Print jobs, GPU and CPU hours, disk and memory of a run, a row a study."""
    require(math.isfinite(tflops) and tflops >= 0, "tflops", tflops, "be finite and not negative")
    path = Path(configuration) if configuration else None
    if path:
        config.read(path)
    run = run or _newest()
    measured = planning.finished(run) if run else []
    jobs = planning.planned(path)
    print(table(jobs, costs(jobs, measured, tflops)))
    print("\n".join(remarks(jobs, measured, run, tflops)))


def costs(jobs: Sequence[Job], measured: Sequence[Finished], tflops: float = 0.0) -> list[Cost]:
    """What each job will take, by the throughput of a finished run's jobs (or of this machine)."""
    known, other = throughputs(measured)
    return [
        _cost(job, work, known.get(job.kind, other), tflops)
        for job, work in zip(jobs, planning.works(jobs), strict=True)
    ]


def throughputs(
    measured: Sequence[Finished],
) -> tuple[Mapping[tuple[str, str], Throughput], Throughput]:
    """By study and step; and for those that the finished run did not have."""
    usual = 1 / (SHARE * _product_speed())
    if not measured:
        return {}, Throughput(UNKNOWN["startup"], usual, *list(UNKNOWN.values())[1:])
    groups: dict[tuple[str, str], list[tuple[Finished, Work | None]]] = {}
    done = list(zip(measured, planning.works([one.job for one in measured]), strict=True))
    for one, work in done:
        groups.setdefault(one.job.kind, []).append((one, work))
    small = [one for one in done if one[1] is None]
    whole = _throughput(small, usual).whole if small else 0.0
    return (
        {kind: _throughput(group, usual) for kind, group in groups.items()},
        _throughput(done, usual)._replace(whole=whole),
    )


def _throughput(group: Sequence[tuple[Finished, Work | None]], usual: float) -> Throughput:
    """Of jobs of one step: seconds are CPU seconds, or a clock's where the step was on a GPU.

    A second an operation is what was measured, mixed with the `usual` one: of short jobs the time
    is mostly first calls, which count as `startup`.
    """
    gpu = any(one.gpu for one, _ in group)
    seconds = [one.seconds if gpu else one.cpu_seconds for one, _ in group]
    counted = [
        (i, work.operations) for i, (_, work) in enumerate(group) if work and work.operations
    ]
    operations = sum(number for _, number in counted)
    working = sum(seconds[i] - group[i][0].startup_cpu_seconds for i, _ in counted)
    trust = 0.0 if gpu else TRUST  # the usual speed is a CPU's
    speed = (max(working, 0) + trust) / (operations + trust / usual) if counted else usual
    startup = _mean([one.startup_cpu_seconds for one, _ in group])
    first = (working - operations * speed) / len(counted) if counted else 0.0
    return Throughput(
        startup=startup + max(first, 0.0),
        an_operation=speed,
        whole=_mean(seconds),
        memory=max(max(one.memory - (work.memory if work else 0), 0) for one, work in group),
        disk=_mean([one.disk for one, _ in group]),
        gpu=gpu,
    )


def _cost(job: Job, work: Work | None, known: Throughput, tflops: float) -> Cost:
    on_gpu = "gpu" in job.options and (known.gpu or bool(tflops and work))
    an_operation = 1e-12 / tflops if on_gpu and tflops else known.an_operation
    seconds = known.whole
    if work and work.operations:
        seconds = known.startup + work.operations * an_operation
    disk = known.disk if work is None or work.disk is None else work.disk
    hours = seconds / 3600
    return Cost(
        gpu_hours=hours if on_gpu else 0.0,
        cpu_hours=0.0 if on_gpu else hours,
        disk=disk,
        scratch=work.scratch if work else 0.0,
        memory=known.memory + (work.memory if work else 0.0),
    )


def total(costs: Sequence[Cost]) -> Cost:
    """Of jobs one after the other: hours and what is left add up, the largest decides the rest."""
    sums = (sum(values) for values in zip(*(cost[:3] for cost in costs), strict=True))
    return Cost(*sums, *(max(values) for values in zip(*(cost[3:] for cost in costs), strict=True)))


def table(jobs: Sequence[Job], costs: Sequence[Cost]) -> str:
    """The plan as text: a row a study and their total."""
    studies: dict[str, list[Cost]] = {}
    for job, cost in zip(jobs, costs, strict=True):
        studies.setdefault(job.study, []).append(cost)
    rows = [(study, len(own), total(own)) for study, own in sorted(studies.items())]
    rows.sort(key=lambda row: row[0] == planning.ALL)
    rows.append(("total", len(costs), total(costs)))
    head = ("study", "jobs", "GPU hours", "CPU hours", "disk GB", "memory GB")
    lines = [head, *(_row(*row) for row in rows)]
    return "\n".join(
        f"{line[0]:<10}" + "".join(f"{cell:>11}" for cell in line[1:]) for line in lines
    )


def _row(study: str, jobs: int, cost: Cost) -> tuple[str, ...]:
    disk = (cost.disk + cost.scratch) / 1e9
    numbers = (cost.gpu_hours, cost.cpu_hours, disk, cost.memory / 1e9)
    return (study, str(jobs), *map(_short, numbers))


def _short(number: float) -> str:
    """Two digits, for no more are known."""
    if number == 0:
        return "-"
    digits = 1 - math.floor(math.log10(abs(number)))
    return f"{round(number, digits):,.{max(digits, 0)}f}"


def remarks(
    jobs: Sequence[Job], measured: Sequence[Finished], run: Path | None, tflops: float
) -> list[str]:
    """Where the throughput is from, how far it scatters, and what was not counted."""
    lines = [""]
    if measured:
        lines.append(f"An estimate, by the throughput of {run} ({len(measured)} jobs).")
        lines.append(_spread(measured))
        lines += _beyond(jobs, measured)
    else:
        lines.append(
            "A guess, by a matrix product's speed here: there is no finished run, and steps are "
            f"taken to reach {SHARE:g} of it. Expect a factor of ten either way; make figures "
            "CONFIG=config/smoke.yaml first."
        )
    if tflops:
        lines.append(f"GPU hours: at {tflops:g} TFLOP/s, as given; steps that can use a GPU do.")
    uncounted = sorted(
        {
            ".".join(job.kind)
            for job, work in zip(jobs, planning.works(jobs), strict=True)
            if work is None and "gpu" in job.options
        }
    )
    if uncounted:
        lines.append(f"Not counted, taken as in the finished run: {', '.join(uncounted)}.")
    lines.append(
        "Hours of one core, or one GPU; trainings take all their steps; no waiting, downloads or "
        "Snakemake itself."
    )
    return lines


def _spread(measured: Sequence[Finished]) -> str:
    """How well the rule gives the finished run's own jobs, where a step has several."""
    known, _ = throughputs(measured)
    own = [one.job for one in measured]
    counts = {kind: sum(job.kind == kind for job in own) for kind in known}
    off = sorted(
        abs(math.log(one.cpu_seconds / expected))
        for one, work in zip(measured, planning.works(own), strict=True)
        if work and work.operations and counts[one.job.kind] >= FEWEST
        and (expected := _cost(one.job, work, known[one.job.kind], 0).cpu_hours * 3600)
    )  # fmt: skip
    if not off:
        return "How far jobs scatter cannot be seen there: no step has several jobs."
    factor = math.exp(off[min(len(off) - 1, int(0.9 * len(off)))])
    return f"Nine in ten of its own jobs lie within a factor {factor:.2g} of this rule."


def _beyond(jobs: Sequence[Job], measured: Sequence[Finished]) -> list[str]:
    """The step whose jobs are largest against those that were measured, if that is far."""
    largest = _largest([one.job for one in measured])
    ratios = {
        kind: size / largest[kind] for kind, size in _largest(jobs).items() if kind in largest
    }
    if not ratios or max(ratios.values()) < 10:
        return []
    kind = max(ratios, key=ratios.get)
    return [f"Far beyond it: a job of {'.'.join(kind)} does {ratios[kind]:,.0f} times as much."]


def _largest(jobs: Sequence[Job]) -> dict[tuple[str, str], float]:
    """The most operations of a job, by study and step."""
    found: dict[tuple[str, str], float] = {}
    for job, work in zip(jobs, planning.works(jobs), strict=True):
        if work and work.operations:
            found[job.kind] = max(found.get(job.kind, 0.0), work.operations)
    return found


def _newest() -> Path | None:
    """The folder of the run that finished last here."""
    found = Path("results").glob("*/costs.csv")
    return max((path.parent for path in found), key=lambda p: p.stat().st_mtime, default=None)


@cache
def _product_speed() -> float:
    """Operations a second of float32 matrix products, one thread."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    A = np.ones((512, 512), dtype=np.float32)
    with threadpool_limits(1):
        A @ A
        started, products = time.process_time(), 0
        while time.process_time() - started < 0.5:
            A @ A
            products += 1
    return products * 2 * 512**3 / (time.process_time() - started)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


if __name__ == "__main__":
    step.run(main)
