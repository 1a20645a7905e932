"""What make's variables ask for, as options of Snakemake."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from attention_theory import cluster, config, devices
from attention_theory.errors import require

DEFAULT = Path("config", "config.yaml")

Gpus = Annotated[str, typer.Option(envvar="GPUS", help="a number, or all")]
Seed = Annotated[str, typer.Option(envvar="SEED", help="the base seed")]
Profile = Annotated[
    str, typer.Option(envvar="PROFILE", help="a folder below workflow/profiles, such as slurm")
]
Config = Annotated[
    str, typer.Option("--config", envvar="CONFIG", help="laid over config/config.yaml")
]


@dataclass(frozen=True)
class Asked:
    """A run as it is asked for, by values of make's variables (empty: not given)."""

    gpus: str = "all"
    seed: str = ""
    configuration: str = ""
    profile: str = ""

    def __post_init__(self) -> None:
        """Raises BadInput for a value that a variable may not have."""
        counted = self.gpus == "all" or self.gpus.isdecimal()
        require(counted, "GPUS", self.gpus, "be all or a whole number")
        require(self.seed == "" or self.seed.isdecimal(), "SEED", self.seed, "be a whole number")

    @property
    def layers(self) -> list[Path]:
        """The files of the configuration, the later laid over the earlier."""
        return [DEFAULT, *([Path(self.configuration)] if self.configuration else [])]

    def value(self, key: str) -> object:
        """What the configuration has at a key of the first level."""
        found = [content[key] for content in map(config.read, self.layers) if key in content]
        return found[-1] if found else None

    @property
    def base_seed(self) -> object:
        """The base seed of the run."""
        return int(self.seed) if self.seed else self.value("base_seed")

    @property
    def folder(self) -> Path:
        """The folder of the run's results. Raises BadInput if the configuration names none, or if
        there is no such profile."""
        if self.profile:
            cluster.check(self.profile)
        run = self.value("run")
        name = isinstance(run, str) and re.fullmatch(config.RUN_NAME, run) is not None
        require(name, "config key run", run, f"match {config.RUN_NAME}")
        return Path("results", run)

    def snakemake(self) -> list[str]:
        """The options of Snakemake for a run, and to look at it: all but those of where jobs run.

        A cluster (a profile that names an executor) hands out GPUs itself; GPUS=0 keeps to CPUs.
        """
        settings = {"base_seed": int(self.seed)} if self.seed else {}
        words = ["--configfile", self.configuration] if self.configuration else []
        profile = cluster.PROFILES / self.profile
        words += ["--workflow-profile", str(profile)] if self.profile else []
        submits = self.profile and "executor" in config.read(profile / "config.yaml")
        if not submits:
            gpus = str(devices.count()) if self.gpus == "all" else self.gpus
            words += ["--resources", f"gpu={gpus}"]
        elif self.gpus == "0":
            settings["device"] = "cpu"
        pairs = [f"{key}={value}" for key, value in settings.items()]
        return [*words, *(["--config", *pairs] if pairs else [])]

    def make(self, target: str) -> str:
        """The command of make that asks for the same."""
        given = {"CONFIG": self.configuration, "SEED": self.seed, "PROFILE": self.profile}
        if self.gpus != "all":
            given["GPUS"] = self.gpus
        return " ".join(["make", target, *(f"{k}={v}" for k, v in given.items() if v)])
