"""The transfer step and its part of the configuration: what they write and what they refuse."""

import copy
from pathlib import Path

import pandas as pd
import pytest
import yaml

from attention_theory import config, rules, tables
from attention_theory.errors import BadInput
from attention_theory.images import transfer_columns, transfer_sections

ROOT = Path(__file__).resolve().parents[2]
IMAGES = yaml.safe_load((ROOT / "config/config.yaml").read_text())["images"]
SMALL = {
    "model": {"patch": 2, "width": 8, "layers": 1, "heads": 2, "mlp": 8, "position_std": 0.02},
    "pretraining": IMAGES["transfer"]["pretraining"] | {"steps": 2, "batch": 8},
    "finetuning": {"samples": [1, 2], "rates": [0.01, 0.02], "level": 0.1, "most": 3},
    "draws": 2,
    "tuning_draws": 1,
}
OUT = "--table t.csv --tuning u.csv --pretrained p.csv"


def small(**changes) -> dict:
    """The study's section with transfer at a size of seconds."""
    return copy.deepcopy(IMAGES) | {"transfer": copy.deepcopy(IMAGES["transfer"] | SMALL | changes)}


def words(prepared, section: dict) -> list[str]:
    options = transfer_sections.transfer(section)["digits"] | {"base_seed": 0}
    return f"--data {prepared}/digits.npz {rules.options(options)} {OUT}".split()


def test_the_step_writes_its_tables_and_the_same_bytes_again(call, prepared, tmp_path):
    found = []
    for _ in range(2):
        code, text = call("transfer", *words(prepared, small()), "--provenance", "r.json")
        assert code == 0, text
        found.append([(tmp_path / f"{name}.csv").read_bytes() for name in "tup"])
    assert found[0] == found[1]
    for name, columns in zip("tup", transfer_columns.TABLES, strict=True):
        assert list(tables.read(tmp_path / f"{name}.csv")) == columns
    tested = tables.read(tmp_path / "t.csv")
    counts = tested.groupby(["attention", "positions", "samples"], sort=False).seed.apply(list)
    assert len(counts) == 2 * 4 * 2 and all(seeds == [0, 1] for seeds in counts)
    tuned = tables.read(tmp_path / "u.csv")
    assert len(tuned) == 2 * 4 * 2 * 2 and len(tables.read(tmp_path / "p.csv")) == 2 * 3


def test_without_draws_nothing_is_run(call, prepared, tmp_path):
    section = small(draws=0)
    section["transfer"]["model"]["patch"] = 4
    code, text = call("transfer", *words(prepared, section))
    assert code == 0, text
    assert pd.read_csv(tmp_path / "t.csv").empty


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("--samples 2000", "samples: 2000 is not allowed; it must be at most"),
        ("--attention both", "attention: 'both' is not allowed; it must be one of: self, posi"),
        ("--shift 8", "shift: 8 is not allowed; it must be below 8"),
    ],
)
def test_bad_input_is_one_line(call, prepared, tmp_path, change, said):
    code, error = call("transfer", *words(prepared, small()), *change.split())
    assert code == 2 and said in error, error
    assert error.count("\n") == 1 and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("model.heads", 3, "transfer.model.heads: 3 is not allowed; it must divide the width 8"),
        ("model.patch", 3, "transfer.model.patch: 3 .* divide the image size 8"),
        ("model.patch", 4, "transfer.model.patch: 4 .* give more than 4 tokens"),
        ("model.recipe", "usual", "transfer.model.recipe: 'usual'"),
        ("pretraining.steps", 0, "transfer.pretraining.steps: 0 .* at least 1"),
        ("pretraining.peak", float("inf"), "transfer.pretraining.peak: inf .* finite"),
        ("pretraining.shift", 8, "transfer.pretraining.shift: 8 .* below the image size 8"),
        ("pretraining.smoothing", 1.0, "transfer.pretraining.smoothing: 1.0"),
        ("pretraining.weight_decay", -1.0, "transfer.pretraining.weight_decay: -1.0"),
        ("finetuning.samples", [2, 1], "transfer.finetuning.samples: .* ascend"),
        ("finetuning.rates", [0.0], "transfer.finetuning.rates: .* above 0"),
        ("finetuning.level", 0.0, "transfer.finetuning.level: 0.0 .* above 0"),
        ("finetuning.most", 0, "transfer.finetuning.most: 0 .* at least 1"),
        ("attentions", ["self", "self"], "transfer.attention: .* none twice"),
        ("tuning_draws", 0, "transfer.tuning_draws: 0 .* at least 1"),
    ],
)
def test_bad_settings_are_named(place, value, said):
    section = small()
    *groups, key = place.split(".")
    inner = section["transfer"]
    for group in groups:
        inner = inner[group]
    inner[key] = value
    with pytest.raises(BadInput, match=said):
        transfer_sections.transfer(section)


def test_a_data_set_with_too_few_classes():
    section = small() | {"datasets": ["imagefolder"]}
    section["imagefolder"] = {"size": 8, "resize": 8, "classes": 3}
    with pytest.raises(BadInput, match="classes: 3 .* at least 4 .* with draws: 0 it is not run"):
        transfer_sections.transfer(section)
    section["transfer"]["draws"] = 0
    assert list(transfer_sections.transfer(section)) == ["imagefolder"]


@pytest.mark.parametrize("name", ["config", "smoke", "paper"])
def test_configurations_name_settings_that_are_allowed(name):
    whole = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    over = yaml.safe_load((ROOT / f"config/{name}.yaml").read_text())
    laid = _laid(whole, over)
    config.check(laid, ROOT / "config/schema.yaml", gpus=0)
    options = transfer_sections.transfer(laid["images"])
    assert list(options) == laid["images"]["datasets"]
    one = options[laid["images"]["datasets"][0]]
    assert one["attention"] == ["self", "positional"] and one["draws"] >= 2
    if name != "smoke":
        assert one["draws"] >= 10


def _laid(below: dict, over: dict) -> dict:
    """A configuration with another laid over it, as Snakemake does."""
    both = {key: _laid(below[key], over[key]) for key in below.keys() & over.keys()
            if isinstance(below[key], dict) and isinstance(over[key], dict)}  # fmt: skip
    return below | over | both
