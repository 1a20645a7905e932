"""What a model learned of space: similarity of its tokens, held against the true grid.

Two similarity matrices M (tokens, tokens), row = query, column = key: the cosine of the positional
encodings (`positions`), and the attention matrix averaged over images, heads and layers
(`attention`). Patch permutations are undone first, so that token i stands at row i // side, column
i % side of the true image. The measures are those of locality.py.

`table` is the workflow's step, on the snapshots of a training. `page` is for any weights: ours
(weights, a checkpoint or snapshots) or timm's (a file, or a name that timm can load); it draws the
maps of all tokens and of a few, and prints the figures of merit as one JSON line:

    python -m attention_theory.images.similarity page --weights vit.safetensors --output page
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from attention_theory import files, step, tables
from attention_theory.errors import BadInput, require
from attention_theory.images import columns, encodings
from attention_theory.images import permutation as permutations
from attention_theory.images.locality import (
    Locality,
    cosine_similarity,
    grid_distances,
    locality,
    shuffles,
    token_distances,
)
from attention_theory.images.permutation import Permutation, unpermute_matrix
from attention_theory.images.settings import NEIGHBOURS
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


def check_tokens_to_rank(tokens: int, place: str | Path) -> None:
    """Raise BadInput unless a token has more others than neighbours."""
    if tokens <= NEIGHBOURS:
        raise BadInput(f"{place}: {tokens} tokens; there must be more than {NEIGHBOURS}")


def table(
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
    with step.record(provenance, "images.similarity", inputs=inputs, base_seed=base_seed):
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


def page(
    output: Annotated[Path, typer.Option(help="the page, without suffix: .pdf, .png and .csv")],
    weights: Annotated[
        Path | None,
        typer.Option(help="ours or timm's: .safetensors, .npz, .checkpoint, .pth, .pt, .bin"),
    ] = None,
    timm: Annotated[
        str | None, typer.Option(help="in place of a file: a model that timm loads by name")
    ] = None,
    permutation: Annotated[
        Path | None, typer.Option(help="patch permutation that it was trained under (.npz)")
    ] = None,
) -> None:
    """Draw the similarity maps of a model's positional encodings; print their measures."""
    require((weights is None) != (timm is None), "weights", str(weights), "be given, or timm")
    name = timm or str(weights)
    P = encodings.of_timm(timm) if timm else encodings.read(weights)
    check_tokens_to_rank(len(P), name)
    M = cosine_similarity(P)
    if permutation:
        own = permutations.read(permutation)
        check_grid(own, permutation)
        fits = len(own.order) == len(P)
        require(fits, f"{permutation}: tokens", len(own.order), f"be {len(P)}, those of {name}")
        M = unpermute_matrix(M, own)
    found = merit(M)
    from attention_theory import style
    from attention_theory.images import maps

    style.use()
    style.save(*maps.page(M, name, found), output)
    print(json.dumps({"tokens": len(P), "width": P.shape[1]} | found._asdict()))


def merit(M: np.ndarray) -> Locality:
    """The measures of a matrix (tokens, tokens) whose tokens stand on a square grid."""
    orders = shuffles(len(M), stream(0, "images.shuffles", len(M)))
    return locality(M, grid_distances(round(len(M) ** 0.5)), orders)


if __name__ == "__main__":
    step.run(table, page)
