"""What the study's steps compute, counted from their options (for the plan of a run's cost).

Sizes multiplied, not measured; early stopping is not foreseen: a training counts all its steps.
"""

import json
from collections.abc import Callable, Sequence

from attention_theory.planning import CALLS, DRAWING, Job, Options, Work

RECORDED: dict[str, str] = {}  # every step's record bears its name
POPULATION = 2e8  # of one population gradient, by quadrature or enumeration


def _trained(o: Options, trainings: float) -> Work:
    """Trainings of v and A on N samples of D patches: two passes and what is drawn."""
    D, d, N = o.number("D"), o.number("d"), o.number("N")
    looked_at = o.number("validation") + o.number("test")
    step = 6 * N * D * (D + d) + CALLS
    validations = o.number("steps") / o.number("every") * 2 * o.number("validation") * D * D
    drawn = DRAWING * (N * D * d + looked_at * D)
    operations = trainings * (o.number("steps") * step + validations + drawn)
    return Work(operations, memory=8 * (N * D * d + looked_at * D))


def pretraining(o: Options, _: Sequence[Job]) -> Work:
    """A row a seed, a trajectory's row a validation, and the models."""
    seeds, D = o.number("seeds"), o.number("D")
    rows = o.number("steps") / o.number("every") + 2
    return _trained(o, seeds)._replace(disk=seeds * (8 * D * D + 1500 + 250 * rows) + 4000)


def _varied(names: str) -> Callable:
    """Trainings of every seed at every value of some lists."""

    def count(o: Options, _: Sequence[Job]) -> Work:
        trainings = o.number("seeds")
        for name in names.split():
            trainings *= len(o.words(name))
        return _trained(o, trainings)

    return count


def constructed(o: Options, _: Sequence[Job]) -> Work:
    """Evaluations of written-down models at every D."""
    D_D = sum(D * D for D in o.numbers("sizes"))
    evaluations = 3 * len(o.words("projections"))
    return Work(
        evaluations * o.number("test") * 4 * D_D, 12 * o.number("test") * max(o.numbers("sizes"))
    )


def linear(o: Options, _: Sequence[Job]) -> Work:
    """Logistic regressions (four fits of some hundred passes), a network, and the data."""
    numbers = (o.number("N") + o.number("test")) * o.number("D") * o.number("d")
    passes = 4 * 100 * 4 * o.number("N") * o.number("D") * o.number("d")
    return Work(o.number("seeds") * (passes + DRAWING * numbers), 8 * numbers)


def transfer(o: Options, _: Sequence[Job]) -> Work:
    """v alone on every number of samples with frozen attention; both from scratch; a row a draw."""
    D, models = o.number("D"), len(o.words("model"))
    frozen = scratch = rows = 0.0
    for place, d in enumerate(o.numbers("dimensions")):
        kinds = 1 if place else 3  # of attention
        for n in o.numbers("samples"):
            if place == 0 or n <= o.number("few"):
                pool = min(o.number("draws"), max(o.number("fewest"), o.number("pool") // n))
                one = 2 * D * D * d + o.number("steps") * 4 * D * d
                frozen += pool * n * (kinds * one + DRAWING * D * d)
                frozen += kinds * o.number("step-pool") * D * DRAWING
                rows += kinds * (pool + min(o.number("draws"), o.number("step-pool") // n))
        for n in o.numbers("scratch-samples"):
            step = 6 * n * D * (D + d) + CALLS
            scratch += o.number("scratch-draws") * o.number("scratch-steps") * step
    largest = max(o.numbers("samples")[-1], o.numbers("scratch-samples")[-1])
    return Work(
        models * (frozen + scratch),
        memory=12 * largest * D * max(o.numbers("dimensions")),
        disk=models * 2 * 65 * rows + 4000,  # twice: in the gathered table too
    )


def population(o: Options, _: Sequence[Job]) -> Work:
    """A population gradient a step of each trajectory, and test errors now and then."""
    operations = 0.0
    for own in json.loads(o.text("settings")).values():
        gradient = 50 * own["samples"] * own["D"] if own["method"] == "monte-carlo" else POPULATION
        tests = own["steps"] / own["every"] * 20 * own["test"] * own["D"] / own["C"]
        operations += own["steps"] * gradient + tests
    return Work(operations)


def phase(o: Options, _: Sequence[Job]) -> Work:
    """A descent a cell on a common sample, which is reduced to counts in the L sets."""
    cells = len(o.words("betas")) * len(o.words("q-Ds"))
    sample = o.number("samples") * o.number("D") / o.number("C")
    return Work(cells * o.number("steps") * 500 * sample, 80 * sample)


def coupling(o: Options, _: Sequence[Job]) -> Work:
    """Gradient steps on N samples, the semi-idealised ones too, and single gradients."""
    D, d, steps = o.number("D"), o.number("d"), o.number("steps")
    descended = sum(o.numbers("samples")) + sum(o.numbers("semi"))
    probed = sum(o.numbers("gradient-samples"))
    runs = len(o.words("samples")) + len(o.words("semi"))
    passes = steps * descended + len(o.words("probes")) * probed
    operations = 6 * D * (D + d) * passes + DRAWING * D * d * (descended + probed)
    operations = o.number("seeds") * (operations + runs * steps * CALLS) + steps * POPULATION
    return Work(operations, 8 * max(o.numbers("samples") + o.numbers("gradient-samples")) * D * d)


STEPS: dict[str, Callable[[Options, Sequence[Job]], Work]] = {
    "pretraining": pretraining,
    "gaussian": _varied("phis"),
    "encodings": _varied("encodings"),
    "competition": _varied("betas starts"),
    "constructed": constructed,
    "linear": linear,
    "transfer": transfer,
    "population": population,
    "phase": phase,
    "coupling": coupling,
}
