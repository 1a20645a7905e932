"""Files that are whole or not there: written under a temporary name, then renamed."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from attention_theory import checksums
from attention_theory.checksums import sha256 as sha256  # steps write `files.sha256(...)`
from attention_theory.errors import BadInput, require

HALF_WRITTEN = re.compile(r"\..+\.(\d+)(\.[A-Za-z0-9]+)?")  # the process that wrote it
written: list[Path] = []  # by this process; a job's record has their checksums


@contextmanager
def replacing(path: Path, lasting: bool = True) -> Iterator[Path]:
    """Yield a temporary name beside `path`; rename it to `path` when the block ends well.

    The temporary name keeps the suffix, because writers choose their format by it. A killed
    process leaves at most a file that starts with a dot, never a half-written `path`. What is not
    `lasting`, such as a checkpoint, no record names. Raises BadInput, naming `path`, if the disk is
    full.
    """
    require(bool(path.name) and not path.is_dir(), "output", str(path), "be a file's path")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield temporary
        temporary.replace(path)
        if lasting:
            written.append(path)
    except OSError as error:
        if error.filename is not None:
            raise
        raise BadInput(f"{path}: not written ({error.strerror or error})") from None
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
    """Read every array of an .npz file. Raises BadInput if it is none, or not as its step wrote it;
    never unpickles."""
    try:
        checksums.check(path)
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except BadInput:
        raise
    except (ValueError, EOFError, KeyError, OSError) as error:
        raise BadInput(f"{path}: no readable .npz file ({error})") from None
    except Exception as error:  # zipfile and zlib have error types of their own
        raise BadInput(f"{path}: damaged .npz file ({error})") from None
