"""The study's section of the configuration: which settings are run (no torch).

Read by the workflow alone, never by a step: a new experiment here reruns nothing.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields

from attention_theory.errors import BadInput, require, within
from attention_theory.spatial import (
    coupling_settings,
    encoding,
    gaussian_settings,
    histograms,
    structures,
)
from attention_theory.spatial.coupling_settings import Coupling
from attention_theory.spatial.encoding import Fixed
from attention_theory.spatial.gaussian_settings import Gaussian
from attention_theory.spatial.phase_settings import Phase, Scale
from attention_theory.spatial.planted_settings import Samples, Scaling
from attention_theory.spatial.population_settings import trajectory
from attention_theory.spatial.settings import (
    Architecture,
    Descent,
    Distribution,
    check_partition,
)
from attention_theory.spatial.transfer_settings import Frozen, Scratch, check_sizes


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


def transfer(section: Mapping, pretraining: Mapping, seeds: int) -> dict[str, dict]:
    """The options of the transfer step, one job a pretraining setting, keyed by its name.

    `pretraining` are that study's settings by name, `seeds` the number of trained models of each.
    Raises BadInput with the key at fault.
    """
    with within("config key spatial.transfer"):
        require(
            section["seeds"] <= seeds,
            "seeds",
            section["seeds"],
            f"be at most {seeds}, the trained models of a setting (spatial.pretraining.seeds)",
        )
        for name in section["settings"]:
            known = ", ".join(pretraining)
            require(name in pretraining, "settings", name, f"be a pretraining setting: {known}")
    settings = {}
    for name in section["settings"]:
        model = {key: pretraining[name][key] for key in "D C q p nu beta".split()}
        # At d = D as well, unless that is the fixed dimension.
        dimensions = list(dict.fromkeys([section["dimension"], model["D"]]))
        frozen = {"dimensions": dimensions, **section["frozen"]}
        with within("config key spatial.transfer"):
            require(section["dimension"] >= 2, "dimension", section["dimension"], "be at least 2")
            require(model["nu"] > 0, f"settings.{name}: nu", model["nu"], "be above 0")
        with within("config key spatial.transfer.frozen"):
            checked = Frozen(**frozen)
        with within("config key spatial.transfer.scratch"):
            scratch = Scratch(**section["scratch"])
        with within(f"config key spatial.transfer (D of {name})"):
            check_sizes(checked, scratch, model["D"])
        settings[name] = {**model, **frozen, **section["scratch"]}
    return settings


def linear(section: Mapping) -> dict[str, dict]:
    """The settings of the linear models, one a value of q, keyed by `linear-<number>`."""
    settings = {}
    for number, q in enumerate(section["q"]):
        setting = {**section, "q": q}
        with within("config key spatial.linear"):
            Distribution(**{field.name: setting[field.name] for field in fields(Distribution)})
        settings[f"linear-{number}"] = setting
    return settings


def gaussian(section: Mapping) -> dict[str, object]:
    """The options of the Gaussian step; BadInput with the key at fault."""
    setting = section["setting"]
    options = {**setting, **_flat(section, "seeds phis cap")}
    place = "config key spatial.gaussian"
    if "q" in setting:
        raise BadInput(f"{place}.setting.q: Gaussian data have none; it must be left out")
    with within(f"{place}.setting"):
        check_partition(setting["partition"])
        for group in (Gaussian, Architecture, Descent):
            group(**{field.name: setting[field.name] for field in fields(group)})
    with within(place):
        gaussian_settings.parse_phis(options["phis"])
        gaussian_settings.check_cap(section["cap"])
    return options


def encodings(section: Mapping) -> dict[str, object]:
    """The options of the encodings step; BadInput with the key at fault."""
    options = {**section["setting"], **_flat(section, "seeds encodings size cap")}
    with within("config key spatial.encodings.setting"):
        _check_setting(section["setting"])
    with within("config key spatial.encodings"):
        Fixed(section["size"], section["cap"])
        beta = section["setting"]["beta"]
        architecture = Architecture(section["setting"]["p"], section["setting"]["nu"], beta)
        encoding.parse_all(options["encodings"], section["setting"]["D"], architecture)
    return options


def unassociated(section: Mapping) -> dict[str, dict[str, object]]:
    """The options of the steps `constructed` and `competition`; BadInput with the key at fault."""
    constructed, competition = section["constructed"], section["competition"]
    setting = competition["setting"]
    options = {
        "constructed": _flat(constructed, constructed),
        "competition": {**setting, **_flat(competition, "seeds betas starts")},
    }
    with within("config key spatial.unassociated.constructed"):
        Architecture(constructed["p"], constructed["nu"], constructed["beta"])
        structures.at_sizes(options["constructed"]["sizes"], constructed["C"], constructed["q_D"])
    place = "config key spatial.unassociated.competition"
    if "beta" in setting:
        raise BadInput(f"{place}.setting.beta: it must stand in the list betas")
    with within(f"{place}.setting"):
        check_partition(setting["partition"])
        for group in (Distribution, Descent):
            group(**{field.name: setting[field.name] for field in fields(group)})
    with within(place):
        structures.at_betas(
            setting["p"],
            setting["nu"],
            options["competition"]["betas"],
            options["competition"]["starts"],
        )
    return options


def planted(section: Mapping) -> dict[str, object]:
    """The options of the planted step; BadInput with the key at fault."""
    options = _flat(section, section)
    with within("config key spatial.planted"):
        for group in (Scaling, Samples):
            group(**{field.name: options[field.name] for field in fields(group)})
    return options


def population(section: Mapping) -> dict[str, dict[str, object]]:
    """The options of `population trajectories`, of `phase` and of `methods`, by these names.

    A trajectory is the common `setting` with its own changes. Raises BadInput with the key at
    fault, where it is set.
    """
    trajectories = {}
    for name, changes in section["trajectories"].items():
        settings = {**section["setting"], **changes}
        try:
            checked = trajectory(settings)
            if checked.method.method == "exact":
                histograms.check_states(checked.sets)
        except BadInput as error:
            key = str(error).partition(":")[0]
            place = "setting" if key in settings and key not in changes else f"trajectories.{name}"
            raise BadInput(f"config key spatial.population.{place}.{error}") from None
        trajectories[name] = settings
    options = {name: _flat(section[name], section[name]) for name in ("phase", "methods")}
    for name, group in (("phase", Phase), ("methods", Scale)):
        with within(f"config key spatial.population.{name}"):
            group(**options[name])
    return {"trajectories": {"settings": json.dumps(trajectories)}, **options}


def coupling(section: Mapping) -> dict[str, object]:
    """The options of the coupling step; BadInput with the key at fault."""
    lists = _flat(section, "samples semi gradient_samples probes")
    options = {**section["setting"], **lists, **_flat(section, "seeds")}
    with within("config key spatial.coupling.setting"):
        check_partition(options["partition"])
        for group in (Distribution, Architecture):
            group(**{field.name: options[field.name] for field in fields(group)})
        coupling_settings.check_size(options["C"])
    with within("config key spatial.coupling"):
        Coupling(**{field.name: options[field.name] for field in fields(Coupling)})
    return options


def _flat(section: Mapping, names: str | Iterable[str]) -> dict[str, object]:
    """These keys of a section, lists as a command line has them: `0,0.5,1`."""
    names = names.split() if isinstance(names, str) else names
    values = {name: section[name] for name in names}
    return {
        name: ",".join(map(str, value)) if isinstance(value, list | tuple) else value
        for name, value in values.items()
    }
