"""From a violation that a search found to one to read: small numbers, few digits, the same answer.

Entry by entry a simpler number is tried, and kept while the statement still clearly fails.
"""

import json
from collections.abc import Callable, Mapping

import torch

from attention_theory.meanfield.bounds import IDENTITY, Bound
from attention_theory.meanfield.search import Matrices, ratios, sides, take

# A ratio above LIMIT is a violation; between it and 1 it may be rounding. Of an identity the ratio
# is the difference over the size of both sides: where the two agree it is rounding alone.
LIMIT, IDENTITY_LIMIT = 1 + 1e-6, 1e-6
CLEAR, IDENTITY_CLEAR = 1.01, 0.1  # what a printed counterexample should exceed, where it can
# From the easiest to read on; at the smallest sizes the first ones are tried in every combination.
SIMPLE = (0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, 10.0, 5.0, 30.0)
SIMPLE += (-3.0, -0.5, -5.0, -10.0, -30.0, 0.1, -0.1, 20.0, -20.0)
COMBINATIONS = 10_000


def limit(bound: Bound) -> float:
    """The ratio above which a statement fails."""
    return IDENTITY_LIMIT if bound.form == IDENTITY else LIMIT


def _clear(bound: Bound) -> float:
    return IDENTITY_CLEAR if bound.form == IDENTITY else CLEAR


def simplify(bound: Bound, check: Callable, point: Mapping[str, torch.Tensor]) -> Matrices:
    """The point (batch of one) with as simple entries as the violation allows."""
    found = float(ratios(check, point))
    wanted = _clear(bound) if found > _clear(bound) else (found + limit(bound)) / 2
    point = {name: M.clone() for name, M in point.items()}
    for _ in range(2):
        for name, M in point.items():
            _rescale(check, point, name, wanted)
            for place in range(M[0].numel()):
                _simplify_entry(check, point, name, divmod(place, M.shape[-1]), wanted)
    return point


def _simplify_entry(
    check: Callable, point: Matrices, name: str, place: tuple[int, int], wanted: float
) -> None:
    """Replace one entry, in place, by the simplest number that keeps the ratio above `wanted`."""
    row, column = place
    M = point[name]
    options = _simpler(float(M[0, row, column]))
    tried = {n: X.repeat(len(options), 1, 1) for n, X in point.items()}
    tried[name][:, row, column] = torch.tensor(options, dtype=M.dtype)
    holds = (ratios(check, tried) > wanted).nonzero() if options else ()
    if len(holds):
        M[0, row, column] = options[int(holds[0])]


def _rescale(check: Callable, point: Matrices, name: str, wanted: float) -> None:
    """Scale one matrix, in place, to a simple largest entry, if the violation allows it."""
    M = point[name]
    largest = M.flatten()[M.abs().argmax()]
    if largest == 0:
        return
    options = [option for option in SIMPLE[1:] if cost(option) < cost(float(largest))]
    tried = {n: X.repeat(len(options), 1, 1) for n, X in point.items()}
    tried[name] *= torch.tensor(options, dtype=M.dtype)[:, None, None] / largest
    holds = (ratios(check, tried) > wanted).nonzero() if options else ()
    if len(holds):
        M.copy_(tried[name][holds[0]])


def cost(value: float) -> int:
    """How hard a number is to read: its place among the simple ones, else its digits."""
    if value in SIMPLE:
        return SIMPLE.index(value)
    return len(SIMPLE) + len(repr(value).removesuffix(".0"))


def _simpler(value: float) -> list[float]:
    """Numbers simpler than `value`, simplest first."""
    rounded = [float(f"{value:.{digits}e}") for digits in range(4)]
    options = sorted({*SIMPLE, *rounded}, key=lambda option: (cost(option), option))
    return [option for option in options if cost(option) < cost(value)]


def simplest(
    bound: Bound, check: Callable, points: Mapping[str, torch.Tensor], most: int = 6
) -> Matrices | None:
    """The simplest counterexample that the worst points of a batch, or simple numbers, give.

    None where no point of the batch fails: simple numbers alone decide nothing.
    """
    found = ratios(check, points)
    rows = [row for row in found.argsort(descending=True, stable=True) if found[row] > limit(bound)]
    if not rows:
        return None
    candidates = [simplify(bound, check, take(points, row[None])) for row in rows[:most]]
    simple = _combinations(points)
    clear = (ratios(check, simple) > _clear(bound)).nonzero()
    if len(clear):
        candidates.append(take(simple, clear[0]))
    return min(candidates, key=total)


def _combinations(points: Mapping[str, torch.Tensor]) -> Matrices:
    """Every combination of simple numbers in these matrices' places, easiest to read first.

    As many of the numbers are used as COMBINATIONS allows; with too many places: all zero.
    """
    places = [M[0].numel() for M in points.values()]
    values = min(max(int(COMBINATIONS ** (1 / sum(places)) + 1e-9), 1), len(SIMPLE))
    ranks = torch.cartesian_prod(*[torch.arange(values)] * sum(places)).reshape(-1, sum(places))
    ranks = ranks[ranks.sum(1).argsort(stable=True)]
    entries = torch.tensor(SIMPLE, dtype=torch.float64)[ranks].split(places, dim=1)
    return {
        name: own.reshape(-1, *M.shape[1:])
        for (name, M), own in zip(points.items(), entries, strict=True)
    }


def total(point: Matrices) -> tuple[int, str]:
    """How hard a point is to read: the sum of its numbers' costs, ties broken by their text."""
    numbers = [number for M in point.values() for number in M.flatten().tolist()]
    return sum(map(cost, numbers)), repr(numbers)


def to_json(check: Callable, point: Matrices) -> str:
    """A counterexample as JSON: every matrix, row by row, and both sides in double precision."""
    left, right = sides(check, point)
    matrices = {name: [[_number(x) for x in row] for row in M[0].tolist()]
                for name, M in point.items()}  # fmt: skip
    return json.dumps(matrices | {"left": float(left), "right": float(right)})


def _number(value: float) -> int | float:
    return int(value) if value.is_integer() and abs(value) < 1e6 else value


def from_json(text: str) -> Matrices:
    """The matrices (batch of one) of a counterexample, from its text alone."""
    found = json.loads(text)
    return {
        name: torch.tensor([rows], dtype=torch.float64)
        for name, rows in found.items()
        if name not in ("left", "right")
    }
