"""The run's configuration: checked against its schema before any job, in one line a fault."""

import difflib
import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from attention_theory import devices, walking
from attention_theory.errors import BadInput, require

LARGEST = 10**12  # no number of a configuration is larger, whatever it means
DEEPEST = 20  # keys within keys
RUN_NAME = "^[a-z0-9][a-z0-9_-]*$"  # as in the schema


def check(config: Mapping, schema: Path, gpus: int | None = None) -> None:
    """Raise BadInput for the first fault: types, names, ranges, the device, the results folder.

    `gpus` is the number of GPUs that the workflow may use here (None: not its own to say).
    What several keys of a study must fulfil together, the study's settings.py checks.
    """
    for key, value in _leaves(config):
        require(key.isprintable(), f"config key {key!r}", value, "have a name in one line")
        if isinstance(value, str):
            require(value.isprintable(), f"config key {key}", value, "be one line of text")
        if isinstance(value, float) and not math.isfinite(value):
            raise BadInput(f"config key {key}: {value} is not allowed; it must be finite")
        if isinstance(value, int | float) and abs(value) > LARGEST:
            allowed = f"be at most {LARGEST:.0e} in size"
            raise BadInput(f"config key {key}: {value} is not allowed; it must {allowed}")
    for error in sorted(
        _validator(schema).iter_errors(plain(config)), key=lambda e: str(e.absolute_path)
    ):
        raise BadInput(_describe(error))
    _check_device(config["device"], gpus)
    _check_writable(Path("results", config["run"]))


def read(path: Path) -> dict:
    """A configuration file as a mapping. Raises BadInput, naming the file, if it is none."""
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
    except yaml.YAMLError as error:
        raise BadInput(f"{path}: no YAML ({' '.join(str(error).split())})") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: no readable configuration ({error})") from None
    require(isinstance(content, dict), str(path), content, "hold `key: value` pairs")
    return content


# JSON Schema takes 2.0 for an integer: a whole number must be written as one.
_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


@cache
def _validator(schema: Path) -> jsonschema.protocols.Validator:
    return _Validator(yaml.safe_load(schema.read_text("utf-8")))


def config_hash(config: Mapping) -> str:
    """The SHA-256 of a configuration, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(plain(config), sort_keys=True).encode()).hexdigest()


def plain(value: Any) -> Any:
    """The same value in plain dicts and lists."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _leaves(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Every scalar of a configuration with its dotted key."""
    if depth > DEEPEST:  # a YAML alias may hold itself
        raise BadInput(f"config key {key[:60]}...: more than {DEEPEST} keys deep is not allowed")
    if isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, list | tuple):
        items = enumerate(value)
    else:
        yield key, value
        return
    for name, item in items:
        yield from _leaves(item, f"{key}.{name}" if key else str(name), depth + 1)


def _describe(error: jsonschema.ValidationError) -> str:
    """One line for a schema error: the key, the value and what is allowed."""
    key = ".".join(map(str, error.absolute_path))
    if error.validator == "additionalProperties":
        allowed = sorted(error.schema.get("properties", {}))
        unknown = next(name for name in error.instance if name not in allowed)
        close = difflib.get_close_matches(str(unknown), allowed, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        full = f"{key}.{unknown}" if key else unknown
        value = error.instance[unknown]
        return (
            f"config key {full}: unknown (its value is {_short(value)}); {hint}"
            f"allowed keys: {', '.join(allowed)}"
        )
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return f"config key {f'{key}.{missing}' if key else missing}: missing; it must be set"
    return f"config key {key}: {_short(error.instance)} is not allowed; it must {_allowed(error)}"


def _allowed(error: jsonschema.ValidationError) -> str:
    """What a schema keyword allows, in words."""
    value = error.validator_value
    text = {
        "enum": lambda: "be one of: " + ", ".join(map(str, value)),
        "minimum": lambda: f"be at least {value}",
        "exclusiveMinimum": lambda: f"be above {value}",
        "maximum": lambda: f"be at most {value}",
        "exclusiveMaximum": lambda: f"be below {value}",
        "minItems": lambda: f"have at least {value} entries",
        "minProperties": lambda: f"have at least {value} entries",
        "uniqueItems": lambda: "not name an entry twice",
        "maxItems": lambda: f"have at most {value} entries",
        "pattern": lambda: f"match {value}",
        "type": lambda: f"be of type {value if isinstance(value, str) else ' or '.join(value)}",
    }.get(error.validator, lambda: error.message)()
    if error.validator == "type" and _is_number_as_text(error.instance):
        text += " (YAML reads 1e-3 as text: write 1.0e-3)"
    return text


def _is_number_as_text(value: Any) -> bool:
    try:
        return isinstance(value, str) and math.isfinite(float(value))
    except ValueError:
        return False


def _short(value: Any) -> str:
    text = repr(plain(value))
    return text if len(text) <= 60 else text[:57] + "..."


def _check_device(device: str, gpus: int | None) -> None:
    """A GPU is a demand (`device: cuda`, GPUS=1): refused here where there is none."""
    if gpus is None or (device != "cuda" and gpus == 0):
        return
    found = devices.count()
    require(gpus <= found, "resource gpu", gpus, f"be at most {found}, the GPUs of this machine")
    allowed = "be auto or cpu while no GPU is given to the workflow (GPUS=1, --resources gpu=1)"
    require(device != "cuda" or gpus > 0, "config key device", device, allowed)


def _check_writable(folder: Path) -> None:
    """The folder and all below, or else the nearest one above that exists, must take new files."""
    existing = folder.absolute()
    while not os.path.exists(existing):  # noqa: PTH110 - it may lie in a folder that is not ours
        existing = existing.parent
    for place in (existing, *walking.folders(folder)):
        if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
            raise BadInput(f"config key run: cannot write to {place}; it must be a writable folder")
