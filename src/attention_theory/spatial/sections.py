"""The study's section of the configuration: which settings are run (no torch).

Read by the workflow alone, never by a step: a new experiment here reruns nothing.
"""

from collections.abc import Mapping
from dataclasses import fields

from attention_theory.errors import BadInput, within
from attention_theory.spatial.settings import (
    Architecture,
    Descent,
    Distribution,
    check_partition,
)


def pretraining(section: Mapping) -> dict[str, dict]:
    """Every setting of the pretraining sweeps, keyed by its name, `<sweep>-<number>`.

    A sweep is a list of changes to the common `setting`. Raises BadInput with the key at fault,
    where it is set.
    """
    settings = {}
    for sweep, changes in section["sweeps"].items():
        for number, change in enumerate(changes):
            setting = {**section["setting"], **change}
            try:
                _check_setting(setting)
            except BadInput as error:
                key = str(error).partition(":")[0]
                place = f"sweeps.{sweep}.{number}" if key in change else "setting"
                raise BadInput(f"config key spatial.pretraining.{place}.{error}") from None
            settings[f"{sweep}-{number}"] = setting
    return settings


def _check_setting(setting: Mapping) -> None:
    check_partition(setting["partition"])
    for group in (Distribution, Architecture, Descent):
        group(**{field.name: setting[field.name] for field in fields(group)})


def linear(section: Mapping) -> dict[str, dict]:
    """The settings of the linear models, one a value of q, keyed by `linear-<number>`."""
    settings = {}
    for number, q in enumerate(section["q"]):
        setting = {**section, "q": q}
        with within("config key spatial.linear"):
            Distribution(**{field.name: setting[field.name] for field in fields(Distribution)})
        settings[f"linear-{number}"] = setting
    return settings
