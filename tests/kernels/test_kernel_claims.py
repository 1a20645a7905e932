"""Synthetic tables that make every verdict of K1 to K3b, and their figures."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from attention_theory import style
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, NOT_RUN, SUPPORTED
from attention_theory.kernels import claims, figures
from attention_theory.kernels.columns import BUDGETS, CONVERGENCE, CURVES, LAZY, STUCK

SIZES = {"N": 8, "n": 4, "d": 4, "sigma": 0.5}
KERNELS = ("softmax", "gaussian")


def convergence(failing=0.0, late=0.5, limit=0.0, below=1.0, seeds=16, dimensions=(8, 16, 32, 64)):
    """Runs that go to zero but for a share; `late`: of the fall, what the second half does.

    `limit` is that of full-rank runs at D < N n, `below` of runs whose rank falls short.
    """
    rows = []
    for kernel in KERNELS:
        for H in (1, 2, 4):
            for D in dimensions:
                for seed in range(seeds):
                    rng = np.random.default_rng([H, D, seed])
                    common = SIZES | {"kernel": kernel, "H": H, "D": D, "seed": seed}
                    rank = min(32, H * D)
                    common |= {"rank": rank, "loss_0": 0.5, "steps": 400}
                    condition = 1e-3 * rng.random() if rank == 32 else 0.0
                    end = below if rank < 32 else limit if D < 32 else 0.0
                    facts = {"condition": condition, "limit": end, "rate": 2e-3 * rng.random()}
                    rows.append(common | facts | {"training": "values", "loss_half": 0.2,
                                                  "loss": 0.1})  # fmt: skip
                    fall = np.log(1e-6) * (0.9 + 0.2 * rng.random())
                    if seed < failing * seeds:
                        fall = np.log(0.5)
                    losses = {"loss": 0.5 * np.exp(fall)}
                    part = late * (0.9 + 0.2 * rng.random())
                    losses["loss_half"] = 0.5 * np.exp(fall * (1 - part))
                    rows.append(common | facts | losses | {"training": "all", "limit": np.nan})
    return pd.DataFrame(rows)[CONVERGENCE]


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, SUPPORTED),
        ({"failing": 0.06}, SUPPORTED),
        ({"failing": 0.2}, INCONCLUSIVE),
        ({"failing": 0.5}, CONTRADICTED),
        ({"failing": 1.0}, CONTRADICTED),
        ({"late": 0.12}, CONTRADICTED),
        ({"seeds": 1}, INCONCLUSIVE),
        ({"dimensions": (8, 16)}, NOT_RUN),
    ],
)
def test_convergence(change, verdict):
    judgement = claims.judge_convergence(convergence(**change))
    assert judgement.verdict == verdict
    if verdict == SUPPORTED:
        assert judgement.interval.n == 3 * 2 * 16 and "needed: 0.8" in judgement.measured


def test_a_lost_rank_contradicts_convergence():
    table = convergence()
    table.loc[(table.training == "values") & (table.kernel == "gaussian"), "limit"] = 0.01
    assert claims.judge_convergence(table).verdict == CONTRADICTED


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"limit": 0.01}, SUPPORTED),
        ({}, CONTRADICTED),
        ({"dimensions": (32, 64)}, NOT_RUN),
    ],
)
def test_threshold(change, verdict):
    judgement = claims.judge_threshold(convergence(**change))
    assert judgement.verdict == verdict
    if verdict == CONTRADICTED:
        assert "in 96 of 96 runs with D < N n <= H D, and in 0 of 96" in judgement.measured
        assert judgement.interval.n == 96


def test_threshold_open():
    table = convergence()
    table.loc[table.seed % 2 == 0, "limit"] = 0.01
    assert claims.judge_threshold(table).verdict == INCONCLUSIVE


def stuck(shares, seeds=50):
    """Cases by name: shares of stuck softmax and Gaussian runs; the Gaussian's among softmax's."""
    rows = []
    for number, (case, (softmax, gaussian)) in enumerate(shares.items()):
        sign = -1 if case.startswith("negative") else 1
        own = {"case": case, "target": "random" if case.startswith("random") else "common"}
        own |= {"size": 0.6 * sign, "eps": 0.05 * (1 + number), "H": 2, "D": 20}
        for kernel, share in zip(KERNELS, (softmax, gaussian), strict=True):
            for seed in range(seeds):
                is_stuck = seed < round(share * seeds)
                loss = 0.1 if is_stuck else 1e-5
                floor = (0.099 if kernel == "softmax" else 0.01) if is_stuck else 0.0
                rows.append(
                    SIZES | own | {"kernel": kernel, "seed": seed, "steps": 500, "loss": loss}
                    | {"threshold": 1e-3, "loss_0": 1.0, "floor": floor, "gradient_norm": 1e-9}
                    | {"hessian_min": -1e-9 if is_stuck else np.nan}
                )  # fmt: skip
    return pd.DataFrame(rows)[STUCK]


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        ({"common": (1.0, 0.0)}, SUPPORTED),
        ({"common": (0.9, 0.1), "negative": (1.0, 1.0)}, SUPPORTED),
        ({"common": (0.7, 0.2)}, INCONCLUSIVE),
        ({"common": (1.0, 0.9)}, CONTRADICTED),
        ({"common": (0.1, 0.0), "other": (1.0, 0.0)}, CONTRADICTED),
        ({"negative": (1.0, 0.0)}, NOT_RUN),
    ],
)
def test_stuck(shares, verdict):
    judgement = claims.judge_stuck(stuck(shares))
    assert judgement.verdict == verdict
    if shares == {"common": (1.0, 0.0)}:
        assert "50 of 50 stuck softmax runs are on the floor" in judgement.measured


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        ({"common": (1.0, 0.0), "random": (0.8, 0.1)}, SUPPORTED),
        ({"common": (1.0, 0.0), "negative": (1.0, 0.9)}, CONTRADICTED),
        ({"common": (1.0, 0.0), "negative": (1.0, 0.5)}, INCONCLUSIVE),
        ({"common": (1.0, 0.0), "easy": (0.1, 0.1)}, SUPPORTED),
        ({"easy": (0.1, 0.0)}, NOT_RUN),
    ],
)
def test_in_general(shares, verdict):
    assert claims.judge_in_general(stuck(shares)).verdict == verdict


def lazy(movement=-0.5, change=0.0, heads=-0.9, noise=0.1, seeds=6, dimensions=(16, 64, 256)):
    """Both sweeps, with measures that are powers of D, or of H, up to noise."""
    rng = np.random.default_rng(0)
    rows = []
    settings = [("D", 2, D) for D in dimensions] + [("H", H, 64) for H in (1, 2, 4, 8)]
    for sweep, H, D in settings:
        for kernel in KERNELS:
            for seed in range(seeds):
                noisy = np.exp(noise * rng.standard_normal(2))
                measures = {"movement": noisy[0] * D**movement}
                measures["ntk_change"] = noisy[1] * D**change * H**heads
                measures |= {f"movement_{name}": noisy[0] for name in "QKV"}
                measures["movement_O"] = 30 * noisy[0]
                own = {"sweep": sweep, "kernel": kernel, "H": H, "D": D, "seed": seed}
                own |= {"steps": 100, "goal": 0.03, "loss_0": 1.0, "loss": 0.029}
                rows.append(SIZES | own | measures)
    return pd.DataFrame(rows)[LAZY]


@pytest.mark.parametrize(
    ("change", "movement", "kernel"),
    [
        ({}, SUPPORTED, CONTRADICTED),
        ({"change": -0.5}, SUPPORTED, SUPPORTED),
        ({"movement": -0.3, "change": -0.3, "noise": 0.3}, INCONCLUSIVE, INCONCLUSIVE),
        ({"movement": 0.0}, CONTRADICTED, CONTRADICTED),
        ({"dimensions": (16, 64)}, NOT_RUN, NOT_RUN),
    ],
)
def test_lazy(change, movement, kernel):
    table = lazy(**change)
    assert claims.judge_movement(table).verdict == movement
    judgement = claims.judge_kernel(table)
    assert judgement.verdict == kernel
    if not change:
        assert "in the number of heads it goes as H^-0.9" in judgement.measured


def test_runs_that_did_not_get_there_do_not_count():
    table = lazy()
    left = table.D == 16
    table.loc[left, "loss"] = 0.5
    assert claims.judge_movement(table).verdict == NOT_RUN
    table.loc[:, "loss"] = 0.5
    assert claims.judge_kernel(table).verdict == NOT_RUN


def curves(table):
    rows = [
        {"kernel": run.kernel, "training": run.training, "H": run.H, "D": run.D, "seed": run.seed}
        | {"step": step, "loss": np.exp(-run.rate * step)}
        for run in table.itertuples()
        for step in (0, 200, 400)
    ]
    return pd.DataFrame(rows)[CURVES]


def drawn(name, runs, traps, moved):
    budgets = pd.concat([traps.assign(step=step) for step in (30, 100)])[BUDGETS]
    tables = {
        "convergence": [runs],
        "rates": [runs, curves(runs) if name == "rates" else None],
        "stuck": [traps],
        "targets": [traps, budgets],
        "lazy": [moved],
    }
    return figures.FIGURES[name](*tables[name])


CASES = {"common": (1.0, 0.1), "more": (0.5, 0.0), "negative": (1.0, 0.9), "random": (0.5, 0.5)}


@pytest.mark.parametrize("name", figures.FIGURES)
def test_figures_show_their_tables(name):
    style.use()
    figure, shown = drawn(name, convergence(seeds=3), stuck(CASES), lazy(seeds=3))
    assert len(shown) and shown["mean"].notna().all()
    assert all(axis.get_xlabel() or axis.get_title() for axis in figure.axes)
    plt.close(figure)


def test_a_figure_repeats_its_bytes(tmp_path):
    style.use()
    for copy in ("one", "two"):
        style.save(*drawn("stuck", None, stuck(CASES), None), tmp_path / copy)
    for suffix in (".pdf", ".png", ".csv"):
        one, two = (tmp_path / f"{copy}{suffix}" for copy in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("name", figures.FIGURES)
def test_figures_of_a_small_run(name):
    """One seed, few settings, and no run that got anywhere."""
    style.use()
    runs, traps = convergence(seeds=1, dimensions=(8,)), stuck({"random": (1.0, 1.0)}, seeds=1)
    figure, _ = drawn(name, runs, traps, lazy(seeds=1).assign(loss=1.0))
    figure.canvas.draw()
    plt.close(figure)
