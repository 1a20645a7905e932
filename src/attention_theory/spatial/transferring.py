"""The runs of transfer (experiment 6) on one partition: rows of the table, by kind of attention.

A seed is a pretrained model with its partition; a draw is a downstream task (feature and samples)
on that partition. Every draw has a stream of its own, so that the numbers do not depend on which
other draws, kinds or sizes are run.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from attention_theory.spatial import evaluation, finetuning
from attention_theory.spatial import scratch as from_scratch
from attention_theory.spatial.settings import Architecture, Distribution
from attention_theory.spatial.transfer_settings import Frozen, Scratch
from attention_theory.streams import stream

ENOUGH = 0.95  # the accuracy that N95 is named after
CHUNK = 2**22  # numbers in the patches of one batch of draws: bounds the memory


class Place(NamedTuple):
    """What a seed's runs share: the partition (D,), the learned A (D, D), the streams' key."""

    partition: np.ndarray
    A: np.ndarray
    base_seed: int
    seed: int
    device: str

    def rng(self, name: str, *index: int | str) -> np.random.Generator:
        """The stream `name` of this seed; D keeps settings apart."""
        key = (len(self.partition), self.seed, *index)
        return stream(self.base_seed, f"spatial.transfer.{name}", *key)


def frozen_rows(
    distribution: Distribution, architecture: Architecture, frozen: Frozen, place: Place
) -> Iterator[dict]:
    """v trained under each kind of frozen attention, by gradient descent and by one step."""
    first = distribution.d == frozen.dimensions[0]
    kinds = finetuning.KINDS if first else finetuning.KINDS[:1]
    test = evaluation.draw(distribution, place.partition, frozen.test, place.rng("test"))
    attention, exams = {}, {}
    for kind in kinds:
        A = finetuning.variant(kind, place.A, place.rng("permutation"))
        attention[kind] = finetuning.softmax(A)
        exams[kind] = finetuning.examine(test, attention[kind], distribution.d, architecture)
    for n in frozen.samples:
        if first or n <= frozen.few:
            tasks = _descended(distribution, architecture, frozen, place, attention, n)
            for kind, alpha, orthogonal in tasks:
                found = exams[kind].accuracy(alpha, orthogonal)
                yield from _rows(kind, "gd", frozen.rate / distribution.D, n, found)
            for kind in kinds:
                yield from _one_step(
                    kind, attention[kind], exams[kind], distribution, frozen, place, n
                )


def _descended(
    distribution: Distribution,
    architecture: Architecture,
    frozen: Frozen,
    place: Place,
    attention: dict[str, np.ndarray],
    n: int,
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Each kind's alpha and |v_perp| over draws after gradient descent; kinds share the data."""
    runs, d = frozen.draws_at(n, "gd"), distribution.d
    rate = frozen.rate / distribution.D
    at_once = max(1, CHUNK // (n * distribution.D * d))
    found: dict[str, list] = {kind: [] for kind in attention}
    for start in range(0, runs, at_once):
        draws = range(start, min(start + at_once, runs))
        rngs = [place.rng("task", d, n, draw) for draw in draws]
        task = finetuning.draw_tasks(distribution, place.partition, n, rngs, place.device)
        for kind, S in attention.items():
            attended = finetuning.attend(task.X, S)
            v = finetuning.descend(attended, task.y, architecture, rate, frozen.steps)
            found[kind].append(finetuning.split(v.cpu().numpy(), task.features))
    for kind, parts in found.items():
        yield kind, *map(np.concatenate, zip(*parts, strict=True))


def _one_step(
    kind: str,
    S: np.ndarray,
    exam: finetuning.Exam,
    distribution: Distribution,
    frozen: Frozen,
    place: Place,
    n: int,
) -> Iterator[dict]:
    """One normalised step of the standard length, and where asked of others, on the same draws."""
    rng = place.rng("one step", distribution.d, n, kind)
    runs = frozen.draws_at(n, "one_step")
    alpha, orthogonal = finetuning.one_step(distribution, place.partition, S, n, runs, rng)
    scanned = n == frozen.scan_samples and distribution.d == frozen.dimensions[0]
    for length in sorted({frozen.step_size, *(frozen.scan if scanned else ())}):
        size = length / distribution.D
        found = exam.accuracy(size * alpha, size * orthogonal)
        yield from _rows(kind, "one_step", size, n, found, scan=length != frozen.step_size)


def scratch_rows(
    distribution: Distribution,
    architecture: Architecture,
    scratch: Scratch,
    test: int,
    place: Place,
) -> Iterator[dict]:
    """v and A trained from scratch, with more and more samples until the median reaches .95."""
    d = distribution.d
    sample = evaluation.draw(distribution, place.partition, test, place.rng("test"), place.device)
    for n in scratch.scratch_samples:
        found = [
            from_scratch.accuracy(
                distribution, architecture, scratch, place.partition, n, sample, rng
            )
            for rng in (place.rng("scratch", d, n, draw) for draw in range(scratch.scratch_draws))
        ]
        size = scratch.scratch_rate / distribution.D
        yield from _rows("scratch", "gd", size, n, found)
        if np.median(found) >= ENOUGH:
            return


def _rows(
    kind: str, optimiser: str, size: float, n: int, found: Sequence[float], scan: bool = False
) -> Iterator[dict]:
    for draw, accuracy in enumerate(found):
        yield {
            "attention": kind,
            "optimiser": optimiser,
            "step_size": size,
            "scan": scan,
            "samples": n,
            "draw": draw,
            "accuracy": float(accuracy),
        }
