"""What the rule files share: configurations given in part, code inputs in and out of a checkout."""

from pathlib import Path

import yaml
from checkout import ROOT

from attention_theory import code, rules

DEFAULTS = ROOT / "config" / "config.yaml"


def test_what_a_configuration_leaves_out_is_the_defaults(tmp_path):
    base = {"run": "laptop", "a": {"b": 1, "c": [1, 2]}, "models": {"vit": {"width": 8}}}
    (tmp_path / "defaults.yaml").write_text(yaml.safe_dump(base))
    given = {"run": "mine", "a": {"c": [3]}, "models": {"vit": None}, "new": 1}
    full = rules.completed(given, tmp_path / "defaults.yaml")
    assert full == {"run": "mine", "a": {"b": 1, "c": [3]}, "models": {"vit": None}, "new": 1}
    assert given == {"run": "mine", "a": {"c": [3]}, "models": {"vit": None}, "new": 1}


def test_a_whole_configuration_stays_as_it_is():
    whole = yaml.safe_load(DEFAULTS.read_text())
    assert rules.completed(whole, DEFAULTS) == whole
    assert rules.completed({}, DEFAULTS) == whole


def test_code_inputs_are_relative_in_the_checkout_and_absolute_elsewhere(monkeypatch, tmp_path):
    monkeypatch.chdir(code.SOURCE.parent)
    inside = rules.code("tables")
    assert all(path.startswith("src/attention_theory/") for path in inside)
    monkeypatch.chdir(tmp_path)
    assert [str(code.SOURCE.parent / path) for path in inside] == rules.code("tables")
    assert all(Path(path).is_file() for path in rules.code("tables"))
