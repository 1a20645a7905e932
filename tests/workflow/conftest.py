"""One smoke run of the whole workflow, in a folder whose name has a space, a quote, an accent."""

import pytest
from checkout import Checkout


@pytest.fixture(scope="session")
def smoke(tmp_path_factory) -> Checkout:
    """A finished smoke run with two cores, whose logs name the modules that each job imported."""
    checkout = Checkout(tmp_path_factory.mktemp("it's a naïve copy"))
    done = checkout.snakemake("--cores", 2, PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0, done.stderr[-3000:]
    return checkout
