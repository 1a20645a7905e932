"""The study's section of the configuration: the options of its steps (no torch).

Read by the workflow alone, never by a step: a new experiment here reruns nothing.
"""

import json
from collections.abc import Mapping
from dataclasses import fields

from attention_theory.errors import within
from attention_theory.kernels import settings
from attention_theory.kernels.settings import Convergence, Lazy, Sizes, Stuck


def convergence(section: Mapping) -> dict[str, object]:
    """The options of the convergence step; BadInput with the key at fault."""
    return _checked("convergence", section, Convergence)


def stuck(section: Mapping) -> dict[str, object]:
    """The options of the step `stuck`; BadInput with the key at fault."""
    options = _checked("stuck", section, Stuck)
    with within("config key kernels.stuck"):
        cases = {name: settings.case(name, case) for name, case in section["cases"].items()}
        settings.check_rank(_group(Sizes, section), section["D"], cases)
    return options | {"cases": json.dumps(section["cases"])}


def lazy(section: Mapping) -> dict[str, object]:
    """The options of the step `lazy`; BadInput with the key at fault."""
    return _checked("lazy", section, Lazy)


def _checked(name: str, section: Mapping, group: type) -> dict[str, object]:
    with within(f"config key kernels.{name}"):
        settings.check_seeds(section["seeds"])
        for each in (Sizes, group):
            _group(each, section)
    return dict(section)


def _group(group: type, section: Mapping) -> object:
    return group(**{field.name: section[field.name] for field in fields(group)})
