"""Random numbers keyed by (base seed, name, index): no global state, no dependence on workers.

All numbers are drawn by NumPy on the CPU, so that a run on a GPU sees the same data, the same
initial weights and the same permutations as a run without one.
"""

import hashlib

import numpy as np


def stream(base_seed: int, name: str, *index: int | str) -> np.random.Generator:
    """The generator of the stream `name` (and `index`) under `base_seed`.

    Streams with different keys are independent; the same key always gives the same numbers.
    """
    key = repr((int(base_seed), name, *index)).encode()
    digest = hashlib.blake2b(key, digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))
