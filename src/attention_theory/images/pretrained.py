"""The positional encodings of a ViT that others trained on ImageNet (Fig. 1a): are they local?

Beside the trained encodings stand initial ones, drawn as timm draws them, N(0, .02^2). Where the
weights cannot be had the table has one row, which says why, and the claim reads "not run".
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from scipy import stats

from attention_theory import files, step, tables
from attention_theory.errors import BadInput
from attention_theory.images import encodings
from attention_theory.images.columns import PRETRAINED
from attention_theory.images.locality import (
    check_tokens_to_rank,
    cosine_similarity,
    grid_distances,
    precision_by_query,
)
from attention_theory.streams import stream

INITIAL_STD = 0.02
NO_WEIGHTS = "no weights are named (images.pretrained.weights: timm, or the path of a file)"


def queries(M: np.ndarray) -> list[dict]:
    """How local each row of M (tokens, tokens) on a square grid is, a row a query token."""
    distances = grid_distances(round(len(M) ** 0.5))
    precision, chance, ceiling = precision_by_query(M, distances)
    others = ~np.eye(len(M), dtype=bool)
    return [
        {
            "query": query,
            "precision_at_4": precision[query],
            "chance": chance[query],
            "ceiling": ceiling[query],
            "spearman": stats.spearmanr(M[query, own], distances[query, own]).statistic,
        }
        for query, own in enumerate(others)
    ]


def main(
    model: Annotated[str, typer.Option(help="timm's name of the model")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a query token")],
    maps: Annotated[Path, typer.Option(help="similarity of all tokens (.npz)")],
    weights: Annotated[
        str | None, typer.Option(help="timm, or the path of a file; none: not run")
    ] = None,
    provenance: step.Provenance = None,
) -> None:
    """Measure how local the positional encodings of a pretrained ViT are, and of an untrained."""
    named = [] if weights in (None, encodings.TIMM) else [Path(weights)]
    P, reason = None, NO_WEIGHTS
    if named:
        P = encodings.read(named[0])
    elif weights:
        try:
            P = encodings.of_timm(model)
        except BadInput as error:
            reason = str(error)
    with step.record(provenance, "images.pretrained", model, base_seed=base_seed, inputs=named):
        if P is None:
            row = dict.fromkeys(PRETRAINED) | {"model": model, "reason": reason}
            tables.write(table, [row], PRETRAINED)
            files.write_arrays(maps)
            return
        check_tokens_to_rank(len(P), weights)
        untrained = stream(base_seed, "images.pretrained").normal(0, INITIAL_STD, P.shape)
        found = {"initial": cosine_similarity(untrained), "final": cosine_similarity(P)}
        rows = [
            {"model": model, "state": state, "reason": None} | row
            for state, M in found.items()
            for row in queries(M)
        ]
        tables.write(table, rows, PRETRAINED)
        files.write_arrays(maps, **found)


if __name__ == "__main__":
    step.run(main)
