"""The device a job computes on, and how many GPUs there are, without importing torch."""

import ctypes
import os

from attention_theory.errors import require

DEVICES = ("auto", "cpu", "cuda")


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
    # cuBLAS repeats its sums in one order only with a workspace of its own, set before it starts.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    import torch

    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    if not gpu:
        return "cpu"
    require(torch.cuda.is_available(), "gpu", gpu, "be 0 on a machine without a usable GPU")
    return "cuda"


if __name__ == "__main__":
    print(count())
