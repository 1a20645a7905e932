"""The figures show what their tables say, and the same tables give the same bytes."""

import numpy as np
import pandas as pd
import pytest

from attention_theory import style
from attention_theory.images import figures
from attention_theory.images import permutation as p


@pytest.fixture
def accuracy() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    kinds = (("vit", "self"), ("cnn", "none"))
    return pd.DataFrame(
        [
            {"dataset": "digits", "model": model, "attention": attention, "patch": 2}
            | {"permutation": permutation, "seed": seed, "accuracy": rng.uniform(0.9, 1)}
            for model, attention in kinds
            for permutation in ("none", "patch")
            for seed in range(3)
        ]
    )


@pytest.fixture
def arrays() -> dict:
    order = p.draw("patch", "digits", 8, 2, 0)
    snapshot = {"dataset": "digits", "model": "vit", "attention": "self", "patch": 2, "seed": 0}
    snapshot |= {"permutation": "patch", "permutation_sha256": order.sha256, "epoch": [0, 9]}
    snapshot |= {"positions": np.random.default_rng(0).standard_normal((2, 16, 5))}
    snapshot |= {"state": ["initial", "final"], "attention_matrices": np.ones((2, 1, 16, 16))}
    return {
        "snapshot": {name: np.asarray(value) for name, value in snapshot.items()},
        "permutation": {name: np.asarray(value) for name, value in order._asdict().items()},
    }


def test_accuracy_shows_every_seed_and_its_interval(accuracy):
    figure, table = figures.accuracy(accuracy)
    assert len(table) == len(accuracy)
    assert (table.ci_low < table["mean"]).all() and (table["mean"] < table.ci_high).all()
    ax = figure.axes[0]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "original",
        "patches permuted",
    ]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["ViT", "CNN"]
    dots = sum(len(line.get_xdata()) for line in ax.lines if line.get_marker() == ".")
    assert dots == len(accuracy)


def test_accuracy_of_one_seed_and_of_classes_of_the_users_own(accuracy):
    one = accuracy[accuracy.seed == 0]
    own = one.replace({"model": {"cnn": "mine.box:Net"}, "attention": {"self": "mine:Gram"}})
    figure, table = figures.accuracy(own)
    names = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert len(table) == 4 and names == ["Gram", "Net"]


def test_similarity_maps_show_all_queries_before_and_after(arrays):
    figure, table = figures.similarity_maps(**arrays)
    tiles = [image for ax in figure.axes for image in ax.get_images()]
    assert len(tiles) == 2 * 16 and {tile.get_clim() for tile in tiles} == {(-1, 1)}
    shown = np.stack([tile.get_array() for tile in tiles]).reshape(-1)
    np.testing.assert_allclose(shown, table.cosine)
    own = table[(table.query_row == table.key_row) & (table.query_column == table.key_column)]
    np.testing.assert_allclose(own.cosine, 1)


def test_the_same_tables_give_the_same_bytes(accuracy, arrays, tmp_path):
    style.use()
    for name, inputs in (("accuracy", {"accuracy": accuracy}), ("similarity_maps", arrays)):
        for folder in ("a", "b"):
            style.save(*figures.FIGURES[name](**inputs), tmp_path / folder / name)
        for suffix in (".pdf", ".png", ".csv"):
            first, second = (tmp_path / folder / f"{name}{suffix}" for folder in ("a", "b"))
            assert first.read_bytes() == second.read_bytes()
