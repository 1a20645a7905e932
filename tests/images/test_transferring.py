"""The experiment of transfer as a whole, small, and how a learning rate is chosen."""

import pytest

from attention_theory.images.transfer_settings import Draws, Finetuning, Pretraining, Transformer
from attention_theory.images.transferring import Transfer, best
from attention_theory.progress import Progress

SIZES = Transformer(patch=2, width=8, layers=2, heads=2, mlp=8, position_std=0.5)
PRETRAINING = Pretraining(steps=4, batch=8, peak=0.01, weight_decay=0.01, smoothing=0.1, shift=1)
FINETUNING = Finetuning(samples=[1, 2], rates=[0.01, 0.02], level=0.5, most=60)
DRAWS = Draws(draws=2, tuning_draws=1, at_once=40)


@pytest.mark.parametrize("attention", ["self", "positional"])
def test_the_experiment(whole, attention):
    architecture = SIZES.with_attention(attention)
    progress = Progress("test", DRAWS.work(FINETUNING))
    settings = architecture, PRETRAINING, FINETUNING, DRAWS
    found = Transfer(whole, *settings, 0, progress).run()
    assert progress.done == progress.total
    places = [(row["seed"], row["positions"], row["samples"]) for row in found.tested]
    assert len(set(places)) == len(places) == 2 * 4 * 2
    assert len(found.tuning) == 1 * 4 * 2 * 2 and len(found.pretraining) == 3
    for row in found.tested:
        assert row["rate"] in best(found.tuning)[row["positions"]]
        assert (row["train_loss"] < 0.5) == (row["steps"] < 60) and 0 <= row["accuracy"] <= 1
        assert 1 <= row["keys_final"] <= 16
        if attention == "positional" and row["positions"] != "scratch":
            assert row["keys_final"] == pytest.approx(row["keys_initial"]), "frozen"
    for row in found.pretraining:
        assert row["ceiling"] == 0.75 and 0 < row["precision_positions"] <= 0.75


def test_the_best_rate_is_that_of_the_mean_and_of_equals_the_lowest():
    rows = [
        {"positions": arm, "rate": rate, "accuracy": accuracy, "samples": k, "seed": 0}
        for arm, table in {
            "learned": {0.1: (0.5, 0.9), 0.2: (0.6, 0.6)},
            "scratch": {0.1: (0.5, 0.5), 0.2: (0.5, 0.5)},
        }.items()
        for rate, accuracies in table.items()
        for k, accuracy in enumerate(accuracies, 1)
    ]
    assert best(rows) == {"learned": [0.1], "scratch": [0.1]}
