"""What every test may use."""

import sys

import numpy as np
import pytest
from checkout import Checkout


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items):
    """With several processes (`make test`), a file is one process's, and so is the smoke run: what
    a fixture of a module or of the session made is made once. The longest come first."""

    def needs_smoke(item):
        return bool({"smoke", "node"} & set(item.fixturenames))  # one test of Slurm needs both

    items.sort(key=lambda item: not needs_smoke(item))
    for item in items:
        group = "smoke" if needs_smoke(item) else item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group(group))


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
