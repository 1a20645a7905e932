"""What every test may use."""

import re
import sys

import numpy as np
import pytest
from checkout import Checkout

TOGETHER = re.compile(r"^def \w+\([^)]*\b(smoke|node)\b", re.MULTILINE)  # one test needs both


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With several processes (`make test`) a file is one process's, and so are all files that use
    the smoke run or Slurm: what a fixture of a module or of the session made is made once."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            name = nodeid.partition("::")[0]
            text = (config.rootpath / name).read_text("utf-8")
            return "smoke" if TOGETHER.search(text) else name

    return ByFile(config, log)


def pytest_collection_modifyitems(items):
    """The longest come first, so that no process waits for another's at the end."""
    texts = {path: path.read_text("utf-8") for path in {item.path for item in items}}
    items.sort(key=lambda item: TOGETHER.search(texts[item.path]) is None)


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
    checkout = Checkout(tmp_path_factory.mktemp("it's a naïve copy"))
    done = checkout.snakemake("--cores", 2, PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0, done.stderr[-3000:]
    return checkout
