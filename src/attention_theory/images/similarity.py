"""The similarity maps and their measures of any ViT's positional encodings, on one page.

    python -m attention_theory.images.similarity --weights vit.safetensors --output page

takes weights of ours (weights, a checkpoint or snapshots) or timm's (a file, or a name that timm
can load), draws the maps of all tokens and of a few, and prints the measures (locality.py) as one
JSON line.
"""

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from attention_theory import step, style
from attention_theory.errors import require
from attention_theory.images import encodings, maps
from attention_theory.images import permutation as permutations
from attention_theory.images.locality import (
    Locality,
    check_tokens_to_rank,
    cosine_similarity,
    grid_distances,
    locality,
    shuffles,
)
from attention_theory.images.measuring import check_grid
from attention_theory.images.permutation import unpermute_matrix
from attention_theory.streams import stream


def main(
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
    style.use()
    style.save(*maps.page(M, name, found), output)
    print(json.dumps({"tokens": len(P), "width": P.shape[1]} | found._asdict()))


def merit(M: np.ndarray) -> Locality:
    """The measures of a matrix (tokens, tokens) whose tokens stand on a square grid."""
    orders = shuffles(len(M), stream(0, "images.shuffles", len(M)))
    return locality(M, grid_distances(round(len(M) ** 0.5)), orders)


if __name__ == "__main__":
    step.run(main)
