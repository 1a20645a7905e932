"""The step that measures snapshots: what models know of space, held against the true grid.

Two similarity matrices M (tokens, tokens), row = query, column = key: the cosine of the positional
encodings (`positions`), and the attention matrix averaged over images, heads and layers
(`attention`). Patch permutations are undone first, so that token i stands at row i // side, column
i % side of the true image. The measures are those of locality.py.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from attention_theory import files, step, tables
from attention_theory.errors import BadInput
from attention_theory.images import columns
from attention_theory.images import permutation as permutations
from attention_theory.images.locality import (
    check_tokens_to_rank,
    cosine_similarity,
    locality,
    shuffles,
    token_distances,
)
from attention_theory.images.permutation import Permutation, unpermute_matrix
from attention_theory.streams import stream

MEASURES = ("positions", "attention")


def matrices(
    snapshot: dict[str, np.ndarray], permutation: Permutation
) -> Iterator[tuple[str, int, str, np.ndarray]]:
    """(measure, epoch, state, M) of each state of a model's snapshots, patches un-permuted."""
    states = zip(snapshot["epoch"].tolist(), snapshot["state"].tolist(), strict=True)
    for index, (epoch, state) in enumerate(states):
        found = {
            "positions": cosine_similarity(snapshot["positions"][index]),
            "attention": snapshot["attention_matrices"][index].astype(float).mean(0),
        }
        for measure, M in found.items():
            yield measure, epoch, state, in_place(M, permutation)


def in_place(M: np.ndarray, permutation: Permutation) -> np.ndarray:
    """M (..., tokens, tokens) with tokens at their true places, if they have such places."""
    return M if permutation.granularity == "pixel" else unpermute_matrix(M, permutation)


def measure(
    snapshot: dict[str, np.ndarray], permutation: Permutation, orders: np.ndarray
) -> list[dict]:
    """The rows of the similarity table of one model, tested with relabellings (draws, tokens)."""
    distances = token_distances(permutation)
    rows = []
    for name, epoch, state, M in matrices(snapshot, permutation):
        row = {key: snapshot[key].item() for key in columns.SETTING}
        row |= {"measure": name, "epoch": epoch, "state": state}
        rows.append(row | locality(M, distances, orders)._asdict())
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
    check_tokens_to_rank((permutation.size // permutation.patch) ** 2, place)


def main(
    output: Annotated[Path, typer.Option(help="CSV, a row a measure of a model's state")],
    base_seed: step.BaseSeed,
    snapshots: Annotated[
        list[Path] | None, typer.Argument(help="snapshots of models with tokens (.npz)")
    ] = None,
    permutation: Annotated[
        list[Path] | None,
        typer.Option(help="permutation that a model was trained under (.npz); repeatable"),
    ] = None,
    provenance: step.Provenance = None,
) -> None:
    """Hold what models know of space, from the start to the end of training, against the grid."""
    snapshots, permutation = snapshots or [], permutation or []
    inputs = [*snapshots, *permutation]
    with step.record(
        provenance, "images.measuring", step="similarity", inputs=inputs, base_seed=base_seed
    ):
        known = {found.sha256: found for found in map(permutations.read, permutation)}
        orders: dict[int, np.ndarray] = {}
        rows = []
        for path in snapshots:
            snapshot = files.read_arrays(path)
            own = known.get(check_tokens(snapshot, path))
            if own is None:
                raise BadInput(f"{path}: trained under a permutation that is not among those given")
            tokens = snapshot["positions"].shape[1]
            check_tokens_to_rank(tokens, path)
            if tokens not in orders:
                orders[tokens] = shuffles(tokens, stream(base_seed, "images.shuffles", tokens))
            rows += measure(snapshot, own, orders[tokens])
        tables.write(output, rows, columns.SIMILARITY)


if __name__ == "__main__":
    step.run(main)
