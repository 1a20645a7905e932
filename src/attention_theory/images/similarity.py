"""What a model learned of space: similarity of tokens, compared with the true grid.

Two similarity matrices M (tokens, tokens), row = query, column = key: the cosine of the positional
encodings (`positions`), and the attention matrix averaged over images, heads and layers
(`attention`). Patch permutations are undone first, so that token i stands at row i // side, column
i % side of the true image. Measures, each over the rows of M, a token's similarity to itself left
out (Sec. 6, Figs. 3 and 4 of the source show the maps; the figures of merit are ours):

- precision_at_4: of a token's 4 most similar tokens, the share (of 4) that are its true
  neighbours, above, below, left and right; averaged over tokens. Ties count at the share expected
  if they were broken at random.
- chance: its expectation when similarity is unrelated to the grid: neighbours / (tokens - 1).
- ceiling: its highest value, below 1 because tokens at the border have fewer than 4 neighbours.
  On a 4 x 4 grid chance is .2 and the ceiling .75.
- spearman: rank correlation of similarity with Euclidean distance on the true grid, over all
  ordered pairs of tokens; -1 when nearer always means more similar.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from scipy import stats

from attention_theory import files, ranking, step, tables
from attention_theory.errors import BadInput
from attention_theory.images import columns
from attention_theory.images import permutation as permutations
from attention_theory.images.permutation import Permutation, unpermute_matrix
from attention_theory.images.settings import NEIGHBOURS


class Precision(NamedTuple):
    """Precision at k against the true neighbours, its expectation by chance, its highest value."""

    precision: float
    chance: float
    ceiling: float


def cosine_similarity(vectors: np.ndarray) -> np.ndarray:
    """The cosines (n, n) of rows (n, width), in float64; a row of zeros has cosine 0 with all."""
    vectors = np.asarray(vectors, dtype=float)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = vectors / np.where(lengths > 0, lengths, 1)
    return np.clip(units @ units.T, -1, 1)


def grid_distances(side: int) -> np.ndarray:
    """Euclidean distances (side ** 2, side ** 2) between the points of a square grid."""
    rows, columns = np.divmod(np.arange(side**2), side)
    return np.hypot(rows[:, None] - rows, columns[:, None] - columns)


def precision_at_k(M: np.ndarray, distances: np.ndarray, k: int = NEIGHBOURS) -> Precision:
    """Precision at k of M (n, n) against the neighbours, the tokens at distance 1.

    Raises ValueError unless M and distances are (n, n) with n > k.
    """
    n = len(M)
    if M.shape != (n, n) or distances.shape != (n, n) or n <= k:
        raise ValueError(f"M and distances must be (n, n) with n > {k}")
    near = distances == 1
    M = np.where(np.eye(n, dtype=bool), -np.inf, np.asarray(M, dtype=float))
    hits = ranking.expected_hits(M, near, k)
    neighbours = near.sum(1)
    chance = neighbours / (n - 1)
    return Precision(
        float(hits.mean() / k), float(chance.mean()), float(np.minimum(neighbours, k).mean() / k)
    )


def spearman(M: np.ndarray, distances: np.ndarray) -> float:
    """Rank correlation of M (n, n) with distances (n, n) off the diagonal; NaN if M is constant."""
    off = ~np.eye(len(M), dtype=bool)
    values = np.asarray(M, dtype=float)[off]
    if np.ptp(values) <= ranking.slack(values):
        return float("nan")
    return float(stats.spearmanr(values, distances[off]).statistic)


def matrices(
    snapshot: dict[str, np.ndarray], permutation: Permutation
) -> Iterator[tuple[str, int, str, np.ndarray]]:
    """(measure, epoch, state, un-permuted M) of each state of a model's snapshots."""
    states = zip(snapshot["epoch"].tolist(), snapshot["state"].tolist(), strict=True)
    for index, (epoch, state) in enumerate(states):
        found = {
            "positions": cosine_similarity(snapshot["positions"][index]),
            "attention": snapshot["attention_matrices"][index].astype(float).mean(0),
        }
        for measure, M in found.items():
            yield measure, epoch, state, unpermute_matrix(M, permutation)


def measure(snapshot: dict[str, np.ndarray], permutation: Permutation) -> list[dict]:
    """The rows of the similarity table of one model."""
    distances = grid_distances(permutation.size // permutation.patch)
    rows = []
    for name, epoch, state, M in matrices(snapshot, permutation):
        row = {key: snapshot[key].item() for key in columns.SETTING}
        row |= {"measure": name, "epoch": epoch, "state": state}
        values = (*precision_at_k(M, distances), spearman(M, distances))
        rows.append(row | dict(zip(columns.SIMILARITY[-4:], values, strict=True)))
    return rows


def check_tokens(snapshot: dict[str, np.ndarray], place: str | Path) -> str:
    """The hash of a model's permutation. Raises BadInput unless the model has tokens."""
    wanted = [
        *columns.SETTING,
        "permutation_sha256",
        "epoch",
        "state",
        "positions",
        "attention_matrices",
    ]
    missing = [key for key in wanted if key not in snapshot]
    if missing:
        raise BadInput(f"{place}: no snapshots of a model with tokens (it lacks {missing[0]})")
    return snapshot["permutation_sha256"].item()


def check_grid(permutation: Permutation, place: str | Path) -> None:
    """Raise BadInput unless the tokens have places on a true grid, and enough of them."""
    if permutation.granularity == "pixel":
        raise BadInput(f"{place}: permuted pixels; tokens must have a place on the true grid")
    tokens = (permutation.size // permutation.patch) ** 2
    if tokens <= NEIGHBOURS:
        raise BadInput(f"{place}: {tokens} tokens; there must be more than {NEIGHBOURS}")


def main(
    output: Annotated[Path, typer.Option(help="CSV, a row a measure of a model's state")],
    snapshots: Annotated[
        list[Path] | None, typer.Argument(help="snapshots of models with tokens (.npz)")
    ] = None,
    permutation: Annotated[
        list[Path] | None,
        typer.Option(help="permutation that a model was trained under (.npz); repeatable"),
    ] = None,
    provenance: step.Provenance = None,
) -> None:
    """Compare what models learned of space, before and after training, with the true grid."""
    snapshots, permutation = snapshots or [], permutation or []
    with step.record(provenance, "images.similarity", inputs=[*snapshots, *permutation]):
        known = {found.sha256: found for found in map(permutations.read, permutation)}
        rows = []
        for path in snapshots:
            snapshot = files.read_arrays(path)
            own = known.get(check_tokens(snapshot, path))
            if own is None:
                raise BadInput(f"{path}: trained under a permutation that is not among those given")
            check_grid(own, path)
            rows += measure(snapshot, own)
        tables.write(output, rows, columns.SIMILARITY)


if __name__ == "__main__":
    step.run(main)
