"""Tiny data sets in the layouts that the publishers use, and a server on loopback that has them."""

import contextlib
import gzip
import hashlib
import io
import struct
import tarfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

SIZES = {"cifar10": 32, "cifar100": 32, "svhn": 32, "fashion_mnist": 28}
CLASSES = {"cifar10": 10, "cifar100": 100, "svhn": 10, "fashion_mnist": 10}


def parts(dataset: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """n images to train on and n for the test, (2, n, channels, size, size), and their labels."""
    rng = np.random.default_rng([n, *dataset.encode()])
    channels = 1 if dataset == "fashion_mnist" else 3
    images = rng.integers(0, 256, (2, n, channels, SIZES[dataset], SIZES[dataset]), np.uint8)
    labels = np.stack([rng.permutation(np.arange(n) % CLASSES[dataset]) for _ in range(2)])
    return images, labels


def build(dataset: str, folder: Path, n: int = 200) -> Path:
    """The published files of a data set with n + n images in a folder; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    images, labels = parts(dataset, n)
    if dataset == "fashion_mnist":
        for name, x, y in zip(("train", "t10k"), images[:, :, 0], labels, strict=True):
            (folder / f"{name}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(x)))
            (folder / f"{name}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(y)))
    elif dataset == "svhn":
        from scipy.io import savemat

        for name, x, y in zip(("train", "test"), images, labels, strict=True):
            arrays = {"X": x.transpose(2, 3, 1, 0), "y": np.where(y == 0, 10, y)[:, None]}
            savemat(folder / f"{name}_32x32.mat", arrays, do_compression=True)
    else:
        name = {"cifar10": "cifar-10-python", "cifar100": "cifar-100-python"}[dataset]
        (folder / f"{name}.tar.gz").write_bytes(tarred(batches(dataset, images, labels)))
    return folder


def batches(dataset: str, images: np.ndarray, labels: np.ndarray) -> dict[str, bytes]:
    """The members of a CIFAR archive by name."""
    flat = images.reshape(*images.shape[:2], -1)
    if dataset == "cifar10":
        base, key = "cifar-10-batches-py", b"labels"
        train = zip(np.array_split(flat[0], 5), np.array_split(labels[0], 5), strict=True)
        named = {f"data_batch_{index + 1}": pair for index, pair in enumerate(train)}
        named["test_batch"] = flat[1], labels[1]
    else:
        base, key = "cifar-100-python", b"fine_labels"
        named = {"train": (flat[0], labels[0]), "test": (flat[1], labels[1])}
    return {
        f"{base}/{name}": b"\x80\x02"
        + pickled({b"batch_label": b"tiny", key: y.tolist(), b"data": x, b"filenames": [b"a.png"]})
        + b"."
        for name, (x, y) in named.items()
    }


def tarred(members: dict[str, bytes]) -> bytes:
    """A .tar.gz file."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        for name, data in members.items():
            about = tarfile.TarInfo(name)
            about.size = len(data)
            tar.addfile(about, io.BytesIO(data))
    return content.getvalue()


def idx(array: np.ndarray) -> bytes:
    """An array of values 0..255 as an idx file."""
    header = struct.pack(f">{array.ndim + 1}I", 0x0800 + array.ndim, *array.shape)
    return header + array.astype(np.uint8).tobytes()


def pickled(value: object) -> bytes:
    """A value as Python 2 pickled it with protocol 2: its text is what are bytes today."""
    if isinstance(value, dict):
        items = b"".join(pickled(key) + pickled(item) for key, item in value.items())
        return b"}(" + items + b"u"
    if isinstance(value, list):
        return b"](" + b"".join(map(pickled, value)) + b"e"
    if isinstance(value, int):
        return b"J" + struct.pack("<i", value)
    if isinstance(value, bytes):
        return b"T" + struct.pack("<i", len(value)) + value
    shape = b"(" + b"".join(map(pickled, value.shape)) + b"t"
    return (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tU\x01btR"
        b"(K\x01" + shape + b"cnumpy\ndtype\n(U\x02u1K\x00K\x01tR(K\x03U\x01|NNN"
        b"J\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89" + pickled(value.tobytes()) + b"tb"
    )


def checksums(folder: Path) -> list[str]:
    """NAME=MD5 of every file of a folder."""
    found = sorted(path for path in folder.iterdir() if path.is_file())
    return [f"{path.name}={hashlib.md5(path.read_bytes()).hexdigest()}" for path in found]


class Handler(BaseHTTPRequestHandler):
    """Serves the files of a folder, well or badly: the URL's first part says how."""

    folder: Path
    asked: list[str]

    def do_GET(self) -> None:
        _, how, name = self.path.split("/")
        self.asked.append(name)
        path = self.folder / name
        if how == "gone" or not path.is_file():
            self.send_error(404)
            return
        content = path.read_bytes()
        if how == "silent":
            time.sleep(3)
            return
        self.send_response(200)
        if how != "unsized":
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if how in ("cut", "unsized"):
            content = content[: len(content) // 2]
        if how == "wrong":
            content = content[:-1] + bytes([content[-1] ^ 1])
        with contextlib.suppress(ConnectionError):  # the other side may be gone
            for start in range(0, len(content), -(-len(content) // 20)):
                self.wfile.write(content[start : start + -(-len(content) // 20)])
                time.sleep(0.1 if how == "slow" else 0)

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """A server on loopback: its URL, below which a word says how, and the names asked for."""
    handler = type("Handler", (Handler,), {"folder": folder, "asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", handler.asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
