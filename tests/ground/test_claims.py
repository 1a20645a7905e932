"""The ledger's rule and its two forms."""

import math
import subprocess
import sys

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_theory import claims, tables
from attention_theory.claims import Claim, Judgement
from attention_theory.errors import BadInput
from attention_theory.statistics import Interval


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(-1, 1), st.floats(0, 1))
def test_a_verdict_needs_the_whole_interval(low, width, contradicted, gap):
    interval = Interval(low + width / 2, low, low + width, 5)
    supported = contradicted + gap
    verdict = claims.verdict(interval, supported, contradicted)
    assert (verdict == claims.SUPPORTED) == (interval.low > supported)
    assert (verdict == claims.CONTRADICTED) == (interval.high < contradicted)


def test_bounds_that_overlap_are_refused():
    with pytest.raises(ValueError, match="supported_above"):
        claims.verdict(Interval(0.4, 0.39, 0.41, 9), 1 / 3, 1 / 2)


def test_the_worst_of_several_decides():
    made = [Judgement(v, Interval(0, 0, 0, 0), v) for v in claims.VERDICTS]
    assert claims.worst(made).verdict == claims.CONTRADICTED
    assert claims.worst([made[0], made[2]]).verdict == claims.INCONCLUSIVE
    assert claims.worst([made[3], made[0]]).verdict == claims.SUPPORTED


def test_a_table_without_its_columns_is_named(tmp_path):
    tables.write(tmp_path / "t.csv", pd.DataFrame({"y": [1.0]}), ["y"])
    with pytest.raises(BadInput, match="t.csv: the table lacks the column x"):
        claims.judge("study", [CLAIM], {"t": tmp_path / "t.csv"}, {"t": ["x"]})


def test_no_interval_no_verdict():
    unknown = Interval(1.0, math.nan, math.nan, 1)
    assert claims.verdict(unknown, 0.5, 0.5) == claims.INCONCLUSIVE


def test_verdicts_are_four():
    with pytest.raises(ValueError, match="perhaps"):
        Judgement("perhaps", Interval(0, 0, 0, 0), "")


CLAIM = Claim(
    "X1", "a | b", "Sec. 1", lambda t: Judgement(claims.SUPPORTED, Interval(*t.x), "as seen")
)


def test_ledger_and_markdown(tmp_path):
    tables.write(tmp_path / "t.csv", pd.DataFrame({"x": [1.0, 0.5, 1.5, 4]}), ["x"])
    ledger = claims.judge("study", [CLAIM], {"t": tmp_path / "t.csv"}, {"t": ["x"]})
    assert list(ledger.columns) == claims.COLUMNS
    row = ledger.iloc[0]
    assert (row.effect, row.ci_low, row.ci_high, row.n) == (1.0, 0.5, 1.5, 4)
    text = claims.to_markdown(ledger)
    assert "a \\| b (Sec. 1)" in text and "**supported**" in text


def test_a_missing_input_is_named():
    with pytest.raises(BadInput, match="t=PATH is missing"):
        claims.judge("study", [CLAIM], {}, {})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["G1", "--input", "gaussian=no.csv"], "no.csv: no readable table"),
        (["G9"], "claim: 'G9' is not allowed; it must be one of: T3.1, T3.1b"),
    ],
)
def test_a_step_judges_the_claims_that_are_named(tmp_path, words, said):
    command = [sys.executable, "-m", "attention_theory.spatial.claims", *words]
    command += ["--output", tmp_path / "claims.csv"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
