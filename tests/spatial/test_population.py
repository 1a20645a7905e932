"""The command for one gradient and the step for trajectories, as a user runs them."""

import json
import re
import subprocess
import sys

import pytest

from attention_theory import tables
from attention_theory.errors import BadInput
from attention_theory.spatial import population, population_settings
from attention_theory.spatial.expectation import expectation
from attention_theory.spatial.histograms import Enumeration
from attention_theory.spatial.population_columns import POPULATION
from attention_theory.spatial.population_settings import Method, Point, Sets
from attention_theory.spatial.settings import Architecture

SETS, ARCHITECTURE = Sets(D=20, C=5, q=0.4), Architecture(p=3, nu=0.1, beta=3.0)
POINT = Point(alpha=0.05, gamma=0.5, rho=-0.1)
FLAGS = [
    *("--D", "20", "--C", "5", "--q", "0.4", "--p", "3", "--nu", "0.1", "--beta", "3"),
    *("--alpha", "0.05", "--gamma", "0.5", "--rho", "-0.1"),
]
TRAJECTORY = {
    **{"D": 20, "C": 5, "q": 0.4, "p": 3, "nu": 0.1, "beta": 3.0, "alpha_0": 0.0005},
    **{"eta_v": 1e-3, "eta_A": 100.0, "steps": 4, "stop_risk": 0.01, "every": 2, "test": 300},
    **{"method": "exact", "target": 1e-8, "samples": 500},
}


def command(*options):
    words = [sys.executable, "-m", "attention_theory.spatial.population", *map(str, options)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "method", [Method("exact"), Method("fourier", target=1e-6), Method("monte-carlo", samples=500)]
)
def test_a_gradient_is_one_line_of_json(method, capsys):
    population.gradient(SETS, ARCHITECTURE, POINT, method, base_seed=2)
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    check(json.loads(printed), method, base_seed=2)


def check(found, method, base_seed):
    wanted = expectation(SETS, ARCHITECTURE, method, base_seed).gradient(POINT)
    for name, value, error in zip(wanted._fields, wanted[:4], wanted.errors, strict=False):
        assert found[name] == pytest.approx(value, rel=1e-12)
        assert found[f"{name}_error"] == pytest.approx(error, rel=1e-6)
    assert found["seconds"] >= 0 and found["method"] == method.method


def test_the_command_prints_the_gradient_and_nothing_else():
    done = command("gradient", *FLAGS, "--method", "fourier", "--target", "1e-8")
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.count("\n") == 1
    check(json.loads(done.stdout), Method("fourier", target=1e-8), base_seed=1)


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--method", "guess"], "method: 'guess' is not allowed; it must be one of: exact,"),
        (["--method", "fourier", "--alpha", "9"], "F ranges over +-"),
        (["--method", "exact", "--D", "1000000", "--C", "100"], "e+4215 states"),
        (["--method", "exact", "--alpha", "1e99"], "F overflows"),
    ],
)
def test_bad_input_is_one_line(flags, says):
    done = command("gradient", *FLAGS, *flags)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("population: ")
    assert says in done.stderr


def test_the_step_writes_a_row_a_step(tmp_path):
    named = {
        "exactly": TRAJECTORY,
        "sampled": TRAJECTORY | {"method": "monte-carlo", "steps": 1, "beta": 1},
    }
    table, record = tmp_path / "population.csv", tmp_path / "record.json"
    done = command(
        "trajectories", "--settings", json.dumps(named), "--base-seed", 1,
        "--table", table, "--provenance", record,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = tables.read(table, POPULATION)
    assert list(found.columns) == POPULATION and record.exists()
    assert list(found.trajectory) == ["exactly"] * 5 + ["sampled"] * 2
    assert list(found.step) == [0, 1, 2, 3, 4, 0, 1]
    first = found.iloc[0]
    assert (first.alpha, first.gamma, first.rho) == (0.0005, 0, 0)
    assert (first.D, first.C, first.q, first.p, first.nu, first.beta) == (20, 5, 0.4, 3, 0.1, 3)
    assert (first.alpha_0, first.eta_v, first.eta_A) == (0.0005, 1e-3, 100)
    exactly = Enumeration(SETS, ARCHITECTURE).gradient(Point(0.0005, 0.0, 0.0))
    assert first.risk == pytest.approx(exactly.risk) and first.d_gamma_error >= 0
    # A test error at every second step and at each trajectory's last one.
    assert found.error.notna().tolist() == [True, False, True, False, True, True, True]
    assert set(found.error_method.dropna()) == {"exact"}


def test_the_same_settings_give_the_same_bytes(tmp_path):
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    settings = json.dumps({"a": TRAJECTORY | {"method": "monte-carlo"}})
    for path in paths:
        population.trajectories(settings=settings, base_seed=3, table=path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    population.trajectories(settings=settings, base_seed=4, table=paths[1])
    assert paths[0].read_bytes() != paths[1].read_bytes()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ("{", "settings: no JSON"),
        ("[1]", "settings: it must be a JSON object of objects"),
        ('{"a": 3}', "settings: it must be a JSON object of objects"),
        (json.dumps({"a": TRAJECTORY | {"eta": 1}}), "trajectory a.eta: 1 is not allowed"),
        (json.dumps({"a": {"D": 20}}), "hold C, alpha_0, beta, eta_A"),
        (json.dumps({"a": TRAJECTORY | {"D": "20"}}), "a.D: '20' .* must be a whole number"),
        (json.dumps({"a": TRAJECTORY | {"D": 20.0}}), "a.D: 20.0 .* must be a whole number"),
        (json.dumps({"a": TRAJECTORY | {"steps": True}}), "a.steps: True .* a whole number"),
        (json.dumps({"a": TRAJECTORY | {"q": "x"}}), "a.q: 'x' .* must be a number"),
        (json.dumps({"a": TRAJECTORY | {"method": 1}}), "a.method: 1 .* must be a word"),
        (json.dumps({"a": TRAJECTORY | {"eta_v": float("nan")}}), "a.eta_v: nan .* be finite"),
        (json.dumps({"a": TRAJECTORY | {"every": 0}}), "a.every: 0 .* at least 1"),
        (json.dumps({"a": TRAJECTORY | {"alpha_0": 1e99}}), "a.step 0: .*F overflows"),
        (json.dumps({"a": TRAJECTORY | {"alpha_0": 10**400}}), "a.alpha_0: inf .* be finite"),
        (json.dumps({"a": TRAJECTORY | {"D": 400}}), "a.method: exact is beyond.*states"),
    ],
)
def test_bad_settings_of_trajectories_are_named(settings, says, tmp_path):
    with pytest.raises(BadInput, match=says):
        population.trajectories(settings=settings, base_seed=1, table=tmp_path / "t.csv")
    assert not list(tmp_path.iterdir()), "and nothing is written"


def test_bad_settings_of_trajectories_are_one_line(tmp_path):
    done = command(
        "trajectories", "--settings", "{'", "--base-seed", 1, "--table", tmp_path / "t.csv"
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("population: settings: no JSON")


@pytest.mark.parametrize(
    ("make", "key"),
    [
        (lambda: Sets(D=20, C=0, q=0.4), "C"),
        (lambda: Sets(D=5, C=5, q=0.4), "D"),
        (lambda: Sets(D=20, C=5, q=1.0), "q"),
        (lambda: Sets(D=20, C=5, q=float("nan")), "q"),
        (lambda: Point(0.1, float("inf"), 0.0), "gamma"),
        (lambda: Method("exact", target=0.5), "target"),
        (lambda: Method("exact", samples=1), "samples"),
        (lambda: population_settings.Path(-0.1, 1, 1, 1, 1, 1, 1), "alpha_0"),
        (lambda: population_settings.Path(0.1, 1, 0, 1, 1, 1, 1), "eta_A"),
        (lambda: population_settings.Path(0.1, 1, 1, 0, 1, 1, 1), "steps"),
    ],
)
def test_settings_are_checked(make, key):
    with pytest.raises(BadInput, match=f"^{key}: .* is not allowed; it must "):
        make()


def test_what_is_too_large_for_a_method_is_refused_at_once():
    big = {"D": "1000000", "C": "5", "q": "0.4"}
    for sizes, method, says in (
        (big, "fourier", "needs .* values"),
        ({"D": "1000", "C": "200", "q": "0.4"}, "monte-carlo", "counts of set types"),
    ):
        options = [word for name, value in sizes.items() for word in (f"--{name}", value)]
        point = "--p 3 --nu 0.1 --beta 2 --alpha 0 --gamma 0 --rho 0".split()
        command = [sys.executable, "-m", "attention_theory.spatial.population", "gradient"]
        done = subprocess.run(
            [*command, *options, *point, "--method", method],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert re.search(says, done.stderr), done.stderr
