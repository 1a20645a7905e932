"""Positional encodings (tokens, width) out of a file of weights, ours or timm's.

Nothing in a file is run: safetensors, NumPy arrays without pickle, and torch's own files read with
weights_only.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from attention_theory import checkpoint, checksums, files
from attention_theory.errors import BadInput, require

KEYS = (  # our ViT's, our checkpoint's, timm's, and that of the weights which timm converts
    "positions",
    "model.positions",
    "pos_embed",
    "Transformer/posembed_input/pos_embedding",
)
SUFFIXES = (".safetensors", ".npz", ".checkpoint", ".pth", ".pt", ".bin")
PREFIXES = 0, 1, 2, 5  # tokens before the patches: none, class, with distillation, registers
TIMM = "timm"  # in place of a path: what timm has by the model's name


def read(path: Path) -> np.ndarray:
    """The encodings (tokens, width) in a file; of snapshots the last. Tokens form a square grid.

    Raises BadInput unless the file is of a known kind and holds such encodings.
    """
    allowed = "end in one of: " + ", ".join(SUFFIXES)
    require(path.suffix in SUFFIXES, "weights", str(path), allowed)
    if not path.is_file():
        raise BadInput(f"{path}: no such file")
    arrays = _arrays(path)
    for key in KEYS:
        if key in arrays:
            return patches_only(_to_numpy(arrays[key]), str(path))
    raise BadInput(f"{path}: no positional encodings; one of {', '.join(KEYS)} must be there")


def of_timm(name: str) -> np.ndarray:
    """The trained encodings (tokens, width) of a model that timm has by name, downloaded by timm if
    they do not lie in its cache. Raises BadInput, with the reason, where they cannot be had."""
    try:
        import timm
    except ImportError:
        reason = "timm is not installed (the optional extra `pretrained` has it)"
        raise BadInput(reason) from None
    try:
        model = timm.create_model(name, pretrained=True)
    except Exception as error:  # whatever the network, the hub or the name bring about
        first = str(error).strip().splitlines() or [type(error).__name__]
        raise BadInput(f"timm cannot load {name}: {first[0]}") from None
    found = model.state_dict()
    if "pos_embed" not in found:
        raise BadInput(f"{name}: no positional encodings (timm's pos_embed)")
    return patches_only(_to_numpy(found["pos_embed"]), name)


def patches_only(P: np.ndarray, place: str) -> np.ndarray:
    """Encodings (1, prefix + n, width) or (n, width) without those of tokens before the patches.

    Snapshots (states, n, width) give the last. Raises BadInput unless a square grid is left; a
    number of tokens is all that there is to tell it by.
    """
    if P.ndim == 4 and len(P) == 1:  # timm's (1, rows, columns, width)
        P = P.reshape(1, -1, P.shape[-1])
    P = P[-1] if P.ndim == 3 else P
    if P.ndim == 2 and np.isfinite(P).all():
        for prefix in PREFIXES:
            n = len(P) - prefix
            if n > 0 and round(n**0.5) ** 2 == n:
                return np.asarray(P[prefix:], dtype=float)
    raise BadInput(f"{place}: encodings of shape {P.shape}; they must be of a square grid, finite")


def _arrays(path: Path) -> Mapping[str, Any]:
    """All arrays of a file by name. Raises BadInput if it cannot be read as what it is called."""
    if path.suffix == ".npz":
        return files.read_arrays(path)
    if path.suffix == ".checkpoint":
        return checkpoint.read(path)
    checksums.check(path)
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            return load_file(path)
        import torch

        found = torch.load(path, map_location="cpu", weights_only=True)
        found = found.get("model", found.get("state_dict", found))
        return {key: value for key, value in found.items() if isinstance(value, torch.Tensor)}
    except Exception as error:  # damaged, of another kind, or refused as unsafe
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise BadInput(f"{path}: not readable as weights ({reason[0]})") from None


def _to_numpy(values: Any) -> np.ndarray:
    return values if isinstance(values, np.ndarray) else values.detach().float().numpy()
