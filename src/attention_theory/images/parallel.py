"""Who computes a batch: one process, or several that share it (torch.distributed, by Fabric).

Each process takes an equal part of every batch and the gradients are averaged, so that a step is
that of one process, up to the order of the sums. Every process draws the same random numbers.
"""

import logging
import math
import mmap
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, Self

import numpy as np
from torch import Tensor, nn

from attention_theory.errors import BadInput
from attention_theory.images.watching import Watch

if TYPE_CHECKING:
    from lightning_fabric import Fabric


PATIENCE = timedelta(days=7)  # with each other: one may decode a large folder for all


class Team:
    """One process: a team of its own."""

    rank, processes = 0, 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """The work of all is over, by an error of this process or well."""

    @property
    def first(self) -> bool:
        """Whether this process is the one that writes and speaks."""
        return self.rank == 0

    def wrap(self, model: nn.Module) -> nn.Module:
        """The model to call in training."""
        return model

    def backward(self, loss: Tensor) -> None:
        loss.backward()

    def gradients(self, model: nn.Module, complete: bool) -> AbstractContextManager:
        """Around a part of a batch: only the last, with which it is complete, shares gradients."""
        return nullcontext()

    def mean(self, value: Tensor) -> Tensor:
        """The mean of a value over the processes."""
        return value

    def filled(self, shape: tuple, fill: Callable[[np.ndarray], None]) -> np.ndarray:
        """A uint8 array that `fill` fills, once for all processes, which share its memory."""
        array = np.empty(shape, np.uint8)
        fill(array)
        return array

    def share(self, images: int, batch: int) -> np.ndarray:
        """The places of this process's images among those of some whole batches, in order."""
        places = np.arange(images).reshape(-1, self.processes, batch // self.processes)
        return places[:, self.rank].reshape(-1)


class Several(Team):
    """One of several processes of one machine: with a GPU each, or on the CPU (for tests)."""

    def __init__(self, fabric: "Fabric", watch: Watch) -> None:
        self.fabric, self.watch = fabric, watch
        self.rank, self.processes = fabric.global_rank, fabric.world_size

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.watch.end(error)

    def wrap(self, model: nn.Module) -> nn.Module:
        return self.fabric.setup_module(model)

    def backward(self, loss: Tensor) -> None:
        self.fabric.backward(loss)

    def gradients(self, model: nn.Module, complete: bool) -> AbstractContextManager:
        return self.fabric.no_backward_sync(model, enabled=not complete)

    def mean(self, value: Tensor) -> Tensor:
        return self.fabric.all_reduce(value, reduce_op="mean")

    def filled(self, shape: tuple, fill: Callable[[np.ndarray], None]) -> np.ndarray:
        """The memory is a file without a name, which the others open through the first process."""
        memory = os.memfd_create("images") if self.first else -1
        owner, number = self.fabric.broadcast((os.getpid(), memory))
        if self.first:
            os.truncate(memory, math.prod(shape))
        self.fabric.barrier()
        if not self.first:
            memory = os.open(f"/proc/{owner}/fd/{number}", os.O_RDWR)
        array = np.frombuffer(mmap.mmap(memory, math.prod(shape)), np.uint8).reshape(shape)
        if self.first:
            fill(array)
        self.fabric.barrier()
        os.close(memory)
        return array


ALONE = Team()


def start(processes: int, device: str) -> Team:
    """Start the other processes of a step: each runs the same command line from the beginning.

    What they do together stands in a `with` block of the team: if one fails there, or is killed,
    all end within seconds, with one line. Raises BadInput if lightning-fabric is not installed.
    """
    if processes == 1:
        return ALONE
    try:
        from lightning_fabric import Fabric
        from lightning_fabric.plugins.environments import LightningEnvironment
        from lightning_fabric.strategies import DDPStrategy
    except ImportError:
        raise BadInput(
            f"processes: {processes} is not allowed without lightning-fabric; it must be 1 "
            "(or: pip install 'attention-theory[processes]')"
        ) from None
    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
    watch = Watch(children := [])
    if watch.first:
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": _free_port(), "LOCAL_RANK": "0"}
        command = [sys.executable, *sys.orig_argv[1:]]
        for rank in range(1, processes):
            own = os.environ | {"LOCAL_RANK": str(rank)}
            children.append(subprocess.Popen(command, env=own))
    try:
        strategy = DDPStrategy(
            cluster_environment=LightningEnvironment(),
            process_group_backend="gloo" if device == "cpu" else "nccl",
            timeout=PATIENCE,
        )
        fabric = Fabric(accelerator=device, devices=processes, strategy=strategy)
        fabric.launch()
    except BaseException as error:
        watch.end(error)
        raise
    return Several(fabric, watch)


def _free_port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])
