"""The steps as a user runs them, at sizes of milliseconds; bad input; their configuration."""

import subprocess
import sys
from copy import deepcopy

import numpy as np
import pytest

from attention_theory import tables
from attention_theory.errors import BadInput
from attention_theory.meanfield import columns, sections

PROBLEM = "--d-x 2 --n 4 --tasks 6 --fresh 5 --mean .3 --spread .6 --neurons 1.25 --base-seed 1"
DESCENT = "--d-tau .15 --decay 1e-3 --steps 4 --seeds 2"
STEPS = {
    "gap": f"{PROBLEM} {DESCENT} --K 4 --depths 2,3 --limit 4 --width-depths 2,4 --widths 3,9",
    "widths": f"{PROBLEM} {DESCENT} --K 4 --L 2 --widths 3,9",
    "horizon": f"{PROBLEM} {DESCENT} --K 4 --sizes 1x3,2x9 --limit 2 --every 3",
    "risk": f"{PROBLEM} --d-tau .15 --steps 4 --seeds 2 --sizes 1x2,2x3 --decays 0,1e-3 "
    "--sweep-size 1x2 --sweep 1e-3,1e-2 --every 3",
    "digits": "--patch 4 --width 8 --layers 1 --heads 2 --mlp 8 --images 40 --batch 16 "
    "--rate 3e-3 --steps 6 --every 4 --seeds 2 --base-seed 1",
}


def step(name, folder, *options):
    """A step's process; a repeated option overrides."""
    command = [sys.executable, "-m", f"attention_theory.meanfield.{name}", *STEPS[name].split()]
    command += ["--table", str(folder / f"{name}.csv"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def ran(name, folder):
    done = step(name, folder)
    assert done.returncode == 0, done.stderr
    return tables.read(folder / f"{name}.csv", columns.INPUTS[name])


def repeats(name, folder):
    """Whether the step gives the bytes again that it has given."""
    table = folder / f"{name}.csv"
    before = table.read_bytes()
    table.unlink()
    return step(name, folder).returncode == 0 and table.read_bytes() == before


def test_gap(tmp_path):
    found = ran("gap", tmp_path)
    assert found.groupby(["comparison", "L", "M"]).size().to_dict() == {
        **{("depth", L, np.inf): 8 for L in (2, 3, 4, 8)},
        **{(name, L, M): 8 for name in ("independent", "shared") for L in (2, 4) for M in (3, 9)},
    }
    assert set(found.tau) == {0, 0.6} and (found.gap > 0).all() and (found.risk_gap >= 0).all()
    depth = found[(found.comparison == "depth")].set_index(["L", "tau", "prompts", "seed"]).gap
    np.testing.assert_allclose(depth[4], 2 * depth[8], rtol=1e-9)  # so is the limit extrapolated
    assert repeats("gap", tmp_path)


def test_widths(tmp_path):
    found = ran("widths", tmp_path)
    pairs = found.groupby(["M_att", "M_mlp"]).size()
    assert len(pairs) == 8 and (pairs == 2 * 2 * 2).all() and (np.inf, np.inf) not in pairs


def test_horizon(tmp_path):
    found = ran("horizon", tmp_path)
    assert len(found) == 2 * 3 * 3 * 2
    assert sorted(found.tau.unique()) == [0, 0.45, 0.6]
    start = found[(found.tau == 0) & (found.measure == "parameters")]
    assert (start.gap == 0).all(), "the limit starts from the same atoms"
    assert (found[found.tau > 0].gap > 0).all()


def test_risk(tmp_path):
    found = ran("risk", tmp_path)
    cells = found.groupby(["L", "M", "decay"]).size()
    assert len(cells) == 5 and (cells == 3 * 2).all()
    runs = found.pivot_table(index=["L", "M", "decay", "seed"], columns="tau", values="risk")
    assert (runs[0.6] < runs[0]).all()
    same = runs[0].groupby(["L", "M", "seed"]).nunique()
    assert (same == 1).all(), "a size starts from the same particles whatever its decay"


def test_digits(tmp_path):
    found = ran("digits", tmp_path)
    assert list(found[found.seed == 1].step) == [0, 4, 6]
    assert (found.loss > 0).all() and found.parameters.nunique() == 1
    assert found.accuracy.between(0, 1).all() and (found.steps == 6).all()
    assert found[found.step == 0].loss.nunique() == 2, "seeds differ"
    assert repeats("digits", tmp_path)


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("gap", "--width-depths 5", "width_depths: '5' is not allowed; it must name depths"),
        ("widths", "--seeds 0", "seeds: 0 is not allowed; it must be at least 1"),
        ("horizon", "--d-tau 1e300", "L 2, M inf.step 1: the risk is not finite; lower d_tau"),
        ("risk", "--sweep-size 1x2,2x2", "sweep_size: '1x2,2x2' is not allowed; it must be one"),
        ("digits", "--patch 3", "patch: 3 is not allowed; it must divide the image size 8"),
    ],
)
def test_bad_input_is_one_line(name, options, says, tmp_path):
    done = step(name, tmp_path, *options.split())
    assert done.returncode == 2 and not list(tmp_path.iterdir())
    assert done.stderr.count("\n") == 1 and says in done.stderr, done.stderr


SECTION = {
    "problem": {
        "d_x": 2,
        "n": 5,
        "tasks": 8,
        "fresh": 8,
        "mean": 0.3,
        "spread": 0.6,
        "neurons": 1.25,
    },
    "gap": {
        "seeds": 2,
        "K": 4,
        "depths": [2, 4],
        "limit": 4,
        "width_depths": [2, 8],
        "widths": [4, 8],
        "d_tau": 0.1,
        "decay": 0.0,
        "steps": 2,
    },
    "widths": {
        "seeds": 2,
        "K": 4,
        "L": 2,
        "widths": [4, 8],
        "d_tau": 0.1,
        "decay": 0.0,
        "steps": 2,
    },
    "horizon": {
        "seeds": 2,
        "K": 4,
        "sizes": ["2x4", "4x8"],
        "limit": 4,
        "d_tau": 0.1,
        "decay": 0.0,
        "steps": 2,
        "every": 1,
        "problem": {"mean": 0.2},
    },
    "risk": {
        "seeds": 2,
        "sizes": ["1x2"],
        "decays": [0.0],
        "sweep_size": "1x2",
        "sweep": [0.1],
        "d_tau": 0.1,
        "steps": 2,
        "every": 1,
    },
    "digits": {
        "seeds": 2,
        "images": 40,
        "patch": 2,
        "width": 8,
        "layers": 1,
        "heads": 2,
        "mlp": 8,
        "batch": 8,
        "rate": 1e-3,
        "steps": 2,
        "every": 1,
    },
}


def test_the_section_becomes_options():
    found = sections.flows(SECTION)
    assert found["gap"]["depths"] == "2,4" and found["gap"]["mean"] == 0.3
    assert found["horizon"]["mean"] == 0.2 and found["horizon"]["sizes"] == "2x4,4x8"
    assert "problem" not in found["horizon"] and "K" not in found["risk"]
    assert sections.digits(SECTION)["patch"] == 2


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        ("problem.n", 1, "config key meanfield.problem.n: 1 is not allowed; it must be at least 2"),
        ("problem.spread", float("nan"), "config key meanfield.problem.spread: nan"),
        ("gap.depths", [2, "x"], "config key meanfield.gap.depths: '2,x'"),
        ("gap.depths", [2, 2], "config key meanfield.gap.depths: '2,2'"),
        ("widths.widths", [0], "config key meanfield.widths.widths: '0'"),
        ("horizon.sizes", ["4"], "config key meanfield.horizon.sizes: '4'"),
        ("horizon.sizes", ["0x4"], "config key meanfield.horizon.sizes: '0x4'"),
        ("risk.decays", [-1.0], "config key meanfield.risk.decays: '-1.0'"),
        ("risk.sweep_size", "1x2,2x2", "config key meanfield.risk.sweep_size: '1x2,2x2'"),
        ("digits.images", 1797, "config key meanfield.digits.images: 1797"),
        ("digits.rate", 0.0, "config key meanfield.digits.rate: 0.0"),
        ("gap.width_depths", [3], "config key meanfield.gap.width_depths: '3'"),
        ("gap.d_tau", 0.0, "config key meanfield.gap.d_tau: 0.0"),
        ("widths.L", 0, "config key meanfield.widths.L: 0"),
        ("horizon.sizes", ["3x4"], "config key meanfield.horizon.sizes: '3x4'"),
        ("horizon.problem", {"spread": 0}, "config key meanfield.horizon.problem.spread: 0"),
        ("risk.sweep_size", "8", "config key meanfield.risk.sweep_size: '8'"),
        ("risk.steps", 0, "config key meanfield.risk.steps: 0"),
        ("digits.heads", 3, "config key meanfield.digits.heads: 3"),
        ("digits.batch", 64, "config key meanfield.digits.batch: 64"),
    ],
)
def test_a_fault_in_the_configuration_names_the_whole_key(place, value, says):
    section = deepcopy(SECTION)
    part, key = place.split(".")
    section[part][key] = value
    with pytest.raises(BadInput) as caught:
        sections.flows(section), sections.digits(section)
    assert str(caught.value).startswith(says)
