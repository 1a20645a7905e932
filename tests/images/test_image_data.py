"""Prepared data sets: contents, splits, statistics, keys."""

import importlib

import numpy as np
import pytest
from sklearn.datasets import load_digits

from attention_theory import files
from attention_theory.errors import BadInput
from attention_theory.images import data
from attention_theory.images import digits as digits_data
from attention_theory.images.datasets import KNOWN
from attention_theory.images.settings import Split


def test_digits_keep_their_17_grey_values(digits):
    images = digits["images"]
    assert images.shape == (1797, 1, 8, 8) and images.dtype == np.uint8
    np.testing.assert_array_equal(np.rint(images[:, 0] / 255 * 16), load_digits().images)
    assert len(np.unique(images)) == 17 and images.max() == 255


def test_splits_are_disjoint_and_complete(digits):
    parts = [digits[name] for name in ("train", "validation", "test")]
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(1797))
    assert [len(part) for part in parts] == list(Split(0.7, 0.1).sizes(1797))
    assert len(np.unique(digits["labels"][digits["train"]])) == digits["classes"] == 10


def test_statistics_are_those_of_the_training_images(digits):
    seen = digits["images"][digits["train"]] / 255
    np.testing.assert_allclose(digits["mean"], [seen.mean()], rtol=1e-6)
    np.testing.assert_allclose(digits["std"], [seen.std()], rtol=1e-6)


def test_the_base_seed_decides_the_split(digits):
    again = data.prepare("digits", digits_data.load(), Split(0.7, 0.1), base_seed=0)
    other = data.prepare("digits", digits_data.load(), Split(0.7, 0.1), base_seed=1)
    for key in data.KEYS:
        np.testing.assert_array_equal(again[key], digits[key])
    assert (other["test"] != digits["test"]).any()
    assert other["sha256"] == digits["sha256"]


@pytest.mark.parametrize("dataset", [name for name in KNOWN if KNOWN[name].embedded])
def test_what_is_known_of_a_data_set_is_true(dataset):
    known = KNOWN[dataset].data
    source = importlib.import_module(f"attention_theory.images.{dataset}").load()
    assert source.images.shape == (known.images, known.channels, known.size, known.size)
    np.testing.assert_array_equal(np.unique(source.labels), np.arange(known.classes))
    assert source.classes == known.classes and source.test == 0


def test_the_checksum_depends_on_values_and_shape():
    a = np.arange(6)
    sums = {data.sha256(a), data.sha256(a.reshape(2, 3)), data.sha256(a[::-1])}
    assert len(sums) == 3 and data.sha256(a) == data.sha256(a.copy())


def test_another_file_is_no_data_set(tmp_path):
    files.write_arrays(tmp_path / "other.npz", images=np.zeros(3))
    with pytest.raises(BadInput, match="no prepared data set .it lacks labels"):
        data.read(tmp_path / "other.npz")
