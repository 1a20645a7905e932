"""Writes of every kind on a full disk, and a torch out of memory: crowded.py FOLDER SMALL.

SMALL is a folder on a disk that is too small for what is written, or `limit`: no file may be large
(where a test may not mount a disk). Prints JSON: what each write said, and what it left behind.
"""

import contextlib
import io
import json
import resource
import signal
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import torch

from attention_theory import checkpoint, files, step, style, tables
from attention_theory.errors import BadInput

matplotlib.use("Agg")
NOISE = np.random.default_rng(0).integers(0, 255, (300, 300), np.uint8)


def figure(path):
    shown, axes = style.plt.subplots(figsize=(8, 8))
    axes.imshow(NOISE)
    style.save(shown, pd.DataFrame({"x": [1]}), path.with_suffix(""))


def weights(path):
    from attention_theory.images import training

    fitted = type("Fitted", (), {"snapshots": [{}]})()
    fitted.model = torch.nn.Linear(300, 300)
    training._write(fitted, path, path.with_suffix(".npz"), {})


WRITES = {
    "table.csv": lambda path: tables.write(path, pd.DataFrame({"x": NOISE.ravel()}), ["x"]),
    "arrays.npz": lambda path: files.write_arrays(path, x=NOISE),
    "record.json": lambda path: files.write_json(path, NOISE.tolist()),
    "figure.pdf": figure,
    "model.safetensors": weights,
    "epoch-000002.checkpoint": lambda path: checkpoint.Checkpoints(path.parent, {}).save(
        2, {"x": torch.from_numpy(NOISE.copy())}
    ),
}


def said(write, path):
    try:
        write(path)
    except BadInput as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def out_of_memory():
    """A step whose tensor does not fit: its exit status and what it printed."""

    def main() -> None:
        torch.empty(2**36, dtype=torch.uint8).fill_(0)

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**28,) * 2)
    sys.argv = ["crowded"]
    with contextlib.redirect_stderr(io.StringIO()) as screen:
        try:
            step.run(main)
        except SystemExit as ended:
            return [ended.code, screen.getvalue()]


folder = Path(sys.argv[1])
outcomes = {}
for name in WRITES:
    place = folder / name.partition(".")[0]
    place.mkdir()
    (place / name).write_text("attention-theory checkpoint\n" if "epoch" in name else "whole")
if sys.argv[2] == "limit":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**14,) * 2)
else:
    with contextlib.suppress(OSError):
        Path(folder, "ballast").write_bytes(bytes(2**20))
for name, write in WRITES.items():
    place = folder / name.partition(".")[0]
    outcome = said(write, place / name)
    left = {path.name: path.read_text(errors="replace") for path in place.iterdir()}
    outcomes[name] = [outcome, left]
print(json.dumps({"outcomes": outcomes, "memory": out_of_memory()}))
