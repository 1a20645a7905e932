"""Files are whole or absent; tables keep their numbers, names and columns."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_theory import files, tables
from attention_theory.errors import BadInput


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises(RuntimeError), files.replacing(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_equal_arrays_give_equal_bytes(tmp_path):
    for name in ("a.npz", "b.npz"):
        files.write_arrays(tmp_path / name, x=np.arange(5), y=np.eye(2, dtype=np.float32))
    assert files.sha256(tmp_path / "a.npz") == files.sha256(tmp_path / "b.npz")
    assert set(files.read_arrays(tmp_path / "a.npz")) == {"x", "y"}


@pytest.mark.parametrize("content", [b"", b"not a zip file", b"PK\x03\x04 truncated"])
def test_a_damaged_archive_is_named(tmp_path, content):
    path = tmp_path / "model.npz"
    path.write_bytes(content)
    with pytest.raises(BadInput, match="model.npz"):
        files.read_arrays(path)


def test_a_pickle_is_never_loaded(tmp_path):
    path = tmp_path / "objects.npz"
    np.savez(path, x=np.array([{"a": 1}], dtype=object))
    with pytest.raises(BadInput, match="objects.npz"):
        files.read_arrays(path)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_floats_come_back_to_the_last_bit(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("tables") / "t.csv"
    tables.write(path, pd.DataFrame({"x": values}), ["x"])
    assert tables.read(path, ["x"]).x.tolist() == values


def test_the_word_none_is_a_name_and_an_empty_cell_is_missing(tmp_path):
    path = tmp_path / "t.csv"
    tables.write(path, [{"a": "none", "b": None}, {"a": "NA", "b": 1.0}], ["a", "b"])
    table = tables.read(path)
    assert table.a.tolist() == ["none", "NA"]
    assert table.b.isna().tolist() == [True, False]


def test_columns_are_a_contract(tmp_path):
    with pytest.raises(ValueError, match="declared"):
        tables.write(tmp_path / "t.csv", [{"a": 1, "extra": 2}], ["a"])
    with pytest.raises(ValueError, match="declared"):
        tables.write(tmp_path / "t.csv", [{"a": 1}], ["a", "b"])
    tables.write(tmp_path / "empty.csv", [], ["a", "b"])
    assert tables.read(tmp_path / "empty.csv", ["a", "b"]).empty
    with pytest.raises(BadInput, match="lacks the column c"):
        tables.read(tmp_path / "empty.csv", ["c"])


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00binary"])
def test_an_unreadable_table_is_named(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(BadInput, match="t.csv"):
        tables.read(path)


def test_gather_stacks_in_order(tmp_path):
    for name, value in (("a", 1), ("b", 2)):
        tables.write(tmp_path / f"{name}.csv", [{"x": value}], ["x"])
    tables.gather([tmp_path / "b.csv", tmp_path / "a.csv"], tmp_path / "all.csv")
    assert tables.read(tmp_path / "all.csv").x.tolist() == [2, 1]
