"""What every test may use."""

import json
import os
import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from checkout import Checkout

from attention_theory import files

SMOKE_RUN = re.compile(r"^def \w+\([^)]*\bsmoke\b", re.MULTILINE)  # a fixture or test that has it
LONG = ("test_slurm.py", "test_drill.py", "test_extending.py")  # by the minute


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With several processes (`make test`) a file is one process's, and so are all files that use
    the smoke run: what a fixture of a module or of the session made is made once."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            name = nodeid.partition("::")[0]
            text = (config.rootpath / name).read_text("utf-8")
            return "smoke" if SMOKE_RUN.search(text) else name

    return ByFile(config, log)


def pytest_collection_modifyitems(items):
    """The longest come first, so that no process waits for another's at the end."""
    texts = {path: path.read_text("utf-8") for path in {item.path for item in items}}

    def turn(item):
        return 0 if SMOKE_RUN.search(texts[item.path]) else 1 if item.path.name in LONG else 2

    items.sort(key=turn)


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    """What a test drew is closed after it: many open figures are a warning, and so an error."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Steps compute with one thread by default; so do tests, if they compute at all."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def smoke(tmp_path_factory) -> Checkout:
    """A finished smoke run with two cores, in a folder whose name has a space, a quote and an
    accent; its logs name the modules that each job imported."""
    begun, ended = smoke_records(tmp_path_factory)
    begun.touch()
    checkout = Checkout(tmp_path_factory.mktemp("it's a naïve copy"))
    done = checkout.snakemake("--cores", 2, PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0, done.stderr[-3000:]
    files.write_json(ended, checkout.results())
    return checkout


@pytest.fixture(scope="session")
def smoke_results(request, tmp_path_factory):
    """What gives the results of the smoke run, whichever of the tests' processes runs it."""

    def results() -> dict[str, str]:
        begun, ended = smoke_records(tmp_path_factory)
        if not begun.exists():
            request.getfixturevalue("smoke")
        until = time.monotonic() + 1200
        while not ended.exists() and time.monotonic() < until:
            time.sleep(0.5)
        return json.loads(ended.read_text())

    return results


def smoke_records(tmp_path_factory) -> tuple[Path, Path]:
    """What tells all processes of one `make test` that the smoke run has begun, and its results."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return shared / "smoke.begun", shared / "smoke.json"
