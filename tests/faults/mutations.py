"""Every leaf of a configuration replaced by what should not be there, and the checks of all rules.

The checks are those that the rule files themselves make, line by line, so that a new study is
covered as soon as its rule file checks its section.
"""

import copy
import functools
import math
import re
from collections.abc import Iterator, Mapping
from types import SimpleNamespace

import yaml
from checkout import ROOT

from attention_theory import config

SCHEMA = ROOT / "config" / "schema.yaml"
RULES = ROOT / "workflow" / "rules"
HUGE = 10**18
LARGE = 10**11  # a number, but no count of anything
WRONG = {
    "text": "much",
    "command": "$(touch pwned)",
    "empty text": "",
    "two lines": "a\nb",
    "a line and its end": "laptop\n",
    "null": None,
    "true": True,
    "list": [],
    "mapping": {},
    "nested": [[1]],
    "nan": math.nan,
    "infinite": math.inf,
    "negative": -1,
    "negative fraction": -0.5,
    "zero": 0,
    "large": LARGE,
    "huge": HUGE,
    "huge fraction": 1e300,
}


def leaves(value: object, place: tuple = ()) -> Iterator[tuple]:
    """The places of all scalars, and of lists and mappings that are empty or hold scalars."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from leaves(item, (*place, key))
    elif isinstance(value, list) and value:
        yield place
        for index, item in enumerate(value):
            yield from leaves(item, (*place, index))
    else:
        yield place


def replaced(content: dict, place: tuple, value: object) -> dict:
    """A copy with another value at a place."""
    changed = copy.copy(content)
    at = changed
    for key in place[:-1]:
        at[key] = copy.copy(at[key])
        at = at[key]
    at[place[-1]] = value
    return changed


@functools.cache
def checks(study: str) -> list[tuple[str, object]]:
    """The statements of a study's rule files that read its section of the configuration."""
    found = []
    for path in sorted(RULES.glob(f"{study}*.smk")):
        chunks = re.split(r"\n(?=[^\s)\]}#])", path.read_text("utf-8"))
        found += [(path.name, compile(chunk, path, "exec")) for chunk in chunks if _reads(chunk)]
    return found


def _reads(chunk: str) -> bool:
    if chunk.startswith(("from ", "import ")):
        return True
    return re.match(r"[A-Z_]+ = (?:config\[|[^=]*ours\.checked\()", chunk) is not None


def check(content: dict, study: str | None = None) -> None:
    """All that is checked before a run, for one study or for all. Raises BadInput."""
    config.check(content, SCHEMA)
    names = {"config": content, "ours": SimpleNamespace(checked=lambda f, *rest: f(*rest))}
    for one in [study] if study else [key for key in content if isinstance(content[key], dict)]:
        for _, statement in checks(one):
            exec(statement, names)


def base() -> dict:
    """The laptop's configuration with one entry of each of its long lists of settings."""
    content = yaml.safe_load((ROOT / "config" / "config.yaml").read_text("utf-8"))
    spatial = content["spatial"]
    sweeps = spatial["pretraining"]["sweeps"]
    spatial["pretraining"]["sweeps"] = {"main": [{}], "D": sweeps["D"][:1]}
    spatial["transfer"]["settings"] = ["main-0", "D-0"]
    trajectories = spatial["population"]["trajectories"]
    spatial["population"]["trajectories"] = {name: trajectories[name] for name in ("D50", "C3_L8")}
    return content
