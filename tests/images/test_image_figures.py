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
            | {"parameters": 7, "setting": f"digits-{attention}-{permutation}"}
            for model, attention in kinds
            for permutation in ("none", "patch")
            for seed in range(3)
        ]
    )


@pytest.fixture
def arrays() -> dict:
    order = p.draw("patch", "digits", 8, 2, 0)
    snapshot = {"dataset": "digits", "model": "vit", "attention": "self", "patch": 2, "seed": 0}
    snapshot |= {"permutation": "patch", "permutation_sha256": order.sha256, "epoch": [0, 1, 9]}
    snapshot |= {"positions": np.random.default_rng(0).standard_normal((3, 16, 5))}
    snapshot |= {"state": ["initial", "between", "final"]}
    snapshot |= {"attention_matrices": np.random.default_rng(1).random((3, 4, 16, 16))}
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
    figure, table = figures.FIGURES["similarity_maps"](**arrays)
    tiles = [image for ax in figure.axes for image in ax.get_images()]
    assert len(tiles) == 2 * 16 and {tile.get_clim() for tile in tiles} == {(-1, 1)}
    shown = np.stack([tile.get_array() for tile in tiles]).reshape(-1)
    np.testing.assert_allclose(shown, table.cosine)
    own = table[(table.query_row == table.key_row) & (table.query_column == table.key_column)]
    np.testing.assert_allclose(own.cosine, 1)


def test_a_few_tiles_are_scaled_and_thresholded(arrays):
    figure, table = figures.FIGURES["similarity_tiles"](**arrays)
    tiles = [image.get_array() for ax in figure.axes for image in ax.get_images()]
    assert len(tiles) == 4 * 4, "two states, each scaled and thresholded, four queries"
    assert table.groupby("state").scaled_cosine.agg(["min", "max"]).to_numpy().tolist() == [
        [-1, 1],
        [-1, 1],
    ]
    np.testing.assert_array_equal(tiles[4], tiles[0] > 0.55)


def test_attention_is_shown_layer_by_layer(arrays):
    renamed = {f"attention_{name}": values for name, values in arrays.items()}
    figure, table = figures.FIGURES["attention_layers"](**renamed)
    assert len([image for ax in figure.axes for image in ax.get_images()]) == 4 * 16
    order = p.from_arrays(arrays["permutation"])
    last = p.unpermute_matrix(arrays["snapshot"]["attention_matrices"][-1], order)
    np.testing.assert_allclose(table.attention, last.reshape(-1))
    figure, table = figures.FIGURES["attention_maps"](**renamed)
    own = table[table.state == "final"].attention
    np.testing.assert_allclose(own, last.mean(0).reshape(-1))


def test_drops_are_paired_by_seed(accuracy):
    figure, table = figures.FIGURES["drops"](accuracy)
    pairs = accuracy.pivot(index=["model", "seed"], columns="permutation", values="accuracy")
    wanted = (pairs["none"] - pairs["patch"]).loc[["vit", "cnn"]]
    np.testing.assert_allclose(table["drop"], wanted)
    assert table.n.tolist() == [3] * 6


@pytest.fixture
def competitors(accuracy) -> pd.DataFrame:
    other = accuracy[accuracy.model == "vit"].assign(attention="positional")
    return pd.concat([accuracy, other.assign(accuracy=other.accuracy - 0.01)])


def test_competition_shows_the_paired_gain(competitors):
    figure, table = figures.FIGURES["competition"](competitors)
    np.testing.assert_allclose(table.gain, -0.01)
    assert "equivalent" in figure.legends[0].get_texts()[0].get_text()


def test_cost_stands_beside_accuracy(competitors):
    names = competitors.attention
    competitors = competitors.assign(setting=names)
    costs = pd.DataFrame(
        [
            {"study": "images", "step": "training", "setting": name, "seconds": 6.0}
            | {"images_per_second": speed}
            for name, speed in (("self", 100.0), ("positional", 300.0), ("none", 5.0))
        ]
    )
    figure, table = figures.FIGURES["cost"](competitors, costs)
    speeds = table.set_index("attention").images_per_second
    assert speeds.to_dict() == {"self": 100, "positional": 300}
    assert table.seconds.tolist() == [2, 2], "a seed"


def test_recovery_shows_means_of_all_measures():
    rows = [
        {"dataset": "digits", "patch": 2, "model": "vit", "attention": attention, "seed": seed}
        | {"permutation": permutation, "measure": measure, "epoch": epoch, "chance": 0.2}
        | {"precision_at_4": np.nan if permutation == "pixel" else 0.1 * epoch + 0.01 * seed}
        | {"spearman": -0.1 * epoch, "ceiling": 0.75}
        for attention in ("self", "positional")
        for permutation in ("none", "pixel")
        for measure in ("positions", "attention")
        for epoch in (0, 1, 2, 4)
        for seed in (0, 1)
    ]
    figure, table = figures.FIGURES["recovery"](pd.DataFrame(rows))
    assert len(table) == 2 * 2 * 2 * 4 * 2 and len(figure.axes) == 4
    own = table[(table.merit == "precision_at_4") & (table.permutation == "none")]
    np.testing.assert_allclose(own["mean"], 0.1 * own.epoch + 0.005)


def test_the_same_tables_give_the_same_bytes(accuracy, arrays, tmp_path):
    style.use()
    for name, inputs in (("accuracy", {"accuracy": accuracy}), ("similarity_maps", arrays)):
        for folder in ("a", "b"):
            style.save(*figures.FIGURES[name](**inputs), tmp_path / folder / name)
        for suffix in (".pdf", ".png", ".csv"):
            first, second = (tmp_path / folder / f"{name}{suffix}" for folder in ("a", "b"))
            assert first.read_bytes() == second.read_bytes()
