"""Small problems that the tests of the study share."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attention_theory import code, files
from attention_theory.images import data, permutation, problem
from attention_theory.images import digits as digits_data
from attention_theory.images.settings import Split


@pytest.fixture(scope="session")
def digits() -> dict[str, np.ndarray]:
    """Digits with few of them to train on."""
    return data.prepare("digits", digits_data.load(), Split(test=0.7, validation=0.1), base_seed=0)


@pytest.fixture(scope="session")
def prepared(tmp_path_factory, digits) -> Path:
    """A folder with digits.npz and its permutations none.npz, patch.npz and pixel.npz."""
    folder = tmp_path_factory.mktemp("prepared")
    files.write_arrays(folder / "digits.npz", **digits)
    for granularity in ("none", "patch", "pixel"):
        drawn = permutation.draw(granularity, "digits", 8, 2, base_seed=0)
        arrays = {name: np.asarray(value) for name, value in drawn._asdict().items()}
        files.write_arrays(folder / f"{granularity}.npz", **arrays)
    return folder


@pytest.fixture(scope="module")
def whole(digits) -> problem.Problem:
    return problem.load(digits, permutation.draw("none", "digits", 8, 2, 0), "cpu")


@pytest.fixture
def call(tmp_path):
    """Run a step of the study as a user would; returns exit code and standard error."""

    def run(step: str, *words: object) -> tuple[int, str]:
        command = [sys.executable, "-m", f"attention_theory.images.{step}", *map(str, words)]
        environment = os.environ | {"PYTHONPATH": str(code.SOURCE)}
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=60
        )
        return done.returncode, done.stderr if done.returncode else done.stdout

    return run
