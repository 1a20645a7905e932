"""Synthetic tables that make every verdict of the claims on transfer, and its figures."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, NOT_RUN, SUPPORTED
from attention_theory.spatial import transfer_claims as claims
from attention_theory.spatial import transfer_figures as figures
from attention_theory.spatial import transfer_scaling as scaling

SIZES = (50, 80, 120)
GRID = tuple(2**k for k in range(13))


def runs(attention, n95, optimiser="gd", sizes=SIZES, seeds=3, draws=20, grid=GRID, d="both"):
    """Runs whose accuracy is .95 at N~ = n95(D, d, seed): linear in log N~, at most .99."""
    rows = []
    for D in sizes:
        for dimension in {"both": (16, D), "fixed": (16,), "wide": (D,)}[d]:
            for seed in range(seeds):
                for n in grid:
                    accuracy = min(0.99, 0.95 + 0.01 * np.log2(n / n95(D, dimension, seed)))
                    row = {"D": D, "d": dimension, "seed": seed, "attention": attention}
                    row |= {"optimiser": optimiser, "step_size": 30 / D, "scan": False}
                    row |= {"samples": n, "accuracy": max(accuracy, 0)}
                    rows += [row | {"draw": draw} for draw in range(draws)]
    return pd.DataFrame(rows)


def power(exponent, factor=3.0, noise=0.05):
    """N95 = factor (D / 50)^exponent, scattered over seeds."""
    return lambda D, d, seed: factor * (D / 50) ** exponent * (1 + noise * (seed - 1))


def learned(exponent=0.0, **changes):
    kinds = ("gd", "one_step")
    return stack(*(runs("learned", power(exponent, **changes), kind) for kind in kinds))


def without(permuted=0.85, zero=0.87, draws=20, grid=GRID):
    """Permuted and zero attention of constant accuracy at the fixed dimension."""
    kinds = {"permuted": permuted, "zero": zero}
    parts = [
        runs(kind, power(0), "gd", draws=draws, grid=grid, d="fixed").assign(accuracy=accuracy)
        for kind, accuracy in kinds.items()
    ]
    return pd.concat(parts, ignore_index=True)


def scratch(exponent=1.0, factor=300.0, noise=0.05, sizes=SIZES):
    return runs("scratch", power(exponent, factor, noise), sizes=sizes, draws=2)


def stack(*parts):
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize(
    ("table", "verdict", "said"),
    [
        (learned(0.0), SUPPORTED, "exponent 0.00 ["),
        (learned(0.2), SUPPORTED, "exponent 0.20 ["),
        (learned(1.0), CONTRADICTED, "exponent 1.00 ["),
        (learned(0.5), INCONCLUSIVE, "exponent 0.50 ["),
        (learned(0.0, noise=0.6), INCONCLUSIVE, "exponent"),
        (learned(0.0, factor=200.0), CONTRADICTED, "reached in 0.000 of 60 draws"),
        (
            learned(0.0, factor=0.5),
            SUPPORTED,
            "with 1 to 1 samples at d = D = 50 to 120, exponent 0.00 [",
        ),
        (learned().query("samples > 4"), INCONCLUSIVE, "no exponent of N95: 9 of 9 at most"),
        (learned(0.0).query("D < 120"), INCONCLUSIVE, "2 sizes D, three needed"),
        (learned(0.0).query("samples != 16"), INCONCLUSIVE, "not run: no draws with 16"),
        (learned(0.0).query("d == 16"), INCONCLUSIVE, "not run: no learned attention at d = D"),
        (scratch(), NOT_RUN, "not run"),
    ],
)
def test_few_samples_and_flat(table, verdict, said):
    judgement = claims.judge_transfer(table)
    assert judgement.verdict == verdict and said in judgement.measured, judgement.measured


def test_flat_is_judged_on_nine_draws_in_ten_and_with_its_interval():
    judgement = claims.judge_transfer(learned(0.2))
    assert judgement.interval.n == 9 and judgement.interval.low < 0.2 < judgement.interval.high


def test_a_seed_that_fails_leaves_few_samples_open():
    """Two thirds of all draws reach .95, but none of one seed."""
    table = runs("learned", power(0), "one_step", draws=60, grid=(claims.FEW,))
    assert claims.judge_one_step(table).verdict == SUPPORTED
    table.loc[table.seed == 2, "accuracy"] = 0.9
    judgement = claims.judge_one_step(table)
    assert judgement.verdict == INCONCLUSIVE and judgement.interval.low > 0.5
    table.loc[table.seed == 1, "accuracy"] = 0.9
    assert claims.judge_one_step(table).verdict == CONTRADICTED


@pytest.mark.parametrize(
    ("table", "verdict", "said"),
    [
        (stack(without(), scratch(1.0)), SUPPORTED, "exponent in D 1.00"),
        (stack(without(), scratch(0.0)), INCONCLUSIVE, "exponent in D 0.00"),
        (stack(without(), scratch(-1.0)), CONTRADICTED, "exponent in D -1.00"),
        (stack(without(permuted=0.96), scratch(1.0)), CONTRADICTED, "0.960 with permuted"),
        (stack(without(zero=0.95), scratch(1.0)), CONTRADICTED, "0.950 with zero"),
        (stack(without(), scratch(1.0, factor=3000.0)), INCONCLUSIVE, "not reached"),
        (stack(without(), scratch(1.0, sizes=(50, 80))), INCONCLUSIVE, "2 sizes D, three needed"),
        (without(), INCONCLUSIVE, "not run: no training from scratch"),
        (stack(without().query("attention == 'zero'"), scratch()), INCONCLUSIVE, "not both tried"),
        (learned().query("D < 0"), NOT_RUN, "not run"),
    ],
)
def test_no_transfer_without_association(table, verdict, said):
    judgement = claims.judge_no_transfer(table)
    assert judgement.verdict == verdict and said in judgement.measured, judgement.measured


def test_one_number_of_samples_that_suffices_contradicts_and_few_draws_leave_it_open():
    table = stack(without(), scratch())
    at = (table.attention == "permuted") & (table.D == 80) & (table.samples == 1024)
    table.loc[at, "accuracy"] = 0.97
    assert claims.judge_no_transfer(table).verdict == CONTRADICTED
    few = table[(table.seed == 0) & (table.draw < 2) | (table.attention == "scratch")]
    assert claims.judge_no_transfer(few).verdict == INCONCLUSIVE


@pytest.mark.parametrize(
    ("accuracy", "verdict"),
    [(0.99, SUPPORTED), (0.95, SUPPORTED), (0.949, CONTRADICTED), ("half", INCONCLUSIVE)],
)
def test_one_step(accuracy, verdict):
    table = runs("learned", power(0), "one_step")
    table["accuracy"] = np.where(table.draw % 2, 0.99, 0.9) if accuracy == "half" else accuracy
    # What other lengths of the step give has no say.
    other = table.assign(step_size=0.1, scan=True, accuracy=0.5)
    judgement = claims.judge_one_step(stack(table, other))
    assert judgement.verdict == verdict
    assert "one step of length 30/D" in judgement.measured
    assert claims.judge_one_step(runs("learned", power(0), "gd")).verdict == NOT_RUN


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.id)
def test_a_missing_accuracy_never_supports(claim):
    table = stack(learned(), without(), scratch())
    assert claim.judge(table).verdict == SUPPORTED
    first = table.groupby(["attention", "optimiser", "D", "d", "seed", "samples"]).head(1).index
    table.loc[first, "accuracy"] = np.nan
    assert claim.judge(table).verdict == INCONCLUSIVE
    assert claim.judge(table.assign(accuracy=np.nan)).verdict in (INCONCLUSIVE, CONTRADICTED)
    assert claim.judge(table[:0]).verdict == NOT_RUN


def test_n95_interpolates_in_log_samples_and_knows_its_bounds():
    def known(accuracies):
        table = pd.DataFrame({"samples": list(accuracies), "accuracy": accuracies.values()})
        return scaling.n95(table, scaling.HALF)

    assert known({4: 0.93, 16: 0.97}) == (pytest.approx(8), scaling.KNOWN)
    assert known({4: 0.9, 16: 0.95, 64: 0.8}) == (pytest.approx(16), scaling.KNOWN)
    assert known({4: 0.96, 16: 0.9}) == (4.0, scaling.AT_MOST)
    assert known({1: 0.96, 4: 0.97}) == (1.0, scaling.KNOWN)  # no number is smaller
    assert known({4: 0.9, 16: 0.94})[1] == scaling.NOT_REACHED
    assert known({4: np.nan, 16: 0.97})[1] == scaling.NOT_REACHED


def test_n95_of_nine_in_ten_needs_more_than_that_of_the_median():
    flipped = np.array([0.05] * 2 + [0.99] * 8)
    rows = [{"samples": 1, "accuracy": a} for a in flipped]
    rows += [{"samples": 4, "accuracy": 0.99} for _ in flipped]
    table = pd.DataFrame(rows)
    assert scaling.n95(table, scaling.HALF) == (1.0, scaling.KNOWN)
    value, known = scaling.n95(table, scaling.MOST)
    assert known == scaling.KNOWN and 1 < value < 4


def everything(sizes=SIZES):
    parts = [runs("learned", power(0), kind, sizes=sizes) for kind in ("gd", "one_step")]
    parts += [without(draws=3), without(draws=3).assign(optimiser="one_step"), scratch(sizes=sizes)]
    steps = parts[1][(parts[1].samples == 64) & (parts[1].d == 16)]
    parts += [steps.assign(step_size=1 / steps.D, scan=True)]
    table = stack(*parts)
    return table[table.D.isin(sizes)]


@pytest.mark.parametrize("name", figures.FIGURES)
@pytest.mark.parametrize("sizes", [SIZES, (50,)])
def test_figures_show_their_table(name, sizes):
    table = everything(sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure, shown = figures.FIGURES[name](table)
        figure.canvas.draw()
    plt.close(figure)
    assert len(shown) and set(shown.D) == set(sizes)
    if name == "transfer":
        first = shown[(shown.attention == "zero") & (shown.samples == 1)].iloc[0]
        assert first["median"] == pytest.approx(0.87)
    if name == "transfer_scaling" and len(sizes) == 3:
        fitted = shown[(shown.attention == "scratch")].exponent.unique()
        np.testing.assert_allclose(fitted, 1, atol=1e-6)
    if name == "one_step":
        assert set(shown.length) == {1.0, 30.0}
