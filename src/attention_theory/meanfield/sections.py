"""The study's section of the configuration: the options of each of its steps (no torch).

Read by the workflow alone, never by a step: a new experiment here reruns nothing.
"""

from collections.abc import Mapping
from dataclasses import fields

from attention_theory.errors import within
from attention_theory.meanfield.settings import (
    Descent,
    Gap,
    Horizon,
    Problem,
    Risk,
    Widths,
    check_seeds,
)
from attention_theory.meanfield.vit_settings import Fit, Model

FLOWS = {"gap": Gap, "widths": Widths, "horizon": Horizon, "risk": Risk}


def flows(section: Mapping) -> dict[str, dict[str, object]]:
    """The options of the steps of the residual flow, by their names.

    A step's own `problem` changes the common one. Raises BadInput with the key at fault, where it
    is set.
    """
    with within("config key meanfield.problem"):
        Problem(**section["problem"])
    found = {}
    for name, group in FLOWS.items():
        own = {key: _flat(value) for key, value in section[name].items() if key != "problem"}
        changes = section[name].get("problem", {})
        problem = {**section["problem"], **changes}
        with within(f"config key meanfield.{name}.problem"):
            Problem(**problem)
        with within(f"config key meanfield.{name}"):
            group(**{field.name: own[field.name] for field in fields(group)})
            Descent(**{"decay": 0.0} | _of(Descent, own))
            check_seeds(own["seeds"])
        found[name] = problem | own
    return found


def digits(section: Mapping) -> dict[str, object]:
    """The options of the digits step; BadInput with the key at fault."""
    options = dict(section["digits"])
    with within("config key meanfield.digits"):
        for group in (Model, Fit):
            group(**_of(group, options))
        check_seeds(options["seeds"])
    return options


def _of(group: type, options: Mapping) -> dict[str, object]:
    """The options that are fields of a dataclass."""
    return {field.name: options[field.name] for field in fields(group) if field.name in options}


def _flat(value: object) -> object:
    """A list as a command line has it: `1,2,4`."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value
