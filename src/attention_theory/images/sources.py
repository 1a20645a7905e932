"""Where the files of a data set are: in a folder that the user names, or downloaded.

Nothing is read whose checksum is not known: the publisher's, as torchvision has it, or one that
the user names.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from attention_theory.errors import BadInput, require
from attention_theory.images import download
from attention_theory.images.download import File
from attention_theory.step import option


@dataclass(frozen=True)
class Location:
    """The settings that say where files are. `data_dir` is only read, never written to."""

    data_dir: Path | None = option("folder that has the files; nothing is downloaded then", None)
    downloads: Path = option("folder that files are downloaded to and kept in", Path("data"))
    mirror: str = option("URL of a folder to download from in place of the publishers'", "")
    checksum: list[str] | None = option(
        "NAME=MD5 of a file that may differ from the published one; repeatable", None
    )

    def __post_init__(self) -> None:
        for pair in self.checksum or []:
            form = re.fullmatch("[^=]+=[0-9a-f]{32}", pair)
            require(bool(form), "checksum", pair, "read NAME=MD5, 32 digits 0-9a-f")
        http = not self.mirror or self.mirror.startswith(("http://", "https://"))
        require(http, "mirror", self.mirror, "start with http:// or https://")

    def _wanted(self, file: File) -> File:
        """A file as these settings want it: from the mirror, with the checksum that they name."""
        named = dict(pair.split("=") for pair in self.checksum or [])
        url = f"{self.mirror.rstrip('/')}/{file.name}" if self.mirror else file.url
        return File(file.name, url, (named[file.name],) if file.name in named else file.md5)

    def folders(self, dataset: str) -> list[Path]:
        """Where a data set may lie: data_dir and its sub-folder for it, or that of downloads."""
        own = [self.downloads / dataset]
        return [self.data_dir / dataset, self.data_dir] if self.data_dir else own

    def at_hand(self, dataset: str, *places: str) -> Path | None:
        """The first of some paths, relative to a data set's folder, that is there."""
        paths = [folder / place for folder in self.folders(dataset) for place in places]
        return next((path for path in paths if path.exists()), None)

    def obtain(self, dataset: str, file: File, *below: str) -> Path:
        """A file of a data set, verified; downloaded unless it is there or `data_dir` is set.

        In `data_dir` the file may also lie in the sub-folders `below`. Raises BadInput in one line
        with the file, its checksum and where to put it.
        """
        file = self._wanted(file)
        path = self.at_hand(dataset, file.name, *(f"{folder}/{file.name}" for folder in below))
        if path is not None:
            download.verify(file, path)
            return path
        path = self.folders(dataset)[0] / file.name
        if self.data_dir:
            raise BadInput(
                f"{dataset}: {self.data_dir} has no {file.name}; put it at {path} (from "
                f"{file.url}, MD5 {' or '.join(file.md5)}) or leave data_dir out to download it"
            )
        download.fetch(file, path)
        return path
