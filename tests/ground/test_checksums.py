"""Records that hold the SHA-256 of what a step wrote."""

import json
import os
import time

import numpy as np
import pytest

from attention_theory import checksums, files, provenance, tables, tidying
from attention_theory.errors import BadInput
from attention_theory.images import encodings

NAMES = ("part.csv", "arrays.npz", "models/a.safetensors")


@pytest.fixture
def study(tmp_path):
    """A study's folder in which a step has written a table, arrays and a model, with a record."""
    with provenance.record(tmp_path / "provenance" / "part.json", "tables"):
        tables.write(tmp_path / "part.csv", [{"x": 1.5}], ["x"])
        files.write_arrays(tmp_path / "arrays.npz", x=np.arange(3))
        with files.replacing(tmp_path / "models" / "a.safetensors") as temporary:
            temporary.write_bytes(b"a model")
        with files.replacing(tmp_path / "passing.checkpoint", lasting=False) as temporary:
            temporary.write_bytes(b"a checkpoint")
    return tmp_path


def test_a_record_names_what_was_written(study):
    record = json.loads((study / "provenance" / "part.json").read_text())
    assert set(record["outputs"]) == {f"../{name}" for name in NAMES}
    assert record["outputs"]["../part.csv"] == checksums.sha256(study / "part.csv")
    assert list(checksums.damaged(study)) == []
    for name in NAMES:
        checksums.check(study / name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", [0, 3, -1])
def test_a_flipped_bit_is_found(study, name, place):
    content = bytearray((study / name).read_bytes())
    content[place] ^= 4
    (study / name).write_bytes(content)
    assert list(checksums.damaged(study)) == [study / name]
    with pytest.raises(
        BadInput, match=f"{name}: damaged: its SHA-256 is not the one in .*part.json"
    ):
        checksums.check(study / name)


def test_readers_refuse(study):
    os.truncate(study / "part.csv", 2)
    os.truncate(study / "arrays.npz", 20)
    for read, name in ((tables.read, "part.csv"), (files.read_arrays, "arrays.npz")):
        with pytest.raises(BadInput, match=f"{name}: damaged"):
            read(study / name)


@pytest.mark.parametrize("word", ["outputs", "sha256", "seconds", "../part.csv", "{", "python"])
def test_a_damaged_record_is_found(study, word):
    record = study / "provenance" / "part.json"
    content = bytearray(record.read_bytes())
    content[content.index(word.encode())] ^= 1
    record.write_bytes(content)
    assert list(checksums.damaged(study)) == [record]
    checksums.check(study / "part.csv")  # nobody knows better


def test_files_without_a_record_pass(tmp_path, study):
    (tmp_path / "other.csv").write_text("x\n1\n")
    checksums.check(tmp_path / "other.csv")
    (study / "provenance" / "old.json").write_text('{"step": "without checksums"}')
    assert list(checksums.damaged(study)) == []


def test_results_may_be_moved_and_linked(study, tmp_path_factory):
    link = tmp_path_factory.mktemp("elsewhere") / "link"
    link.symlink_to(study)
    checksums.check(link / "part.csv")
    os.truncate(study / "part.csv", 1)
    assert list(checksums.damaged(link)) == [link / "part.csv"]
    with pytest.raises(BadInput):
        checksums.check(link / "part.csv")


def test_a_record_that_names_files_elsewhere_removes_nothing(study, tmp_path_factory):
    """Records come with results that others made: what they name outside is not looked at."""
    precious = tmp_path_factory.mktemp("home") / "precious.txt"
    precious.write_text("mine")
    names = {os.path.relpath(precious, study / "provenance"): "0", str(precious): "0"}
    record = checksums.sealed({"outputs": names})
    (study / "provenance" / "x.json").write_text(json.dumps(record))
    assert list(checksums.damaged(study)) == []
    tidying.tidy(study)
    assert precious.read_text() == "mine"


def test_a_sealed_record_without_outputs_is_damaged(study):
    record = study / "provenance" / "x.json"
    record.write_text(json.dumps(checksums.sealed({"seconds": 1.0})))
    assert list(checksums.damaged(study)) == [record]
    with pytest.raises(BadInput, match="damaged provenance record"):
        checksums.read(record)


def test_a_linked_folder_is_looked_through(study, tmp_path_factory):
    """A study may lie on another disk: what is damaged or half-written there is found, once."""
    results = tmp_path_factory.mktemp("results")
    (results / "study").symlink_to(study)
    (study / "back").symlink_to(results)  # a circle
    os.truncate(study / "part.csv", 2)
    half = study / ".part.999999999.csv"
    half.write_text("half")
    assert list(checksums.damaged(results)) == [results / "study" / "part.csv"]
    tidying.tidy(results)
    assert not half.exists() and not (study / "part.csv").exists()


def test_a_model_that_was_damaged_is_not_read(study):
    """Weights are plain numbers: a flipped bit would go unseen."""
    path = study / "models" / "a.safetensors"
    path.write_bytes(b"b model")
    with pytest.raises(BadInput, match="a.safetensors: damaged: its SHA-256"):
        encodings.read(path)


def test_a_time_that_cannot_be_changed_is_said(study, monkeypatch, capsys):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    later = time.time() + 1000
    os.utime(study / "part.csv", (later, later))
    monkeypatch.setattr(os, "utime", refuse)
    tidying.tidy(study)
    said = capsys.readouterr().err
    assert "part.csv: its time is in the future and cannot be changed (Operation" in said
    assert "now the present" not in said
