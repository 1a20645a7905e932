"""Checkpoints of long work: whole or not there, checked, and never taken for another's.

A checkpoint is a file `epoch-<number>.checkpoint`: a line that names the format, a line with the
SHA-256 of all that follows, a line of JSON (format version, epoch, and what must match), and the
tensors in safetensors' format; nothing is unpickled. It is written under a temporary name, forced
to the disk, then renamed. The one before is kept; of two, the newest whole one is used. A file that
does not begin with that line is not one of ours, whatever its name: it is never read, replaced or
removed.
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from attention_theory import files
from attention_theory.errors import BadInput, require

if TYPE_CHECKING:
    from torch import Tensor

MAGIC = b"attention-theory checkpoint"
VERSION = 1
FLIPPED = 2  # bits of its first line, by which a file may differ and still be ours
NAME = re.compile(r"epoch-\d{6,}\.checkpoint")
HALF_WRITTEN = re.compile(r"\.epoch-\d{6,}\.\d+\.checkpoint")  # files.replacing's name


class Damaged(Exception):
    """A checkpoint of ours that is not whole: cut off or changed."""


class Checkpoints:
    """The checkpoints of one training in a folder of their own; `about` is what must match."""

    def __init__(self, folder: Path, about: Mapping) -> None:
        self.folder = folder
        self.about = json.loads(json.dumps(about))
        self.whole: list[Path] = []  # read or written by this process, the newest last

    def save(self, epoch: int, tensors: Mapping[str, "Tensor"]) -> None:
        """Write the checkpoint of an epoch; then drop all others but the last whole one before.

        Raises BadInput, and writes nothing, if a tensor is not finite: there is nothing to go on
        from.
        """
        name = not_finite(tensors)
        if name is not None:
            raise BadInput(f"{self.folder}: {name} is not finite; no checkpoint is written of it")
        self._refuse_foreign()
        path = self.folder / f"epoch-{epoch:06d}.checkpoint"
        with files.replacing(path, lasting=False) as temporary, temporary.open("wb") as file:
            file.write(_encode(epoch, self.about, tensors))
            file.flush()
            os.fsync(file.fileno())
        _force_names(self.folder)
        self.whole = [kept for kept in self.whole if kept != path][-1:] + [path]
        for other in self._ours():
            if other not in self.whole:
                other.unlink()

    def load(self, aloud: bool = True) -> tuple[int, dict[str, "Tensor"]] | None:
        """Epoch and tensors of the newest whole checkpoint; None if there is none.

        A damaged one is named on standard error and passed over: the epochs since the one before
        it are trained again, to the same bits. Raises BadInput, with the first difference, if a
        whole one is of another training: to go on from it would mix the two, and to start afresh
        would throw its work away. Raises it too for a foreign file by a checkpoint's name. Where
        several processes load, one of them does it `aloud`.
        """
        self._refuse_foreign()
        damaged = False
        for path in sorted(self._named(NAME), reverse=True):
            try:
                epoch, about, tensors = _read(path)
            except Damaged as fault:
                damaged = True
                if aloud:
                    _say(f"{path}: damaged checkpoint ({fault}); it is passed over")
                continue
            if difference := _difference(about, self.about):
                raise BadInput(
                    f"{path}: a checkpoint of another training: {difference}; put that back, or "
                    f"remove {self.folder} to start afresh"
                )
            self.whole = [path]
            return epoch, tensors
        if damaged and aloud:
            _say(f"{self.folder}: no whole checkpoint is left; training starts afresh")
        return None

    def clear(self) -> None:
        """Remove the checkpoints, and the folder unless something else lies in it."""
        for path in self._ours():
            path.unlink()
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _ours(self) -> list[Path]:
        """Our checkpoints, damaged ones too, and what our killed processes left half-written."""
        begun = [path for path in self._named(HALF_WRITTEN) if _begins(path)]
        return [path for path in self._named(NAME) if _begins(path)] + begun

    def _named(self, name: re.Pattern) -> list[Path]:
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        return [path for path in found if name.fullmatch(path.name)]

    def _refuse_foreign(self) -> None:
        for path in self._named(NAME):
            if not _begins(path):
                raise BadInput(
                    f"{path}: not a checkpoint of this program (its first line is not a "
                    "checkpoint's); move it away"
                )


def not_finite(tensors: Mapping[str, "Tensor"]) -> str | None:
    """The name of the first tensor that holds a NaN or an infinity, if any."""
    bad = (name for name, value in tensors.items() if not value.isfinite().all())
    return next(bad, None)


def _begins(path: Path) -> bool:
    """Whether a file begins as our checkpoints do, but for a bit or two; was cut off while it did;
    or begins with zeros, as a file does that a crashed machine never wrote."""
    if not path.is_file():
        return False
    line = MAGIC + b"\n"
    with path.open("rb") as file:
        start = file.read(len(line))
    if len(start) < len(line):
        return line.startswith(start)
    flipped = sum((a ^ b).bit_count() for a, b in zip(start, line, strict=True))
    return flipped <= FLIPPED or not any(start)


def read(path: Path) -> dict[str, "Tensor"]:
    """The tensors of one checkpoint, whatever training it is of. Raises BadInput if it is none."""
    try:
        return _read(path)[2]
    except Damaged as fault:
        raise BadInput(f"{path}: no whole checkpoint ({fault})") from None


def _encode(epoch: int, about: Mapping, tensors: Mapping[str, "Tensor"]) -> bytes:
    import safetensors.torch

    head = json.dumps({"version": VERSION, "epoch": epoch, "about": about}).encode()
    stored = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    body = head + b"\n" + safetensors.torch.save(stored)
    return b"\n".join([MAGIC, hashlib.sha256(body).hexdigest().encode(), body])


def _read(path: Path) -> tuple[int, dict, dict[str, "Tensor"]]:
    """Epoch, what must match, and tensors. Raises Damaged, or BadInput for another format."""
    import safetensors.torch

    first, _, rest = path.read_bytes().partition(b"\n")
    if first != MAGIC:
        raise Damaged("its first line is wrong")
    digest, _, body = rest.partition(b"\n")
    if digest != hashlib.sha256(body).hexdigest().encode():
        raise Damaged("its checksum is wrong")
    line, _, stored = body.partition(b"\n")
    head = json.loads(line)
    if head["version"] != VERSION:
        allowed = f"be {VERSION}, or the checkpoint be removed"
        require(False, f"{path}: format", head["version"], allowed)
    return head["epoch"], head["about"], safetensors.torch.load(stored)


def _difference(there: object, here: object, key: str = "") -> str | None:
    """The first key at which two JSON values differ, with both values; None if they are equal."""
    if there == here:
        return None
    if isinstance(there, dict) and isinstance(here, dict):
        for name in sorted(there.keys() | here.keys()):
            place = f"{key}.{name}" if key else name
            if found := _difference(there.get(name), here.get(name), place):
                return found
    return f"{key} is {there!r} there and {here!r} here"


def _force_names(folder: Path) -> None:
    """Force a folder's names to the disk: a rename outlives a power cut only then."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
