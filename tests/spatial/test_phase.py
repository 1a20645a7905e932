"""The phase diagram and the comparison of methods, as steps, on small settings."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attention_theory import config as configuration
from attention_theory import tables
from attention_theory.errors import BadInput
from attention_theory.spatial import methods, phase_settings, population_columns, sections
from attention_theory.spatial.histograms import MonteCarlo
from attention_theory.spatial.population_settings import Sets
from attention_theory.spatial.settings import Architecture

PHASE = (
    "--D 50 --C 5 --p 3 --nu 0.1 --betas 0,3 --q-Ds 10,40 --alpha-0 0.001 --eta-v 2e-4 --eta-A 150 "
    "--steps 60 --samples 500 --base-seed 1"
).split()
SCALE = (
    "--sizes 30,60,1000000 --C 5 --q-D 20 --p 3 --nu 0.1 --beta 2 --alpha-D 1 --gamma 1 --rho -0.1 "
    "--target 1e-8 --finest 1e-12 --samples 400 --full 60 --base-seed 1"
).split()


def run(step, options, path):
    command = [sys.executable, "-m", f"attention_theory.spatial.{step}", *options]
    return subprocess.run([*command, "--table", path], capture_output=True, text=True, check=False)


def test_without_a_diagonal_nothing_is_associated(tmp_path):
    done = run("phase", PHASE, tmp_path / "phase.csv")
    assert done.returncode == 0, done.stderr
    cells = tables.read(tmp_path / "phase.csv", phase_settings.PHASE_COLUMNS)
    cells = cells.set_index(["beta", "q_D"])
    assert (cells.patch_association[0.0] == 0).all()
    assert np.abs(cells.loc[0.0, ["gamma", "rho"]]).max(axis=None) < 1e-9
    assert cells.patch_association[3.0, 10.0] == 1
    assert cells.risk[3.0, 10.0] < 0.05 < cells.risk[0.0, 10.0]
    assert cells.linear_error[0.0, 10.0] < cells.linear_error[0.0, 40.0]


def test_each_method_reaches_as_far_as_it_says_and_they_agree(tmp_path):
    done = run("methods", SCALE, tmp_path / "methods.csv")
    assert done.returncode == 0, done.stderr
    found = tables.read(tmp_path / "methods.csv", phase_settings.METHODS_COLUMNS)
    found = found.set_index(["method", "D"])
    assert list(found.loc["exact"].index) == [30]
    assert list(found.loc["full model"].index) == [30, 60]
    quadrature, sample, full = (
        found.loc[name] for name in ("fourier", "monte-carlo", "full model")
    )
    assert (quadrature.difference <= quadrature.reported).all()
    assert (quadrature.reported < 1e-8).all()
    assert quadrature.work.max() < 2 * quadrature.work.min()
    assert (sample.difference < 6 * sample.reported).all()
    values = ["risk", "d_alpha", "d_gamma", "d_rho"]
    np.testing.assert_allclose(full[values], sample.loc[[30, 60], values], rtol=1e-10)


def test_patterns_are_those_of_the_histograms():
    sample = MonteCarlo(Sets(12, 3, 0.4), Architecture(3, 0.1, 1.0), 50, np.random.default_rng(0))
    z = methods.patterns(sample)
    assert z.shape == (50, 12) and (z[:, :3] == 1).all()
    sums = np.sort(z.reshape(50, 4, 3).sum(axis=2), axis=1)
    times = np.rint(50 * sample.weights).astype(int)
    for row, counts in zip(sums, np.repeat(sample.counts.T, times, axis=0), strict=True):
        expected = np.repeat(sample.types.s, counts.astype(int))
        np.testing.assert_array_equal(row, np.sort(expected))


def test_trajectories_run_by_every_method(tmp_path):
    common = {"D": 12, "C": 3, "q": 0.4, "p": 3, "nu": 0.1, "beta": 2.0, "samples": 20_000}
    common |= {"target": 1e-8, "alpha_0": 1e-3, "eta_v": 2e-4, "eta_A": 10.0, "steps": 30}
    common |= {"stop_risk": 0.0, "every": 10, "test": 1000}
    named = {m: common | {"method": m} for m in ("exact", "fourier", "monte-carlo")}
    options = ["trajectories", "--settings", json.dumps(named), "--base-seed", "1"]
    done = run("population", options, tmp_path / "population.csv")
    assert done.returncode == 0, done.stderr
    table = tables.read(tmp_path / "population.csv", population_columns.POPULATION)
    ends = table[table.step == 30].set_index("trajectory")
    exact = ends.loc["exact"]
    for name, tolerance in (("fourier", 1e-7), ("monte-carlo", 0.05)):
        found = ends.loc[name]
        for column in ("alpha", "gamma", "risk"):
            assert found[column] == pytest.approx(exact[column], rel=tolerance)
    assert exact.error_method == "exact" and exact.error == exact.error_low
    assert table.error.notna().sum() == 3 * 4  # steps 0, 10, 20, 30
    at_20 = float(table[(table.trajectory == "exact") & (table.step == 20)].risk.iloc[0])
    stopped = json.dumps({"early": common | {"method": "exact", "stop_risk": at_20}})
    options = ["trajectories", "--settings", stopped, "--base-seed", "1"]
    assert run("population", options, tmp_path / "early.csv").returncode == 0
    early = tables.read(tmp_path / "early.csv")
    assert list(early.step) == list(range(21)) and early.error.notna().sum() == 3


def section():
    return configuration.read(Path("config/config.yaml"))["spatial"]["population"]


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (lambda s: s["setting"].update(p=4), "population.setting.p: 4"),
        (lambda s: s["trajectories"]["D400"].update(q=1.5), "population.trajectories.D400.q: 1.5"),
        (lambda s: s["trajectories"]["D50"].update(method="exact"), "trajectories.D50.method"),
        (lambda s: s["phase"].update(q_Ds=[60.0]), "population.phase.q_Ds: 60"),
        (lambda s: s["methods"].update(sizes=[33]), "population.methods.D: 33"),
        (lambda s: s["methods"].update(finest=1.0), "population.methods.finest"),
    ],
)
def test_the_section_is_checked_before_any_job(change, key):
    changed = section()
    change(changed)
    with pytest.raises(BadInput, match=key.replace(".", r"\.")):
        sections.population(changed)


def test_a_bad_list_or_a_driven_out_of_reach_descent_is_one_line(tmp_path):
    bad = [word if word != "0,3" else "0,x" for word in PHASE]
    done = run("phase", bad, tmp_path / "phase.csv")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "betas" in done.stderr
    wild = [word if word != "2e-4" else "1e9" for word in PHASE]
    done = run("phase", wild, tmp_path / "phase.csv")
    assert done.returncode == 2 and "beta 0, q D 10" in done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "phase.csv").exists()
