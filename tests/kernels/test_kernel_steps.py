"""The study's steps through real processes, and bad input in one line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from attention_theory import tables
from attention_theory.errors import BadInput
from attention_theory.kernels import columns, sections, settings
from attention_theory.kernels.settings import Case, Convergence, Lazy, Sizes, Stuck

CONFIG = Path(__file__).resolve().parents[2] / "config" / "config.yaml"
LAPTOP = yaml.safe_load(CONFIG.read_text())["kernels"]
SIZES = "--N 2 --n 2 --d 2 --sigma 0.5 --base-seed 1 --seeds 2 "
CASES = json.dumps({
    "a": {"target": "common", "H": 1, "n": 2, "eps": 0.05, "size": 0.6},
    "b": {"target": "own", "H": 2, "n": 1, "eps": 1, "size": 1.0},
})  # fmt: skip
OPTIONS = {
    "convergence": "--heads 1 --heads 2 --dimensions 2 --dimensions 8 --value-steps 30 --steps 20 "
    "--stop 1e-6",
    "stuck": "--D 4 --steps 30 --budgets 10 --threshold 1e-3 --hessians 1",
    "lazy": "--dimensions 2 --dimensions 8 --at-heads 1 --heads 1 --heads 2 --at-dimension 4 "
    "--goal 0.5 --method backtracking --rate 0.1 --steps 40",
}
OUTPUTS = {
    "convergence": {"table": columns.CONVERGENCE, "curves": columns.CURVES},
    "stuck": {"table": columns.STUCK, "losses": columns.BUDGETS},
    "lazy": {"table": columns.LAZY},
}
ROWS = {"convergence": 2 * 2 * 2 * 2 * 2, "stuck": 2 * 2 * 2, "lazy": 4 * 2 * 2}


def run(name, folder, *changes):
    command = [sys.executable, "-m", f"attention_theory.kernels.{name}"]
    words = [*SIZES.split(), *OPTIONS[name].split()]
    if name == "stuck":
        words += ["--cases", CASES]
    for output in OUTPUTS[name]:
        words += [f"--{output}", str(folder / f"{output}.csv")]
    done = [*command, *words, *changes]
    return subprocess.run(done, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_step_writes_its_tables(name, tmp_path):
    done = run(name, tmp_path)
    assert done.returncode == 0, done.stderr
    for output, wanted in OUTPUTS[name].items():
        table = tables.read(tmp_path / f"{output}.csv", wanted)
        assert list(table.columns) == wanted and len(table)
    table = tables.read(tmp_path / "table.csv")
    assert len(table) == ROWS[name] and not table[["loss_0", "loss"]].isna().any(axis=None)
    if name == "stuck":
        assert list(dict.fromkeys(table.case)) == ["a", "b"]
        one = table[(table.case == "b") & (table.kernel == "softmax")]
        assert (one.loss == one.loss_0).all() and (one.gradient_norm == 0).all()


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("convergence", "--sigma 3", "sigma: 3.0 is not allowed; it must lie in (0, 0.7]"),
        ("convergence", "--heads 2", "heads: [1, 2, 2] is not allowed; it must name no number"),
        ("stuck", "--D 3", "D: 3 is not allowed; it must be at least 4, N n of case a"),
        ("stuck", "--cases {", "cases: no JSON"),
        ("lazy", "--method newton", "method: 'newton' is not allowed; it must be one of: fixed"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(name, change, says, tmp_path):
    done = run(name, tmp_path, *change.split())
    assert done.returncode == 2 and not list(tmp_path.iterdir())
    assert done.stderr.count("\n") == 1 and says in done.stderr


GOOD = {
    Sizes: {"N": 2, "n": 2, "d": 2, "sigma": 0.5},
    Convergence: {"heads": [1], "dimensions": [4], "value_steps": 3, "steps": 3, "stop": 1e-6},
    Stuck: {"D": 4, "steps": 9, "budgets": [3], "threshold": 0.1, "hessians": 0},
    Case: {"target": "own", "H": 1, "n": 2, "eps": 0.0, "size": 1.0},
    Lazy: {"dimensions": [4], "at_heads": 1, "heads": [1], "at_dimension": 4, "goal": 0.5,
           "method": "fixed", "rate": 0.5, "steps": 3},
}  # fmt: skip


@pytest.mark.parametrize(
    ("group", "key", "value"),
    [
        (Sizes, "N", 0), (Sizes, "n", 0), (Sizes, "d", 0), (Sizes, "sigma", 0.0),
        (Sizes, "sigma", float("nan")),
        (Convergence, "heads", []), (Convergence, "dimensions", [0]),
        (Convergence, "value_steps", 0), (Convergence, "steps", 0), (Convergence, "stop", 0.0),
        (Stuck, "D", 0), (Stuck, "steps", 0), (Stuck, "budgets", [10]), (Stuck, "threshold", 1.0),
        (Stuck, "hessians", -1),
        (Case, "target", "none"), (Case, "H", 0), (Case, "n", 0), (Case, "eps", -0.1),
        (Case, "size", 0.0), (Case, "size", float("inf")),
        (Lazy, "dimensions", [4, 4]), (Lazy, "at_heads", 0), (Lazy, "heads", []),
        (Lazy, "at_dimension", 0), (Lazy, "goal", 1.0), (Lazy, "rate", 0.0), (Lazy, "steps", 0),
    ],
)  # fmt: skip
def test_what_is_not_allowed_is_named(group, key, value):
    group(**GOOD[group])
    with pytest.raises(BadInput) as caught:
        group(**GOOD[group] | {key: value})
    assert str(caught.value).startswith(f"{key}: ") and "it must" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "key", "value", "says"),
    [
        ("convergence", "sigma", 3.0, "config key kernels.convergence.sigma: 3.0"),
        ("convergence", "seeds", 0, "config key kernels.convergence.seeds: 0"),
        ("stuck", "D", 15, "config key kernels.stuck.D: 15 is not allowed; it must be at least 16"),
        ("stuck", "budgets", [501], "config key kernels.stuck.budgets: [501]"),
        ("lazy", "goal", 1.0, "config key kernels.lazy.goal: 1.0"),
    ],
)
def test_a_fault_in_the_configuration_names_the_whole_key(name, key, value, says):
    options = getattr(sections, name)(LAPTOP[name])
    assert options["seeds"] == LAPTOP[name]["seeds"]
    with pytest.raises(BadInput) as caught:
        getattr(sections, name)(LAPTOP[name] | {key: value})
    assert str(caught.value).startswith(says)


def test_a_fault_in_a_case_names_it():
    cases = LAPTOP["stuck"]["cases"] | {"mine": GOOD[Case] | {"size": 0.0}}
    with pytest.raises(BadInput, match=r"config key kernels\.stuck\.cases\.mine\.size: 0\.0"):
        sections.stuck(LAPTOP["stuck"] | {"cases": cases})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "cases: '[]'"),
        ("{}", "cases: '{}'"),
        ('{"a": 1}', "cases: "),
        ('{"a": {"target": "own"}}', "cases.a.keys: "),
        ('{"a": {"depth": 1}}', "cases.a.depth: 1 is not allowed; it must not be set"),
        ('{"a": {"H": 1.5}}', "cases.a.H: 1.5 is not allowed; it must be of type int"),
        ('{"a": {"eps": true}}', "cases.a.eps: True is not allowed; it must be of type float"),
    ],
)
def test_cases_that_are_none(text, says):
    with pytest.raises(BadInput) as caught:
        settings.parse_cases(text)
    assert str(caught.value).startswith(says)
