"""`make figures`: check the options, run the workflow, show what came out.

Options come from make's variables, through the environment. One run at a time works in a folder; it
puts right what an earlier one left, and says so.
"""

import os
import re
import sys
import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from attention_theory import cluster, config, devices, running, step, tidying
from attention_theory.errors import BadInput, require

DEFAULT = Path("config", "config.yaml")
QUIET = ("host", "reason")  # on a cluster a rule's errors, such as Slurm's, are among "rules"


def main(
    cores: Annotated[str, typer.Option(envvar="CORES", help="a number, or all")] = "all",
    gpus: Annotated[str, typer.Option(envvar="GPUS", help="a number, or all")] = "all",
    seed: Annotated[str, typer.Option(envvar="SEED", help="the base seed")] = "",
    configuration: Annotated[
        str, typer.Option("--config", envvar="CONFIG", help="laid over config/config.yaml")
    ] = "",
    profile: Annotated[
        str, typer.Option(envvar="PROFILE", help="where jobs run: a folder of profiles/")
    ] = "",
) -> None:
    """Run the workflow with Snakemake, then print figures, costs and the claims ledger."""
    started = time.time()
    counted = cores == "all" or (cores.isdecimal() and int(cores) > 0)
    require(counted, "CORES", cores, "be all or a whole number above 0")
    require(gpus == "all" or gpus.isdecimal(), "GPUS", gpus, "be all or a whole number")
    require(seed == "" or seed.isdecimal(), "SEED", seed, "be a whole number")
    layers = [DEFAULT, *([Path(configuration)] if configuration else [])]
    chosen = {key: value for path in layers for key, value in config.read(path).items()}
    run = chosen.get("run")
    name = isinstance(run, str) and re.fullmatch(config.RUN_NAME, run) is not None
    require(name, "config key run", run, f"match {config.RUN_NAME}")
    settings = {"base_seed": int(seed)} if seed else {}
    if cluster.executor(profile or "default") == "local":
        options = ["--workflow-profile", str(cluster.PROFILES / profile)] if profile else []
        gpus = str(devices.count()) if gpus == "all" else gpus
        options += ["--cores", cores, "--resources", f"gpu={gpus}", "--quiet", *QUIET, "rules"]
    else:
        options = [*cluster.options(profile, cores, gpus), "--quiet", *QUIET]
        if gpus == "0":  # jobs on nodes know of the configuration alone
            allowed = "be another where the configuration demands a GPU (device: cuda)"
            require(chosen.get("device") != "cuda", "GPUS", gpus, allowed)
            settings["device"] = "cpu"
    snakemake = [sys.executable, "-m", "snakemake"]
    snakemake += ["--configfile", configuration] if configuration else []
    words = ["--config", *(f"{key}={value}" for key, value in settings.items())]
    folder = Path("results", run)
    os.environ["PYTHONUTF8"] = "1"  # Snakemake's log has the folder's name, whatever the locale
    _keep_caches_here_without_a_home()
    with running.alone(partial(_clear_queue, "a run in this folder died")) as lock:
        if running.clear_locks(snakemake):
            tidying.say("a run in this folder died; its locks are cleared, and it goes on")
        tidying.tidy(folder)
        status = running.run([*snakemake, *options, *(words if settings else [])], lock)
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
