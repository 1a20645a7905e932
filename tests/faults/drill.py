"""The drill: kill the smoke run, all of it at once, at random moments; run it again; compare.

    python tests/faults/drill.py --rounds 100 --seed 3

A round starts the run in a fresh copy of the project, kills its whole process group (SIGKILL) at a
random moment, runs the launcher of `make figures` again until it ends, and compares every result
but times with those of an undisturbed run, byte by byte. A moment is a number of jobs that have
ended and some seconds more, drawn from the seed and the round's number alone: `--only 17` replays
round 17. With `--kills 4` the run that follows a kill is killed too, until there were four.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from checkout import OUTSIDE, SMOKE, Checkout  # noqa: E402

JOBS = 56  # that leave a record; of fewer, a late moment comes when the run has ended
SECONDS = 6.0  # most that a moment is after the end of a job
SCREEN = "screen.txt"


class Moment(NamedTuple):
    """When to kill: after so many jobs, and so many seconds more."""

    jobs: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.jobs} jobs and {self.seconds:.2f} s"


def moments(seed: int, number: int, kills: int = 1, jobs: int = JOBS) -> list[Moment]:
    """The moments of a round, in order."""
    drawn = random.Random(f"{seed} {number}")
    after = sorted(drawn.randrange(jobs) for _ in range(kills))
    return [Moment(jobs, drawn.uniform(0, SECONDS)) for jobs in after]


def disturbed(checkout: Checkout, cores: int, kills: Sequence[Moment]) -> list[bool]:
    """Run, killed at each moment and started again, to its end; which kills came before it.

    Raises RuntimeError with the end of the screen if the last run does not end well.
    """
    cut = [_killed(checkout, cores, moment) for moment in kills]
    process = _launch(checkout, cores)
    if process.wait():
        screen = (checkout.folder / SCREEN).read_text(errors="replace")
        raise RuntimeError(f"exit status {process.returncode}\n{screen[-3000:]}")
    return cut


def differences(found: dict[str, str], expected: dict[str, str]) -> list[str]:
    """The results that differ, are missing, or are too many."""
    names = sorted(found.keys() | expected.keys())
    return [name for name in names if found.get(name) != expected.get(name)]


def _launch(checkout: Checkout, cores: int) -> subprocess.Popen:
    """Start `make figures`, but for the set-up, with the smoke configuration."""
    options = {"CONFIG": "config/smoke.yaml", "CORES": str(cores), "GPUS": "0"}
    paths = {"PYTHONPATH": str(checkout.folder / "src")}
    with (checkout.folder / SCREEN).open("w") as screen:
        return subprocess.Popen(
            [sys.executable, "-m", "attention_theory.launch"], cwd=checkout.folder,
            env=OUTSIDE | options | paths, start_new_session=True, stdout=screen, stderr=screen,
        )  # fmt: skip


def _killed(checkout: Checkout, cores: int, moment: Moment) -> bool:
    """Run, and kill the process group at a moment; False if the run had ended."""
    process = _launch(checkout, cores)
    while process.poll() is None and _jobs(checkout) < moment.jobs:
        time.sleep(0.05)
    ended = time.monotonic() + moment.seconds
    while process.poll() is None and time.monotonic() < ended:
        time.sleep(0.02)
    if process.poll() is not None:
        return False
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return True


def _jobs(checkout: Checkout) -> int:
    """How many jobs have left their record."""
    return sum(1 for _ in (checkout.folder / SMOKE).rglob("provenance/*.json"))


def _round(number: int, options: argparse.Namespace, expected: dict[str, str]) -> bool:
    """One round in a folder of its own; prints a line and says whether all was equal."""
    drawn = moments(options.seed, number, options.kills)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        checkout = Checkout(Path(folder, "a drill"))
        try:
            cut = disturbed(checkout, options.cores, drawn)
            differing = differences(checkout.results(), expected)
        except RuntimeError as error:
            cut, differing = [True] * len(drawn), [f"the run that followed failed: {error}"]
    result = "equal" if not differing else f"DIFFERENT: {', '.join(differing)}"
    when = ", ".join(
        f"{'killed after' if was_cut else 'ended before'} {moment}"
        for was_cut, moment in zip(cut, drawn, strict=True)
    )
    print(f"round {number}: {when}; {time.monotonic() - started:.0f} s; {result}", flush=True)
    return not differing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kills", type=int, default=1, help="in a round")
    parser.add_argument("--only", type=int, help="replay this round alone")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    options = parser.parse_args()
    rounds = range(options.rounds) if options.only is None else [options.only]
    with tempfile.TemporaryDirectory() as folder:
        checkout = Checkout(Path(folder, "undisturbed"))
        disturbed(checkout, options.cores, [])
        expected, jobs = checkout.results(), _jobs(checkout)
    print(f"undisturbed: {len(expected)} results of {jobs} jobs", flush=True)
    equal = [_round(number, options, expected) for number in rounds]
    kills = f"{options.kills} kill{'s' * (options.kills > 1)} each"
    of = f"{len(equal)} rounds of seed {options.seed}, {kills},"
    print(f"{sum(equal)} of {of} gave the same bytes")
    sys.exit(0 if all(equal) else 1)


if __name__ == "__main__":
    main()
