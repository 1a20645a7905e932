"""What every test may use."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Steps compute with one thread by default; so do tests, if they compute at all."""
    import torch

    torch.set_num_threads(1)
