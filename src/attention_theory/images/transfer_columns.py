"""The tables of experiment 4: their columns, and how runs are paired.

`seed` is the number of a draw; `rate`, `steps` and `train_loss` are those of the fine-tuning;
`keys_initial` and `keys_final` the effective number of keys before and after it. PRETRAINING has a
row a pretrained model, with precision@4 of its encodings and of its attention matrices.
"""

import pandas as pd

TRANSFER = (
    "dataset attention positions samples seed rate steps train_loss accuracy keys_initial "
    "keys_final"
).split()
PRETRAINING = (
    "dataset attention role seed train_loss accuracy precision_positions precision_attention "
    "chance ceiling keys"
).split()
TABLES = (TRANSFER, TRANSFER, PRETRAINING)  # tested runs, runs on the tuning draws, models

INPUTS = {"transfer": TRANSFER}


def difference(rows: pd.DataFrame, control: str) -> pd.DataFrame:
    """The paired difference in accuracy, learned - control, of one data set and attention: a row
    a draw, a column a number of samples, NaN where an arm is missing."""
    arms = [
        rows[rows.positions == name].pivot(index="seed", columns="samples", values="accuracy")
        for name in ("learned", control)
    ]
    return arms[0] - arms[1]
