"""Walks through a folder that see what links lead to: results may lie on several disks."""

import os
from collections.abc import Iterator
from pathlib import Path


def folders(top: Path) -> Iterator[Path]:
    """`top` and all folders below, linked ones too; each once, whatever links lead to it."""
    seen = set()
    for name, below, _ in os.walk(top, followlinks=True):
        place = os.path.realpath(name)
        if place in seen:
            below.clear()
            continue
        seen.add(place)
        yield Path(name)


def files(top: Path, pattern: str = "*") -> Iterator[Path]:
    """The files in `top` and below whose names match, in the order of their paths in a folder."""
    for folder in folders(top):
        yield from sorted(path for path in folder.glob(pattern) if path.is_file())
