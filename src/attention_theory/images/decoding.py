"""Images that stay in their files: decoded in parallel when they are asked for.

An image becomes RGB, its shorter side is scaled to `resize` pixels (bilinear, antialiased) and the
square of `size` pixels in its middle is kept. Transparency is dropped, orientation tags are not
followed, as in the usual ImageNet pipelines.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from attention_theory.errors import BadInput
from attention_theory.progress import Progress

FORMATS = ("JPEG", "PNG", "WEBP", "BMP")  # Pillow knows some that start other programs
MODES = ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr")  # 8 bits a channel or fewer
CHUNK = 1024  # images at a time
NAMED = 3  # broken images that the line names; it counts all


def histogram(images: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """How often each value occurs in a channel of the chosen images, (channels, 256) int64."""
    counts = np.zeros((images.shape[1], 256), np.int64)
    for chunk in _chunks(chosen):
        counts += _counted(images[chunk])
    return counts


class Images:
    """Images (n, 3, size, size) uint8 of which the files are known; indexing decodes them.

    `paths` (n,) are bytes below `root`, `lengths` (n,) the files' sizes in bytes.
    """

    KEYS = "root paths lengths size resize".split()

    def __init__(
        self, root: str, paths: np.ndarray, lengths: np.ndarray, size: int, resize: int
    ) -> None:
        self.root, self.paths, self.lengths = root, paths, lengths
        self.size, self.resize = size, resize
        self.shape = (len(paths), 3, size, size)
        self.dtype = np.dtype(np.uint8)

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> "Images":
        """The images that an index names."""
        root, paths, lengths, size, resize = (arrays[key] for key in cls.KEYS)
        return cls(root.item(), paths, lengths, size.item(), resize.item())

    def arrays(self) -> dict[str, np.ndarray]:
        """The index as arrays, to be stored."""
        return {key: np.asarray(getattr(self, key)) for key in self.KEYS}

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, chosen: np.ndarray) -> np.ndarray:
        """The chosen images, decoded. Raises BadInput with the names of those that cannot be."""
        found = np.empty((len(chosen), *self.shape[1:]), np.uint8)
        self.decode_into(found, chosen)
        return found

    def decode_into(self, found: np.ndarray, chosen: np.ndarray) -> None:
        """Decode the chosen images into `found` (chosen, 3, size, size) uint8, chunk by chunk.

        Raises BadInput with the names of those that cannot be.
        """
        if not Path(self.root).is_dir():
            raise BadInput(
                f"{self.root}: no such folder: it had the images when their index was made; put it "
                "back, or remove the index (images/data/imagefolder.npz)"
            )
        broken = {}
        with Progress("images decoded", len(chosen)) as progress:
            for places in _chunks(np.arange(len(chosen))):
                broken |= self._decode(chosen[places], found[places[0] : places[-1] + 1])
                progress.advance(f"{len(broken)} broken", len(places))
        self._refuse(broken)

    def part(self, chosen: np.ndarray) -> "Images":
        """The chosen images, still in their files."""
        return Images(self.root, self.paths[chosen], self.lengths[chosen], self.size, self.resize)

    def histogram(self, train: np.ndarray) -> np.ndarray:
        """`histogram` of the images to train on. Decodes all, so that each is known to be whole.

        Raises BadInput that counts those that are not, over the whole folder.
        """
        counts, broken = np.zeros((3, 256), np.int64), {}
        others = np.setdiff1d(np.arange(len(self)), train)
        space = np.zeros((CHUNK, *self.shape[1:]), np.uint8)
        with Progress("images decoded", len(self)) as progress:
            for part, counted in ((train, True), (others, False)):
                for chunk in _chunks(part):
                    found = space[: len(chunk)]
                    broken |= self._decode(chunk, found)
                    counts += _counted(found) if counted else 0
                    progress.advance(f"{len(broken)} broken", len(chunk))
        self._refuse(broken)
        return counts

    def _decode(self, chosen: np.ndarray, found: np.ndarray) -> dict[str, str]:
        """Decode into `found`; the names of the images that cannot be, with what is wrong."""
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:  # Pillow lets go of the GIL
            results = list(pool.map(self._one, np.asarray(chosen).tolist(), found))
        return {name: reason for name, reason in results if reason is not None}

    def _one(self, index: int, found: np.ndarray) -> tuple[str, str | None]:
        name = os.fsdecode(self.paths[index])
        try:
            path = Path(self.root, name)
            length = path.stat().st_size
            if length != self.lengths[index]:
                return name, f"{length} bytes, {self.lengths[index]} when it was indexed"
            found[:] = decode(path, self.size, self.resize)
            return name, None
        except Exception as error:  # a damaged file can make Pillow raise almost anything
            return name, str(error).replace(f" {str(path)!r}", "") or type(error).__name__

    def _refuse(self, broken: dict[str, str]) -> None:
        if broken:
            named = [f"{name} ({reason})" for name, reason in list(broken.items())[:NAMED]]
            more = [f"{len(broken) - NAMED} more"] if len(broken) > NAMED else []
            raise BadInput(
                f"{self.root}: {len(broken)} of {len(self)} images cannot be decoded: "
                f"{', '.join(named + more)}; replace or remove them"
            )


def decode(path: Path, size: int, resize: int) -> np.ndarray:
    """One image, (3, size, size) uint8. Raises what Pillow raises, ValueError for its mode."""
    from PIL import Image

    with Image.open(path, formats=FORMATS) as image:
        if image.mode not in MODES:
            raise ValueError(f"its mode {image.mode} is none of {', '.join(MODES)}")
        image.draft("RGB", (resize, resize))  # a large JPEG is decoded at a fraction of its size
        side = min(image.size) * size / resize
        left, top = ((length - side) / 2 for length in image.size)
        box = (left, top, left + side, top + side)
        image.info.pop("transparency", None)
        square = image.convert("RGB").resize((size, size), Image.Resampling.BILINEAR, box)
    return np.asarray(square).transpose(2, 0, 1)


def _chunks(chosen: np.ndarray) -> Iterator[np.ndarray]:
    for start in range(0, len(chosen), CHUNK):
        yield chosen[start : start + CHUNK]


def _counted(images: np.ndarray) -> np.ndarray:
    channels = images.swapaxes(0, 1).reshape(images.shape[1], -1)
    return np.stack([np.bincount(values, minlength=256) for values in channels])
