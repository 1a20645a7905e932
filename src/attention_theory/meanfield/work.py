"""What the study's steps compute, counted from their options (for the plan of a run's cost).

Sizes multiplied, not measured.
"""

from collections.abc import Callable, Sequence

from attention_theory import listing
from attention_theory.planning import CALLS, Job, Options, Work

RECORDED: dict[str, str] = {}  # every step's record bears its name


def _flow(o: Options, neurons: float, most: float) -> Work:
    """Euler steps of flows with so many neurons in all layers together, at most so many at once.

    A layer of K atoms costs as much as one of K neurons, whatever M is drawn from them.
    """
    prompts = o.number("seeds") * (o.number("tasks") + o.number("fresh"))
    columns, rows = o.number("n"), o.number("d-x") + 1
    one = 60 * columns * rows * (rows + columns)
    memory = 16 * prompts * most * columns * (columns + 4 * rows)
    return Work(o.number("steps") * prompts * one * neurons, memory)


def gap(o: Options, _: Sequence[Job]) -> Work:
    """Depths, the limit's too, at M = infinity; widths twice, independent and shared."""
    K, limit = o.number("K"), o.number("limit")
    depths = {*o.numbers("depths"), limit, 2 * limit}
    layers = sum(depths) + 2 * len(o.words("widths")) * sum(o.numbers("width-depths"))
    return _flow(o, K * layers, K * 2 * limit)


def widths(o: Options, _: Sequence[Job]) -> Work:
    """All pairs of widths, infinity among them."""
    neurons = o.number("K") * o.number("L")
    return _flow(o, neurons * (len(o.words("widths")) + 1) ** 2, neurons)


def horizon(o: Options, _: Sequence[Job]) -> Work:
    """The limit's two depths and every size."""
    K, limit = o.number("K"), o.number("limit")
    layers = 3 * limit + sum(L for L, _ in listing.sizes("sizes", o.text("sizes")))
    return _flow(o, K * layers, K * 2 * limit)


def risk(o: Options, _: Sequence[Job]) -> Work:
    """Every size at each decay, and one size at more of them."""
    sizes = [L * M for L, M in listing.sizes("sizes", o.text("sizes"))]
    ((L, M),) = listing.sizes("sweep_size", o.text("sweep-size"))
    neurons = sum(sizes) * len(o.words("decays")) + L * M * len(o.words("sweep"))
    return _flow(o, neurons, max([*sizes, L * M]))


def digits(o: Options, _: Sequence[Job]) -> Work:
    """A small ViT: every weight meets every token three times, once forward and twice back."""
    weights = 4 * o.number("width") ** 2 + 2 * o.number("width") * o.number("mlp")
    tokens = (8 / o.number("patch")) ** 2
    step = 6 * o.number("batch") * tokens * o.number("layers") * weights + CALLS
    return Work(o.number("seeds") * o.number("steps") * step)


def audit(o: Options, _: Sequence[Job]) -> Work:
    """Draws and ascents, of every statement at every size and seed."""
    ascents = o.number("starts") * o.number("steps")
    looked_at = o.number("draws") + 3 * ascents
    searches = len(o.words("sizes")) * o.number("seeds")
    return Work(searches * (1e6 * looked_at + o.number("steps") * CALLS))


def lipschitz(o: Options, _: Sequence[Job]) -> Work:
    """Ascents of the three kinds of attention, softmax at every norm."""
    searches = len(o.words("dimensions")) * len(o.words("tokens")) * (2 + len(o.words("norms")))
    stack = o.number("seeds") * o.number("starts")
    entries = max(o.numbers("dimensions")) * max(o.numbers("tokens"))
    return Work(searches * o.number("steps") * (stack * 100 * entries**2 + CALLS))


STEPS: dict[str, Callable[[Options, Sequence[Job]], Work]] = {
    "gap": gap,
    "widths": widths,
    "horizon": horizon,
    "risk": risk,
    "digits": digits,
    "audit": audit,
    "lipschitz": lipschitz,
}
