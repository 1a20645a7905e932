"""Thousands of jobs: what gathers their files, and the names of their settings."""

import json
import re
import subprocess
import sys

import pandas as pd
import pytest
from checkout import OUTSIDE, ROOT
from hypothesis import given
from hypothesis import strategies as st

from attention_theory import rules

PARTS = 5000
FOLDER = "results/it's many/study"
# The project's own gathering rules, on parts and records that are there.
SNAKEFILE = f"""
from attention_theory import rules as ours

config["run"] = "it's many"
ours.prepare_environment(config)
RESULTS = "results/it's many"
ROOT = Path({str(ROOT)!r})
include: {str(ROOT / "workflow/rules/common.smk")!r}
OUTPUTS["study"] = [f"{FOLDER}/provenance/one's {{i}}.json" for i in range({PARTS})]
TABLES["study"] = {{"all": [f"{FOLDER}/parts/one's {{i}}.csv" for i in range({PARTS})]}}
include: {str(ROOT / "workflow/rules/outcomes.smk")!r}
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A table and the costs of 5,000 parts, gathered where a command line holds 256 KiB."""
    folder = tmp_path_factory.mktemp("it's a place")
    (folder / "Snakefile").write_text(SNAKEFILE)
    for name in ("parts", "provenance"):
        (folder / FOLDER / name).mkdir(parents=True)
    for i in range(PARTS):
        (folder / FOLDER / "parts" / f"one's {i}.csv").write_text(f"seed,value\n{i},0.5\n")
        record = {"study": "study", "step": "part", "setting": str(i), "cpu_seconds": 0.5}
        (folder / FOLDER / "provenance" / f"one's {i}.json").write_text(json.dumps(record))
    (folder / "envs").mkdir()
    (folder / "envs" / "environment.yaml").touch()
    run = folder / "results" / "it's many"
    (run / "provenance").mkdir()
    for name in ("claims.csv", "claims.md", "claims.html"):  # no claims to judge
        (run / name).write_text("")
    for name in ("claims", "claims-page"):
        (run / "provenance" / f"{name}.json").write_text("{}")
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet", "rules", "--"]
    done = subprocess.run(
        ["bash", "-c", 'ulimit -s 1024; exec "$@"', "bash", *command, f"{FOLDER}/all.csv",
         "results/it's many/costs.csv"],
        cwd=folder, env=OUTSIDE | {"PYTHONPATH": str(ROOT / "src")}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def test_a_table_of_thousands_of_parts(many):
    table = pd.read_csv(many / FOLDER / "all.csv")
    assert list(table.seed) == list(range(PARTS))
    record = json.loads((many / FOLDER / "provenance" / "table-all.json").read_text())
    assert len(record["inputs"]) == PARTS


def test_the_costs_of_thousands_of_jobs(many):
    costs = pd.read_csv(many / "results" / "it's many" / "costs.csv")
    assert set(costs.setting.dropna().astype(str)) >= set(map(str, range(PARTS)))


@pytest.mark.parametrize("step", ["", "nosuch", "images", "../tables"])
def test_what_is_no_step_is_refused_in_one_line(step):
    command = [sys.executable, "-m", "attention_theory.piped", step]
    done = subprocess.run(
        command, env=OUTSIDE | {"PYTHONPATH": str(ROOT / "src")}, input="", capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == f"piped: {step!r} is not allowed; it must be a step of this package\n"


def test_every_rule_that_gathers_pipes_its_names():
    """A rule whose command lists an input that grows with the jobs would break at some size."""
    for path in sorted((ROOT / "workflow" / "rules").glob("*.smk")):
        for line in path.read_text().splitlines():
            if re.search(r"\{input\.(parts|records|snapshots|models):q\}", line):
                assert "printf" in line or "attention_theory.claims" in line, f"{path}: {line}"


@given(st.integers(1, 10**6), st.data())
def test_a_pattern_of_the_numbers_below_another(number, data):
    value = data.draw(st.integers(0, 2 * number) | st.sampled_from([number - 1, number]))
    fits = re.fullmatch(rules.below(number), str(value)) is not None
    assert fits == (value < number)
    assert not re.fullmatch(rules.below(number), f"0{value}")


def test_a_pattern_of_names_with_numbers():
    pattern = rules.numbered({"main": 1, "q": 12, "none": 0})
    named = ["main-0", "q-0", "q-11"]
    others = ["main-1", "q-12", "none-0", "q-011", "q-1-trajectory", "q"]
    assert all(re.fullmatch(pattern, name) for name in named)
    assert not any(re.fullmatch(pattern, name) for name in others)
