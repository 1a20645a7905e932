"""What the study's steps compute, counted from their options (for the plan of a run's cost).

Sizes multiplied, not measured; early stopping is not foreseen: a training counts all its steps.
"""

from collections.abc import Callable, Sequence

from attention_theory.kernels import settings
from attention_theory.kernels.settings import KERNELS
from attention_theory.planning import CALLS, Job, Options, Work

RECORDED: dict[str, str] = {}  # every step's record bears its name


def _evaluations(o: Options, runs: float, H: float, D: float, n: float | None = None) -> Work:
    """`steps` evaluations of loss and gradient for a stack of runs, in the span of the tokens."""
    N, n, d = o.number("N"), n or o.number("n"), o.number("d")
    inside = min(D, N * n)  # coordinates of the span
    one = 12 * N * n * H * inside * (d + inside + n)
    numbers = 8 * runs * H * (4 * inside * inside + 4 * N * n * (inside + n))
    return Work(o.number("steps") * (runs * one + CALLS), 4 * numbers)


def _sum(parts: Sequence[Work]) -> Work:
    """One after the other, with either kernel."""
    operations = len(KERNELS) * sum(part.operations for part in parts)
    return Work(operations, max(part.memory for part in parts))


def convergence(o: Options, _: Sequence[Job]) -> Work:
    """All weights, for every H and D; W_V alone has a closed form in its number of steps."""
    stack = len(o.words("dimensions")) * o.number("seeds")
    tokens = o.number("N") * o.number("n")
    closed = 30 * o.number("value-steps") * stack * tokens
    D = max(o.numbers("dimensions"))
    trained = _sum([_evaluations(o, stack, H, D) for H in o.numbers("heads")])
    closed *= len(KERNELS) * len(o.words("heads"))
    memory = 16 * o.number("value-steps") * stack * tokens
    return Work(trained.operations + closed, trained.memory + memory)


def stuck(o: Options, _: Sequence[Job]) -> Work:
    """W_Q and W_K, for every case."""
    cases = settings.parse_cases(o.text("cases")).values()
    runs, D = o.number("seeds"), o.number("D")
    return _sum([_evaluations(o, runs, case.H, D, case.n) for case in cases])


def lazy(o: Options, _: Sequence[Job]) -> Work:
    """All weights, in a sweep of D and one of H."""
    seeds, at_D = o.number("seeds"), o.number("at-dimension")
    wide = _evaluations(
        o, seeds * len(o.words("dimensions")), o.number("at-heads"), max(o.numbers("dimensions"))
    )
    return _sum([wide, *(_evaluations(o, seeds, H, at_D) for H in o.numbers("heads"))])


STEPS: dict[str, Callable[[Options, Sequence[Job]], Work]] = {
    "convergence": convergence,
    "stuck": stuck,
    "lazy": lazy,
}
