"""SHA-256 of what steps wrote, kept in their records: what is damaged later is found and named.

A record, `<folder>/provenance/<name>.json`, holds under `outputs` the SHA-256 of every file that
its step wrote, by path from the record's own folder, and under `sha256` that of all else in it.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from attention_theory import walking
from attention_theory.errors import BadInput

RECORDS = "provenance"
DEPTH = 4  # a file's record lies in one of so many folders above it


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def of(paths: list[Path], folder: Path) -> dict[str, str]:
    """The SHA-256 of those of the files that are there, by path from `folder`."""
    found = sorted({path.absolute() for path in paths if path.is_file()})
    return {os.path.relpath(path, folder.absolute()): sha256(path) for path in found}


def sealed(record: Mapping) -> dict:
    """The record as JSON has it, with the SHA-256 of its own content."""
    plain = json.loads(json.dumps(record))
    return plain | {"sha256": _digest(plain)}


def check(path: Path) -> None:
    """Raise BadInput, naming the file and its record, unless it is as its step wrote it.

    A file that no record names passes.
    """
    found = _recorded(path)
    if found is not None and sha256(path) != found[0]:
        raise BadInput(
            f"{path}: damaged: its SHA-256 is not the one in {found[1]}; `make figures` makes it "
            "again, or remove it"
        )


def damaged(folder: Path) -> Iterator[Path]:
    """Records below `folder` that are not whole, and files that are not as their record says.

    Files elsewhere are not looked at, whatever a record says of them.
    """
    here = _place(folder.absolute())
    for record in walking.files(folder, "*.json"):
        if record.parent.name != RECORDS:
            continue
        outputs = _outputs(record)
        if outputs is None:
            yield record
            continue
        for path, known in outputs.items():
            if path.absolute().is_relative_to(here) and path.is_file() and sha256(path) != known:
                yield path


def read(record: Path) -> dict:
    """A record's content. Raises BadInput, naming it, if it is none or is not whole."""
    try:
        content = json.loads(record.read_text(encoding="utf-8"))
        whole = _outputs(record) is not None
    except (ValueError, OSError) as error:
        raise BadInput(f"{record}: no provenance record ({error})") from None
    if not whole or not isinstance(content, dict):
        raise BadInput(f"{record}: damaged provenance record; remove it, and it is made again")
    return content


def _recorded(path: Path) -> tuple[str, Path] | None:
    """The SHA-256 that a record has of a file, and the record."""
    place = _place(path.absolute())
    for parent in list(place.parents)[:DEPTH]:
        folder = parent / RECORDS
        if folder.is_dir():
            return _known(folder, folder.stat().st_mtime_ns).get(place)
    return None


@cache
def _known(folder: Path, _changed: int) -> dict[Path, tuple[str, Path]]:
    """What the records of a folder say, until a record comes or goes."""
    return {
        path: (known, record)
        for record in sorted(folder.glob("*.json"))
        for path, known in (_outputs(record) or {}).items()
    }


def _outputs(record: Path) -> dict[Path, str] | None:
    """The outputs of a record by path; None if the record is damaged."""
    try:
        content = json.loads(record.read_text(encoding="utf-8"))
        if not {"outputs", "sha256"} & content.keys():  # by hand, or before there were checksums
            return {}
        if content.pop("sha256", None) != _digest(content):
            return None
        return {_place(record.parent / name): known for name, known in content["outputs"].items()}
    except (ValueError, TypeError, AttributeError, KeyError):
        return None


def _place(path: Path) -> Path:
    """A path by its text alone: results may be links, to another disk or to Snakemake's cache."""
    return Path(os.path.normpath(path))


def _digest(content: Mapping) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
