"""Checkpoints: whole or passed over, the one before kept, never another's."""

import os
import re

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attention_theory.checkpoint import Checkpoints
from attention_theory.errors import BadInput

ABOUT = {"training": {"rate": 0.1, "epochs": 3}, "schedule": [0.1, 0.2], "seed": 0}


def tensors(epoch: int) -> dict[str, torch.Tensor]:
    return {
        "model.weight": torch.full((3, 2), float(epoch)).T,
        "model.count": torch.tensor(epoch),
        "half": torch.ones(2, dtype=torch.bfloat16),
    }


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(tmp_path):
    """A folder with the checkpoints of epochs 2 and 4."""
    saved = Checkpoints(tmp_path / "seed0", ABOUT)
    for epoch in (1, 2, 4):
        saved.save(epoch, tensors(epoch))
    return saved.folder


def test_the_newest_is_read_and_the_one_before_kept(folder):
    assert names(folder) == ["epoch-000002.checkpoint", "epoch-000004.checkpoint"]
    epoch, found = Checkpoints(folder, ABOUT).load()
    assert epoch == 4 and found.keys() == tensors(4).keys()
    for name, tensor in tensors(4).items():
        assert torch.equal(found[name], tensor) and found[name].dtype == tensor.dtype


def test_where_there_is_none(tmp_path, capsys):
    assert Checkpoints(tmp_path / "nowhere", ABOUT).load() is None
    assert capsys.readouterr().err == "" and not list(tmp_path.iterdir())


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_cut_and_any_flipped_bit_is_noticed(folder, data):
    newest = folder / "epoch-000004.checkpoint"
    content = newest.read_bytes()
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        newest.write_bytes(content[:place])
    else:
        flipped = bytearray(content)
        flipped[place] ^= 1 << data.draw(st.integers(0, 7))
        newest.write_bytes(flipped)
    try:
        assert Checkpoints(folder, ABOUT).load()[0] == 2
    finally:
        newest.write_bytes(content)


def test_a_damaged_one_is_named_and_the_next_save_removes_it(folder, capsys):
    newest = folder / "epoch-000004.checkpoint"
    newest.write_bytes(newest.read_bytes()[:-1])
    saved = Checkpoints(folder, ABOUT)
    assert saved.load()[0] == 2
    assert capsys.readouterr().err == (
        f"{newest}: damaged checkpoint (its checksum is wrong); it is passed over\n"
    )
    saved.save(3, tensors(3))
    assert names(folder) == ["epoch-000002.checkpoint", "epoch-000003.checkpoint"]


def test_where_all_are_damaged_training_starts_afresh(folder, capsys):
    for path in folder.iterdir():
        path.write_bytes(b"not a checkpoint\n")
    saved = Checkpoints(folder, ABOUT)
    assert saved.load() is None
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and all("its first line is not" in line for line in lines[:2])
    assert lines[2] == f"{folder}: no whole checkpoint is left; training starts afresh"
    saved.save(1, tensors(1))
    assert names(folder) == ["epoch-000001.checkpoint"]


@pytest.mark.parametrize(
    ("about", "words"),
    [
        (ABOUT | {"training": {"rate": 0.2, "epochs": 3}}, "training.rate is 0.1 there and 0.2"),
        (ABOUT | {"schedule": [0.1, 0.3]}, r"schedule is \[0.1, 0.2\] there and \[0.1, 0.3\] here"),
        (ABOUT | {"data": "ab"}, "data is None there and 'ab' here"),
        ({"training": ABOUT["training"]}, r"schedule is \[0.1, 0.2\] there and None here"),
    ],
)
def test_another_trainings_is_refused_with_the_difference(folder, about, words):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(BadInput, match=f"another training: {words}.*{re.escape(str(folder))}"):
        Checkpoints(folder, about).load()
    assert {path: path.read_bytes() for path in folder.iterdir()} == before, "nothing is lost"


def test_another_format_is_refused(folder, monkeypatch):
    monkeypatch.setattr("attention_theory.checkpoint.VERSION", 2)
    with pytest.raises(BadInput, match="epoch-000004.checkpoint: format: 1 .* must be 2, or"):
        Checkpoints(folder, ABOUT).load()


def test_clearing_leaves_what_is_not_its_own(folder):
    (folder / f".epoch-000009.{os.getpid()}.checkpoint").write_bytes(b"half-written")
    other = folder / "notes.txt"
    other.write_text("mine")
    Checkpoints(folder, ABOUT).clear()
    assert names(folder) == ["notes.txt"]
    other.unlink()
    Checkpoints(folder, ABOUT).clear()
    assert not folder.exists()
    Checkpoints(folder, ABOUT).clear()


def test_what_a_killed_process_left_is_swept(folder):
    (folder / ".epoch-000005.123.checkpoint").write_bytes(b"half-written")
    Checkpoints(folder, ABOUT).save(5, tensors(5))
    assert names(folder)[0] == "epoch-000005.checkpoint"
