"""The study's figures, of synthetic tables."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from meanfield_tables import gaps, risks, tables

from attention_theory import style
from attention_theory.meanfield import figures


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize("name", tables(1))
def test_figures_show_their_tables(name, seeds):
    """(That their bytes repeat, the smoke run tests.)"""
    style.use()
    figure, shown = figures.FIGURES[name](tables(seeds)[name])
    plt.close(figure)
    assert len(shown)
    if "mean" in shown:
        assert shown["mean"].notna().all() and (shown.n == seeds).all()
    if seeds > 1 and "ci_low" in shown:
        varied = shown[shown.ci_low.notna()]  # not where all seeds are alike
        assert (
            len(varied)
            and (varied.ci_low <= varied["mean"]).all()
            and (varied.ci_high >= varied["mean"]).all()
        )


@pytest.mark.parametrize("depths", [(2, 12), (2,)])
def test_one_depth_or_none_to_fit_gives_no_exponent(depths):
    figure, shown = figures.FIGURES["gap"](gaps(depths=depths))
    assert shown[shown.comparison == "depth"].exponent.isna().all()
    assert shown[shown.comparison == "independent"].exponent.notna().all()
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels[0] == "outputs, train"
    plt.close(figure)


def test_the_risks_of_the_figure_are_those_of_the_last_quarter():
    table = risks()
    figure, shown = figures.FIGURES["risk"](table)
    plt.close(figure)
    late = shown[(shown.tau == "last quarter") & (shown.measure == "risk") & (shown.L == 4)]
    last = table[(table.tau > 75) & (table.L == 4)]
    wanted = np.exp(np.log(last.risk).groupby(last.decay).mean())
    np.testing.assert_allclose(late.sort_values("decay")["mean"], wanted)


def test_exponents_of_a_figure_are_the_tables():
    figure, shown = figures.FIGURES["gap"](gaps(noise=0.0))
    plt.close(figure)
    exponents = shown.groupby(["comparison", "measure"]).exponent.mean()
    assert exponents["depth", "gap"] == pytest.approx(-1)
    alone = shown[(shown.comparison == "independent")].exponent
    np.testing.assert_allclose(alone, -0.5)
