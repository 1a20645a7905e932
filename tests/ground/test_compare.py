"""A ledger against its reference: other seeds agree, an altered verdict or effect does not."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from attention_theory import claims, tables
from attention_theory.compare import differences

NAN = float("nan")
HERE = Path(__file__).parent
REFERENCE_LEDGER = tables.read(HERE.parents[1] / "docs" / "reference" / "claims.csv")
OTHER_SEED = tables.read(HERE / "data" / "claims-seed-2.csv")  # of runs with SEED=2, but for images
LAPTOP = REFERENCE_LEDGER[REFERENCE_LEDGER.study != "images"].reset_index(drop=True)
NEAR_ITS_CUT = ["meanfield M6: inconclusive, the reference says contradicted"]  # docs/meanfield.md


def ledger(*rows):
    made = [
        ("s", id, "", "", "", effect, low, high, 5, verdict)
        for id, effect, low, high, verdict in rows
    ]
    return pd.DataFrame(made, columns=claims.COLUMNS)


REFERENCE = ledger(
    ("A", 0.50, 0.45, 0.55, "supported"),
    ("B", 0.1164, 0.1164, 0.1164, "contradicted"),
    ("C", NAN, NAN, NAN, "not run"),
)


def altered(id, **changes):
    run = REFERENCE.copy()
    for name, value in changes.items():
        run.loc[run.id == id, name] = value
    return run


def test_a_ledger_agrees_with_itself():
    assert differences(REFERENCE, REFERENCE) == []


def test_honest_runs_of_one_truth_agree():
    """Effects with errors of the stated size agree in 99 of 100 pairs of runs."""
    rng, disagree = np.random.default_rng(0), 0
    for _ in range(500):
        first, second = 0.5 + 0.05 / 1.96 * rng.standard_normal(2)
        run, reference = (
            ledger(("A", x, x - 0.05, x + 0.05, "supported")) for x in (first, second)
        )
        disagree += bool(differences(run, reference))
    assert disagree / 500 < 0.02


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (altered("A", verdict="inconclusive"), "s A: inconclusive, the reference says supported"),
        (altered("A", effect=0.7, ci_low=0.65, ci_high=0.75), "s A: the effect is 0.7, the"),
        (altered("A", effect=0.7), "s A: the effect 0.7 of this run lies outside its own"),
        (altered("B", effect=0.1165, ci_low=0.1165, ci_high=0.1165), "s B: the effect is 0.1165"),
        (altered("C", verdict="supported"), "s C: supported, the reference says not run"),
        (REFERENCE[:2], "s C: not in this run"),
        (pd.concat([REFERENCE, ledger(("D", 1, 1, 1, "supported"))]), "s D: not in the reference"),
    ],
)
def test_what_differs_is_named(run, said):
    lines = differences(run, REFERENCE)
    assert len(lines) == 1 and lines[0].startswith(said)


def test_a_real_run_with_another_seed_agrees_with_the_reference():
    assert len(OTHER_SEED) == len(LAPTOP) > 10
    assert not OTHER_SEED.effect.equals(LAPTOP.effect)
    assert differences(OTHER_SEED, LAPTOP) == NEAR_ITS_CUT


@pytest.mark.parametrize(("moved", "agrees"), [(0.099, True), (0.101, False)])
def test_both_half_widths_together_are_allowed_and_no_more(moved, agrees):
    limits = {"ci_low": 0.45 + moved, "ci_high": 0.55 + moved}
    run = altered("A", effect=0.5 + moved, **limits)
    assert (differences(run, REFERENCE) == []) == agrees


JUDGED = [
    n
    for n, row in LAPTOP.iterrows()
    if np.isfinite(row.effect) and row.ci_high < np.inf and row.id != "M6"
]


@pytest.mark.parametrize(
    ("number", "column"),
    [*((n, "verdict") for n in LAPTOP.index[LAPTOP.id != "M6"]), *((n, "effect") for n in JUDGED)],
)
def test_one_altered_claim_of_a_real_run_is_found(number, column):
    run = OTHER_SEED.copy()
    if column == "verdict":
        other = "supported" if run.verdict[number] == "inconclusive" else "inconclusive"
    run.loc[number, column] = other if column == "verdict" else run.effect[number] + 5
    lines = [line for line in differences(run, LAPTOP) if line not in NEAR_ITS_CUT]
    assert len(lines) == 1 and lines[0].startswith(f"{run.study[number]} {run.id[number]}: ")


def test_the_command_exits_1_and_names_the_claim(tmp_path):
    for name, table in (("run", altered("A", verdict="contradicted")), ("reference", REFERENCE)):
        tables.write(tmp_path / f"{name}.csv", table, claims.COLUMNS)
    command = [sys.executable, "-m", "attention_theory.compare"]
    for first, code in (("run", 1), ("reference", 0), ("gone", 2)):
        paths = [str(tmp_path / f"{name}.csv") for name in (first, "reference")]
        done = subprocess.run([*command, *paths], capture_output=True, text=True, check=False)
        assert done.returncode == code
    assert "gone.csv" in done.stderr and len(done.stderr.splitlines()) == 1
