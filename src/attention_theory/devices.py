"""The device a job computes on, and how many GPUs there are, without importing torch."""

import ctypes
import fcntl
import os
import tempfile
import time
from pathlib import Path

from attention_theory.errors import require


def count() -> int:
    """The number of usable CUDA GPUs, asked of the driver; honours CUDA_VISIBLE_DEVICES."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "all").strip() in ("", "-1"):
        return 0
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    number = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(number)) != 0:
        return 0
    return number.value


def prepare(gpu: int, threads: int) -> str:
    """Make torch compute on a GPU (`gpu` 1) or on the CPU with `threads` threads.

    Returns the torch device. Raises BadInput if a GPU is asked for where there is none.
    """
    if gpu:
        require(count() > 0, "gpu", gpu, "be 0 on a machine without a usable GPU")
        take_slot()
    # cuBLAS repeats its sums in one order only with a workspace of its own, set before it starts.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    import torch

    torch.set_num_threads(threads)
    # As use_deterministic_algorithms(True), which also imports torch's compiler (2 CPU seconds).
    torch.set_deterministic_debug_mode("error")
    return "cuda" if gpu else "cpu"


def take_slot() -> None:
    """Wait for a GPU that no other job of this user on this machine holds, and see it alone.

    A slot is a locked file; the lock ends with the process, however it ends. Where one device is
    visible there is nothing to choose.
    """
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    devices = listed.split(",") if listed else [str(index) for index in range(count())]
    while len(devices) > 1 and not any(map(_hold, devices)):
        time.sleep(0.5)


def _hold(device: str) -> bool:
    """Lock a device's slot and see that device alone; False if another job holds it."""
    name = f"attention-theory-{os.getuid()}-gpu-{device.replace('/', '_')}.lock"
    slot = os.open(Path(tempfile.gettempdir(), name), os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(slot)
        return False
    # The descriptor stays open, and so the slot locked, until the process ends.
    os.environ["CUDA_VISIBLE_DEVICES"] = device
    return True


if __name__ == "__main__":
    print(count())
