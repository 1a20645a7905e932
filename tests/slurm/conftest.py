"""A Slurm for these tests, or the reason why there is none."""

import onenode
import pytest


@pytest.fixture(scope="session")
def node(tmp_path_factory):
    """A Slurm of one node, with two devices that stand for GPUs."""
    reason = onenode.impossible()
    if reason:
        pytest.skip(reason)
    node = onenode.OneNode(tmp_path_factory.mktemp("slurm"))
    yield node
    node.close()
