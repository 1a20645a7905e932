"""The device a job computes on, and how many GPUs there are, without importing torch."""

import ctypes
import fcntl
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from attention_theory.errors import require

DRIVER = "libcuda.so.1"
ASK = f"""
import ctypes
driver, number = ctypes.CDLL("{DRIVER}"), ctypes.c_int(0)
known = driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(number)) == 0
print(number.value if known else 0)
"""


def count() -> int:
    """The number of usable CUDA GPUs, asked of the driver; honours CUDA_VISIBLE_DEVICES.

    A process of its own asks: the driver reads CUDA_VISIBLE_DEVICES when it is initialised, and in
    this process that must come after a slot was taken.
    """
    if os.environ.get("CUDA_VISIBLE_DEVICES", "all").strip() in ("", "-1"):
        return 0
    try:
        ctypes.CDLL(DRIVER)  # loaded, not initialised
    except OSError:
        return 0
    asked = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=False)
    return int(asked.stdout) if asked.returncode == 0 else 0


def prepare(gpu: int, threads: int) -> str:
    """Make torch compute on GPUs (`gpu` of them) or on the CPU (0) with `threads` threads.

    Returns the torch device. Raises BadInput if more GPUs are asked for than there are.
    """
    if gpu:
        found = count()
        require(found > 0, "gpu", gpu, "be 0 on a machine without a usable GPU")
        require(gpu <= found, "gpu", gpu, f"be at most {found}, the usable GPUs of this machine")
        take_slots(gpu)
    # cuBLAS repeats its sums in one order only with a workspace of its own, set before it starts.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    import torch

    torch.set_num_threads(threads)
    # As use_deterministic_algorithms(True), which also imports torch's compiler (2 CPU seconds).
    torch.set_deterministic_debug_mode("error")
    return "cuda" if gpu else "cpu"


def take_slots(number: int = 1) -> None:
    """Wait for GPUs that no other job of this user on this machine holds, and see them alone.

    A slot is a locked file; the lock ends with the process, however it ends. Where somebody, a
    cluster say, has made no more devices visible than are wanted, there is nothing to choose.
    """
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    devices = listed.split(",") if listed else [str(index) for index in range(count())]
    if len(devices) < number or (listed and len(devices) == number):
        return
    while True:
        slots = {device: slot for device in devices if (slot := _hold(device)) is not None}
        kept = list(slots)[:number] if len(slots) >= number else []
        for device in slots.keys() - kept:  # all or nothing: two jobs must not wait for each other
            os.close(slots[device])
        if kept:
            # The descriptors stay open, and so the slots locked, until the process ends.
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(kept)
            return
        time.sleep(0.5)


def _hold(device: str) -> int | None:
    """Lock a device's slot: its file descriptor, or None if another job holds it."""
    name = f"attention-theory-{os.getuid()}-gpu-{device.replace('/', '_')}.lock"
    slot = os.open(Path(tempfile.gettempdir(), name), os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(slot)
        return None
    return slot


if __name__ == "__main__":
    print(count())
