"""Claim I4 and the figures of experiment 4 on synthetic tables with a known verdict."""

import math

import numpy as np
import pandas as pd
import pytest

from attention_theory import style
from attention_theory.images import transfer_figures
from attention_theory.images.transfer_claims import I4, judge_transfer
from attention_theory.images.transfer_columns import TRANSFER, difference

NOISE = (-0.003, 0.0, 0.003, 0.001, -0.001)
LOUD = (-0.1, 0.0, 0.1, 0.05, -0.05)


def table(shuffled, scratch=0.1, noise=NOISE, attention="self", samples=(1, 5)) -> pd.DataFrame:
    """Runs of which learned beats shuffled, and scratch, by so much; the noise is a draw's."""
    behind = {"learned": 0.0, "shuffled": shuffled, "random": 0.02, "scratch": scratch}
    rows = []
    for seed, wobble in enumerate(noise):
        for k in samples:
            for positions, less in behind.items():
                common = 0.6 + 0.02 * k + 0.01 * seed  # cancels in the pairs
                own = common - less - (wobble if positions != "learned" else 0)
                rows.append(
                    {"dataset": "digits", "attention": attention, "positions": positions}
                    | {"samples": k, "seed": seed, "rate": 0.01, "steps": 9, "train_loss": 0.09}
                    | {"accuracy": own, "keys_initial": 5.0, "keys_final": 5.0}
                )
    return pd.DataFrame(rows)[TRANSFER]


@pytest.mark.parametrize(
    ("shuffled", "scratch", "noise", "verdict"),
    [
        (0.05, 0.1, NOISE, "supported"),
        (0.05, -0.1, NOISE, "supported"),  # scratch is told, shuffled decides
        (-0.05, 0.1, NOISE, "contradicted"),  # not merely scratch
        (0.0, 0.1, NOISE, "inconclusive"),
        (0.05, 0.1, LOUD, "inconclusive"),
        (-0.05, 0.1, LOUD, "inconclusive"),
        (0.05, 0.1, (0.0,), "inconclusive"),  # one draw
        (0.05, 0.1, (0.0, 0.0), "inconclusive"),  # no spread, no interval
    ],
)
def test_verdicts(shuffled, scratch, noise, verdict):
    found = judge_transfer(table(shuffled, scratch, noise))
    assert found.verdict == verdict
    assert found.interval.estimate == pytest.approx(shuffled) and found.interval.n == len(noise)
    for value in (shuffled, 0.02, scratch):
        assert f"by {value:.3f}" in found.measured
    assert "mean over 1, 5 samples a class" in found.measured


def test_draws_are_paired_and_numbers_of_samples_are_no_draws():
    mixed = table(0.05)
    rising = mixed.assign(accuracy=mixed.accuracy - 0.02 * (mixed.positions == "shuffled"))
    opposite = mixed.positions.eq("shuffled") & mixed.samples.eq(5)
    rising.loc[opposite, "accuracy"] += 0.04
    found = judge_transfer(rising.sample(frac=1, random_state=0))
    assert found.interval.n == len(NOISE) and found.interval.estimate == pytest.approx(0.05)
    paired = difference(rising, "shuffled")
    assert list(paired.columns) == [1, 5]
    np.testing.assert_allclose(paired.mean(), [0.07, 0.03])


@pytest.mark.parametrize(
    ("other", "verdict"), [(0.05, "supported"), (0.0, "inconclusive"), (-0.05, "contradicted")]
)
def test_the_worst_attention_decides_and_all_are_told(other, verdict):
    both = pd.concat([table(other), table(0.05, attention="positional")])
    found = judge_transfer(both)
    assert found.verdict == verdict
    assert "digits, self: learned beats shuffled" in found.measured
    assert "digits, positional: learned beats shuffled by 0.050" in found.measured


def test_a_draw_without_a_run_is_left_out():
    short = table(0.05).query("not (seed == 0 and positions == 'shuffled' and samples == 5)")
    assert judge_transfer(short).interval.n == len(NOISE) - 1


@pytest.mark.parametrize("part", ["positions == 'learned'", "positions != 'learned'", "seed > 9"])
def test_not_run_without_pairs(part):
    found = judge_transfer(table(0.05).query(part))
    assert found.verdict == "not run" and math.isnan(found.interval.estimate)
    assert I4.id == "I4" and I4.judge is judge_transfer


@pytest.mark.parametrize("noise", [NOISE, (0.0,)])
@pytest.mark.parametrize("name", transfer_figures.FIGURES)
def test_figures_show_their_table_and_repeat_their_bytes(name, noise, tmp_path):
    style.use()
    both = pd.concat([table(0.02, noise=noise), table(0.05, attention="positional", noise=noise)])
    for copy in ("one", "two"):
        figure, shown = transfer_figures.FIGURES[name](both)
        titles = [axis.get_title() for axis in figure.axes]
        assert titles == ["vanilla attention", "positional attention"]
        style.save(figure, shown, tmp_path / copy)
    for suffix in (".pdf", ".png", ".csv"):
        one, two = (tmp_path / f"{copy}{suffix}" for copy in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
    assert (shown.n == len(noise)).all()
    if len(noise) > 1:
        assert (shown.ci_low <= shown["mean"]).all() and (shown["mean"] <= shown.ci_high).all()
    if name == "transfer_difference":
        assert len(shown) == 2 * 3 * len(noise)
        means = shown[shown.samples == "mean"].groupby("attention")["mean"].first()
        assert means["self"] == pytest.approx(0.02) and means["positional"] == pytest.approx(0.05)
