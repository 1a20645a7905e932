"""The permutation of an image's pixels, drawn once and shared by training and test.

`order` says which element stands where: permuted[i] = original[order[i]]; `inverse` leads back,
inverse[order[i]] = i. Elements are the patches of an image in row-major order (granularity
`patch`; a patch moves as a whole), or its pixels (`pixel`). `none` is the identity on patches, so
that every setting takes the same way. A permutation comes after the augmentation.
"""

from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer

from attention_theory import files, step
from attention_theory.errors import BadInput, require
from attention_theory.images import data as datasets
from attention_theory.images import settings
from attention_theory.streams import stream


class Permutation(NamedTuple):
    """A stored permutation: order and inverse (n,), and what they permute."""

    order: np.ndarray
    inverse: np.ndarray
    granularity: str
    dataset: str
    size: int
    patch: int
    sha256: str


def draw(granularity: str, dataset: str, size: int, patch: int, base_seed: int) -> Permutation:
    """Draw a permutation of images of `size` x `size` pixels; it depends on its arguments only."""
    n = size**2 if granularity == "pixel" else (size // patch) ** 2
    order = np.arange(n)
    if granularity != "none":
        stream(base_seed, "images.permutation", dataset, patch, granularity).shuffle(order)
    return Permutation(
        order, np.argsort(order), granularity, dataset, size, patch, datasets.sha256(order)
    )


def pixel_order(permutation: Permutation) -> np.ndarray:
    """The permutation as one of pixels, (size ** 2,): permuted.flat[i] = original.flat[order[i]].

    Indexing with it permutes images: `images.reshape(n, channels, -1)[..., order]`.
    """
    if permutation.granularity == "pixel":
        return permutation.order
    pixels = np.arange(permutation.size**2).reshape(1, 1, permutation.size, permutation.size)
    shuffled = to_patches(pixels, permutation.patch)[:, permutation.order]
    return from_patches(shuffled, permutation.patch).reshape(-1)


def permute(images: np.ndarray, permutation: Permutation) -> np.ndarray:
    """Permuted images, (n, channels, size, size)."""
    flat = images.reshape(*images.shape[:2], -1)
    return flat[..., pixel_order(permutation)].reshape(images.shape)


def unpermute_tokens(tokens: np.ndarray, permutation: Permutation) -> np.ndarray:
    """Rows (tokens, ...) of permuted data, put where their patches stand in the true image."""
    return tokens[permutation.inverse]


def unpermute_matrix(matrix: np.ndarray, permutation: Permutation) -> np.ndarray:
    """A matrix (..., tokens, tokens) of permuted data in the order of the true image."""
    return matrix[..., permutation.inverse, :][..., permutation.inverse]


def to_patches(images: np.ndarray, patch: int) -> np.ndarray:
    """(n, channels, size, size) to patches in row-major order, (n, tokens, channels, p, p)."""
    n, channels, size, _ = images.shape
    grid = size // patch
    blocks = images.reshape(n, channels, grid, patch, grid, patch)
    return blocks.transpose(0, 2, 4, 1, 3, 5).reshape(n, grid**2, channels, patch, patch)


def from_patches(patches: np.ndarray, patch: int) -> np.ndarray:
    """The inverse of `to_patches`."""
    n, tokens, channels, _, _ = patches.shape
    grid = round(tokens**0.5)
    blocks = patches.reshape(n, grid, grid, channels, patch, patch)
    return blocks.transpose(0, 3, 1, 4, 2, 5).reshape(n, channels, grid * patch, grid * patch)


def read(path: Path) -> Permutation:
    """Read a stored permutation. Raises BadInput if it is none or does not match its hash."""
    return from_arrays(files.read_arrays(path), str(path))


def from_arrays(arrays: dict[str, np.ndarray], place: str = "permutation") -> Permutation:
    """The permutation that the arrays of its file hold; `place` is named when it is none."""
    missing = [name for name in Permutation._fields if name not in arrays]
    if missing:
        raise BadInput(f"{place}: no permutation (it lacks {missing[0]})")
    found = Permutation(
        **{
            name: arrays[name] if name in ("order", "inverse") else arrays[name].item()
            for name in Permutation._fields
        }
    )
    whole = np.array_equal(found.order[found.inverse], np.arange(len(found.order)))
    if not whole or datasets.sha256(found.order) != found.sha256:
        raise BadInput(f"{place}: damaged permutation (order, inverse and sha256 disagree)")
    return found


def main(
    data: Annotated[Path, typer.Option(help="the prepared data set (.npz)")],
    permutation: Annotated[str, typer.Option(help="none, patch or pixel")],
    patch: Annotated[int, typer.Option(help="side of a patch in pixels; divides the image")],
    base_seed: step.BaseSeed,
    output: Annotated[Path, typer.Option(help="the permutation (.npz)")],
    provenance: step.Provenance = None,
) -> None:
    """Draw one permutation of a data set's patches or pixels; train and test share it."""
    settings.check_permutation(permutation)
    require(output.suffix == ".npz", "output", str(output), "end in .npz")
    source = datasets.read(data)
    dataset, size = source["dataset"].item(), source["images"].shape[-1]
    fits = patch >= 1 and size % patch == 0
    require(fits, "patch", patch, f"divide the image size {size}")
    with step.record(provenance, "images.permutation", output.stem, base_seed=base_seed):
        drawn = draw(permutation, dataset, size, patch, base_seed)
        arrays = {name: np.asarray(value) for name, value in drawn._asdict().items()}
        files.write_arrays(output, **arrays)


if __name__ == "__main__":
    step.run(main)
