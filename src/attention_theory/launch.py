"""`make figures`: check the options, run the workflow, show what came out.

Options come from make's variables, through the environment. One run at a time works in a folder; it
puts right what an earlier one left, and says so.
"""

import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from attention_theory import cluster, options, running, step, tidying
from attention_theory.errors import BadInput, require

QUIET = ("host", "reason")  # on a cluster a rule's errors, such as Slurm's, are among "rules"


def main(
    cores: Annotated[str, typer.Option(envvar="CORES", help="a number, or all")] = "all",
    gpus: options.Gpus = "all",
    seed: options.Seed = "",
    configuration: options.Config = "",
    profile: options.Profile = "",
) -> None:
    """Run the workflow with Snakemake, then print figures, costs and the claims ledger."""
    started = time.time()
    counted = cores == "all" or (cores.isdecimal() and int(cores) > 0)
    require(counted, "CORES", cores, "be all or a whole number above 0")
    asked = options.Asked(gpus, seed, configuration, profile)
    folder = asked.folder
    if cluster.executor(profile or "default") == "local":
        words = ["--cores", cores, "--quiet", *QUIET, "rules"]
    else:
        words = [*cluster.options(cores, gpus), "--quiet", *QUIET]
        allowed = "be another where the configuration demands a GPU (device: cuda)"
        require(gpus != "0" or asked.value("device") != "cuda", "GPUS", gpus, allowed)
    snakemake = [sys.executable, "-m", "snakemake"]
    plain = [*snakemake, *(["--configfile", configuration] if configuration else [])]
    os.environ["PYTHONUTF8"] = "1"  # Snakemake's log has the folder's name, whatever the locale
    _keep_caches_here_without_a_home()
    with running.alone(partial(_clear_queue, "a run in this folder died")) as lock:
        if running.clear_locks(plain):
            tidying.say("a run in this folder died; its locks are cleared, and it goes on")
        tidying.tidy(folder)
        status = running.run([*snakemake, *asked.snakemake(), *words], lock)
        try:
            _clear_queue("this run ended before its jobs")
        except BadInput as error:  # the run's own end is told all the same
            tidying.say(str(error))
    if status > 128:
        tidying.say("", "launch: stopped; the same command goes on from here")
    elif status:
        tidying.explain(started)
    if status:
        sys.exit(status)

    from attention_theory import summary  # with pandas: not before it is needed

    print(summary.describe(folder, time.time() - started))


def _clear_queue(why: str) -> None:
    if jobs := cluster.clear():
        tidying.say(f"{why}; cancelled in Slurm's queue, and gone: {' '.join(jobs)}")


def _keep_caches_here_without_a_home() -> None:
    """Snakemake needs a folder for its cache, and matplotlib a quiet one, also without a home."""
    for name, usual in (("XDG_CACHE_HOME", ".cache"), ("XDG_CONFIG_HOME", ".config")):
        place = Path(os.environ.get(name) or Path(os.environ.get("HOME", ""), usual)).absolute()
        # It may lie in a folder that this user cannot look into.
        there = next(f for f in (place, *place.parents) if os.path.exists(f))  # noqa: PTH110
        if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
            os.environ[name] = str(Path(".snakemake", "home").absolute())


if __name__ == "__main__":
    step.run(main)
