"""The figures step through real processes, with two small figures; and what one job may share."""

import json
import subprocess
import sys

import pytest

from attention_theory import rules

STEP = """
import matplotlib.pyplot as plt
import pandas as pd

from attention_theory import figures

def line(points: pd.DataFrame):
    figure, axes = plt.subplots()
    axes.plot(points.x, points.y)
    return figure, points

def ratio(points: pd.DataFrame, others: pd.DataFrame):
    figure, axes = plt.subplots()
    axes.plot(points.x, points.y / others.y)
    return figure, others

if __name__ == "__main__":
    FIGURES = {"line": line, "ratio": ratio}
    figures.run("spatial", FIGURES, {"points": ["x", "y"], "others": ["y"]})
"""
INPUTS = ("--input", "points=points.csv", "--input", "others=others.csv")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "step.py").write_text(STEP)
    (tmp_path / "points.csv").write_text("x,y\n0,1\n1,2\n")
    (tmp_path / "others.csv").write_text("y\n4\n8\n")
    (tmp_path / "partial.csv").write_text("x\n4\n8\n")
    return tmp_path


def draw(folder, *words):
    command = [sys.executable, "step.py", *words, "--output", "drawn"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_all_figures_are_drawn_if_none_is_named_and_the_record_has_the_time_of_each(folder):
    done = draw(folder, *INPUTS, "--provenance", "record.json")
    assert done.returncode == 0, done.stderr
    wanted = {f"{name}.{kind}" for name in ("line", "ratio") for kind in ("pdf", "png", "csv")}
    assert {path.name for path in (folder / "drawn").iterdir()} == wanted
    record = json.loads((folder / "record.json").read_text())
    assert (record["step"], record["setting"]) == ("figures", "")
    assert list(record["cpu_seconds_of_figures"]) == ["line", "ratio"]


def test_a_figure_drawn_alone_needs_its_own_inputs_only(folder):
    done = draw(folder, "line", *INPUTS[:2])
    assert done.returncode == 0, done.stderr
    assert {path.stem for path in (folder / "drawn").iterdir()} == {"line"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["line", "pie", *INPUTS], "figure: 'pie' is not allowed; it must be one of: line, ratio"),
        (INPUTS[:2], "--input: others=PATH is missing"),
        (
            [*INPUTS[:2], "--input", "others=partial.csv"],
            "partial.csv: the table lacks the column y",
        ),
        ([*INPUTS[:2], "--input", "others=gone.csv"], "gone.csv: no readable table"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_drawn(folder, words, said):
    done = draw(folder, *words)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and said in done.stderr
    assert not (folder / "drawn").exists()


def test_figures_of_a_study_share_inputs_by_name():
    figures = {"a": {}, "b": {"t": "t.csv", "u": "u.csv"}, "c": {"t": "t.csv"}}
    assert rules.together(figures) == {"t": "t.csv", "u": "u.csv"}
    with pytest.raises(ValueError, match=r"figure d: the input u is u\.csv elsewhere"):
        rules.together(figures | {"d": {"u": "other.csv"}})
