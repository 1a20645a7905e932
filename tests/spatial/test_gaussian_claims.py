"""Synthetic tables that make every verdict of claim G1, and the figure of experiment 7."""

import numpy as np
import pandas as pd
import pytest

from attention_theory import style
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, NOT_RUN, SUPPORTED
from attention_theory.spatial import gaussian_claims, gaussian_columns, gaussian_figures


def runs(phi, apart, accuracy=0.915, associated=0.0, seeds=5, spread=0.05):
    """Seeds of a phi whose gamma - rho is `apart` in the mean."""
    noise = spread * np.linspace(-1, 1, seeds) if seeds > 1 else np.zeros(1)
    return pd.DataFrame(
        {
            "phi": phi,
            "seed": range(seeds),
            "D": 30,
            "test": 20_000,
            "patch_association": associated,
            "train_accuracy": accuracy + 0.01,
            "accuracy": accuracy,
            "linear_accuracy": 0.92,
            "gamma": apart + noise,
            "rho": 0.0,
            "contrast": np.sign(apart) * 1e-4,
        }
    )


CUBIC = runs("cubic", 2.0, accuracy=0.95, associated=0.7)


@pytest.mark.parametrize(
    ("tables", "verdict", "effect"),
    [
        ([runs("tanh", -0.7), CUBIC], SUPPORTED, -0.7),
        ([runs("tanh", -0.7)], SUPPORTED, -0.7),
        # Not fitted: neither surely below nor so close to the margin that the sample cannot tell.
        ([runs("tanh", -0.7, accuracy=0.8), CUBIC], INCONCLUSIVE, 2.0),
        ([runs("tanh", -0.7, accuracy=0.9005), CUBIC], INCONCLUSIVE, 2.0),
        ([runs("tanh", -0.01, spread=0.1), CUBIC], INCONCLUSIVE, -0.01),
        ([runs("tanh", -0.7, seeds=1)], INCONCLUSIVE, -0.7),
        # The sets are found in part: this claim does not rest on that.
        ([CUBIC], INCONCLUSIVE, 2.0),
        ([runs("tanh", 1.0, associated=1.0), runs("cubic", 2.0, 0.95, 1.0)], CONTRADICTED, 1.0),
        # Only what is fitted counts.
        ([runs("tanh", -1.0, accuracy=0.6), runs("cubic", 2.0, 0.95, 1.0)], CONTRADICTED, 2.0),
    ],
)
def test_association_on_gaussian_data(tables, verdict, effect):
    # Backwards where there is nothing to find says nothing.
    table = pd.concat([*tables, runs("linear", -3.0, accuracy=0.99)], ignore_index=True)
    judgement = gaussian_claims.judge_gaussian(table)
    assert judgement.verdict == verdict
    assert judgement.interval.estimate == pytest.approx(effect)
    assert "linear:" not in judgement.measured


def test_without_a_structured_phi_it_is_not_run():
    assert gaussian_claims.judge_gaussian(runs("linear", 0.1)).verdict == NOT_RUN


def test_the_worst_of_two_must_be_sure():
    """A phi that is just surely backwards by itself is not so as the worst of two."""
    alone = runs("tanh", -0.11, spread=0.1)
    assert gaussian_claims.judge_gaussian(alone).verdict == SUPPORTED
    both = pd.concat([alone, CUBIC])
    assert gaussian_claims.judge_gaussian(both).verdict == INCONCLUSIVE


def test_the_figure_shows_its_tables_and_repeats_its_bytes(tmp_path):
    style.use()
    table = pd.concat([runs("tanh", -0.7), CUBIC], ignore_index=True)
    A = np.random.default_rng(0).standard_normal((2, 6, 6)).astype(np.float32)
    attention = {"phi": np.array(["tanh", "cubic"]), "A": A}
    assert set(attention) == set(gaussian_columns.ATTENTION)
    for copy in ("one", "two"):
        figure, shown = gaussian_figures.gaussian(table, attention)
        assert len(shown) == 10 + 2 * 36
        assert list(shown.gamma.dropna()) == list(table.gamma)
        entries = shown[shown.phi.eq("cubic") & shown.i.eq(0) & shown.j.eq(1)]
        assert entries.A.item() == pytest.approx(A[1, 0, 1])
        assert shown.A.isna().sum() == 10 + 2 * 6, "the diagonal is not trained"
        style.save(figure, shown, tmp_path / copy)
    assert (A.diagonal(axis1=1, axis2=2) != 0).all(), "the input is left alone"
    for suffix in (".pdf", ".png", ".csv"):
        one, two = (tmp_path / f"{copy}{suffix}" for copy in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
