"""What a job was, where it ran, what it cost: a JSON record beside the results, never in them."""

import os
import platform
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import psutil

from attention_theory import checksums, code, files

CONFIG_HASH = "ATTENTION_THEORY_CONFIG_HASH"
RUN = "ATTENTION_THEORY_RUN"
PACKAGES = (
    "matplotlib numpy pandas safetensors scikit-learn scipy seaborn snakemake torch torchvision"
).split()


class Record(dict):
    """The record in the making; a step may add figures of its own, such as images_per_second."""


@contextmanager
def record(
    path: Path | None,
    module: str,
    setting: str = "",
    *,
    study: str | None = None,
    step: str | None = None,
    base_seed: int | None = None,
    seeds: Sequence[int] = (),
    device: str = "cpu",
    threads: int = 1,
    inputs: Sequence[Path] = (),
) -> Iterator[Record]:
    """Write the record of a step to `path` when the block ends well (nowhere if None).

    `module` is the step's name under the package, e.g. `spatial.pretraining`; a step that serves
    every study names `study` and `step` apart. The run's name and the hash of its configuration
    come from the environment, where the Snakefile puts them: a rule's parameters would make every
    change of the configuration rerun every job.
    """
    own_study, _, own_step = module.partition(".")
    it = Record(study=study or own_study, step=step or own_step, setting=setting)
    if path is None:
        yield it
        return
    it.update(
        run=os.environ.get(RUN),
        config_sha256=os.environ.get(CONFIG_HASH),
        # Before the work: what is edited during a long job was not what ran.
        source_sha256=code.source_hash(module),
        inputs={str(name): files.sha256(name) for name in inputs},
        command=sys.argv[1:],
        base_seed=base_seed,
        seeds=list(seeds),
        device=device,
        threads=threads,
        versions=_versions(),
        platform=platform.platform(),
        startup_cpu_seconds=_cpu_seconds(),  # Python's and the libraries' imports
    )
    before = len(files.written)
    yield it
    it.update(
        outputs=checksums.of(files.written[before:], path.parent),
        seconds=time.time() - psutil.Process().create_time(),
        cpu_seconds=_cpu_seconds(),
        peak_memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )
    files.write_json(path, checksums.sealed(it))


def _cpu_seconds() -> float:
    """CPU seconds of this process and of its finished children."""
    return sum(os.times()[:4])


def _versions() -> dict[str, str]:
    """The versions of Python and of the packages that results can depend on."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions
