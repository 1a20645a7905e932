"""Downloads that are whole and verified, or not there."""

import glob
import hashlib
import http.client
import os
import time
import urllib.error
import urllib.request
import uuid
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from attention_theory.errors import BadInput
from attention_theory.progress import Progress

STALLED = 60.0  # seconds without a byte
DEAD = 10 * STALLED  # seconds after which what nobody wrote to is a killed download's
BLOCK = 2**20  # bytes


class File(NamedTuple):
    """A published file: its name, where it is had, and the MD5 of its accepted versions."""

    name: str
    url: str
    md5: tuple[str, ...]


def verify(file: File, path: Path) -> None:
    """Raise BadInput unless `path` holds `file`."""
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, _md5).hexdigest()
    if found not in file.md5:
        raise BadInput(
            f"{path}: its MD5 is {found}; it must be {' or '.join(file.md5)}, that of {file.url} "
            "(another one that is wanted must be named in images.checksums)"
        )


def fetch(file: File, path: Path) -> None:
    """Download `file` to `path`: under a name of its own beside it, verified, then renamed.

    Several processes may do so at once: each has its own temporary file, and the last one renames.
    Raises BadInput that says what came in between and how to put the file there by hand.
    """
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_dead(path)
        with temporary.open("xb") as stream:
            found = _transfer(file.url, stream)
            os.fsync(stream.fileno())
        if found not in file.md5:
            raise _Broken(f"its MD5 is {found}")
        temporary.replace(path)
    except (OSError, ValueError, http.client.HTTPException, _Broken) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        reason = " ".join(str(error).split()) or type(error).__name__
        raise BadInput(
            f"{path}: not downloaded from {file.url}: {reason}; try again, or put the file there "
            f"by hand (its MD5 must be {' or '.join(file.md5)})"
        ) from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def _remove_dead(path: Path) -> None:
    """Remove what killed downloads of `path` left: not a live one's, on whatever machine it is."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError):  # another removed it, or it is another user's
            if time.time() - part.stat().st_mtime > DEAD:
                part.unlink()


class _Broken(Exception):
    """A transfer that ended, but not with the file."""


def _transfer(url: str, stream: BinaryIO) -> str:
    """Write what a URL holds to a stream; its MD5."""
    digest, done = _md5(), 0
    with urllib.request.urlopen(url, timeout=STALLED) as response:
        length = response.length
        blocks = -(-(length or 0) // BLOCK)
        with Progress(f"download of {url} (MiB)", blocks) as progress:
            while block := response.read(BLOCK):
                stream.write(block)
                digest.update(block)
                done += len(block)
                progress.advance()
    if length is not None and done < length:
        raise _Broken(f"it ended after {done} of {length} bytes")
    stream.flush()
    return digest.hexdigest()


def _md5() -> "hashlib._Hash":
    return hashlib.md5(usedforsecurity=False)
