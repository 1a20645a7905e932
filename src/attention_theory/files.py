"""Files that are whole or not there: written under a temporary name, then renamed."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from attention_theory.errors import BadInput, require


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path`; rename it to `path` when the block ends well.

    The temporary name keeps the suffix, because writers choose their format by it. A killed
    process leaves at most a file that starts with a dot, never a half-written `path`.
    """
    require(bool(path.name) and not path.is_dir(), "output", str(path), "be a file's path")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write `text` (UTF-8) to `path` atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: object) -> None:
    """Write `value` as indented JSON to `path` atomically."""
    write_text(path, json.dumps(value, indent=2, sort_keys=True) + "\n")


def write_arrays(path: Path, **arrays: np.ndarray) -> None:
    """Write named arrays to an .npz file atomically; equal arrays give equal bytes."""
    with replacing(path) as temporary:
        np.savez(temporary, **arrays)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Read every array of an .npz file. Raises BadInput if it is none; never unpickles."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (ValueError, EOFError, KeyError, OSError) as error:
        raise BadInput(f"{path}: no readable .npz file ({error})") from None
    except Exception as error:  # zipfile and zlib have error types of their own
        raise BadInput(f"{path}: damaged .npz file ({error})") from None


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
