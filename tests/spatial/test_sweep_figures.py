"""The figures of the sweeps from small tables: every panel, any order, a sweep that is left out."""

import pandas as pd

from attention_theory import style
from attention_theory.spatial import sweep_figures


def pretraining(*settings):
    rows = []
    for sweep, number, D, beta in settings:
        for seed in range(2):
            row = {"sweep": sweep, "setting": f"{sweep}-{number}", "seed": seed, "steps": 10}
            row |= {"D": D, "N": 100, "d": 4, "beta": beta, "omega": 0.1, "accuracy": 0.9}
            rows.append(row | {"patch_association": 0.5, "patch_association_max": 1.0})
    return pd.DataFrame(rows)


TABLE = pretraining(
    ("D", 0, 120, 3.0), ("main", 0, 50, 3.0), ("D", 1, 20, 3.0), ("beta", 0, 50, 1.0)
)


def test_each_sweep_has_a_panel_and_the_main_setting_in_it():
    style.use()
    figure, table = sweep_figures.sweeps(TABLE)
    assert len(figure.axes) == 4
    assert sorted(table[table.sweep == "D"].value.unique()) == [20, 50, 120]
    assert sorted(table[table.sweep == "beta"].value.unique()) == [1, 3]


def test_the_cost_is_the_own_jobs_without_its_imports():
    style.use()
    costs = pd.DataFrame(
        {
            "setting": ["D-0", "main-0", "D-1", "beta-0"],
            "cpu_seconds": [9.0, 5.0, 3.0, 100.0],
            "startup_cpu_seconds": 1.0,
        }
    )
    _, table = sweep_figures.cost(costs, TABLE)
    assert table.D.tolist() == [20, 50, 120]
    assert table.seconds_a_seed.tolist() == [1.0, 2.0, 4.0]
    assert table.microseconds.tolist() == [1000.0, 2000.0, 4000.0]
