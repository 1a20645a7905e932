"""Checkpoints: whole or passed over, the one before kept, never another's; no foreign file goes."""

import os
import re

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attention_theory.checkpoint import MAGIC, Checkpoints
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


def test_a_file_of_zeros_is_passed_over(folder):
    """What a machine that crashed may leave of a file that was renamed before it was written."""
    newest = folder / "epoch-000004.checkpoint"
    newest.write_bytes(bytes(newest.stat().st_size))
    assert Checkpoints(folder, ABOUT).load()[0] == 2


def test_where_all_are_damaged_training_starts_afresh(folder, capsys):
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:50])
    saved = Checkpoints(folder, ABOUT)
    assert saved.load() is None
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and all("its checksum is wrong" in line for line in lines[:2])
    assert lines[2] == f"{folder}: no whole checkpoint is left; training starts afresh"
    saved.save(1, tensors(1))
    assert names(folder) == ["epoch-000001.checkpoint"]


@pytest.mark.parametrize(
    ("about", "words"),
    [
        (ABOUT | {"training": {"rate": 0.2, "epochs": 3}}, "training.rate is 0.1 there and 0.2"),
        (ABOUT | {"schedule": [0.1, 0.3]}, r"schedule is \[0.1, 0.2\] there and \[0.1, 0.3\] here"),
        (ABOUT | {"source": {"a.py": "12"}}, "source is None there and {'a.py': '12'} here"),
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
    (folder / f".epoch-000009.{os.getpid()}.checkpoint").write_bytes(MAGIC[:9])
    other = folder / "notes.txt"
    other.write_text("mine")
    Checkpoints(folder, ABOUT).clear()
    assert names(folder) == ["notes.txt"]
    other.unlink()
    Checkpoints(folder, ABOUT).clear()
    assert not folder.exists()
    Checkpoints(folder, ABOUT).clear()


def test_what_a_killed_process_left_is_swept(folder):
    whole = (folder / "epoch-000004.checkpoint").read_bytes()
    for length in (0, 5, 100):
        (folder / f".epoch-000005.{length}.checkpoint").write_bytes(whole[:length])
    foreign = folder / ".epoch-000005.77.checkpoint"
    foreign.write_bytes(b"mine")
    Checkpoints(folder, ABOUT).save(5, tensors(5))
    assert names(folder) == [foreign.name, "epoch-000005.checkpoint"]


FOREIGN = {
    "another program's": b"PK\x03\x04" + bytes(100),
    "a few bytes": b"PK\x03",
    "a longer line": MAGIC + b" of another kind\n",
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("name", ["epoch-000001.checkpoint", "epoch-000009.checkpoint"])
def test_a_foreign_file_by_a_checkpoints_name_is_refused_and_stays(folder, name, content):
    saved = Checkpoints(folder, ABOUT)
    foreign = folder / name
    foreign.write_bytes(content)
    said = f"{foreign}: not a checkpoint of this program.*; move it away"
    for refused in (saved.load, lambda: saved.save(9, tensors(9))):
        with pytest.raises(BadInput, match=said) as error:
            refused()
        assert "\n" not in str(error.value)
    saved.clear()
    assert names(folder) == [name] and foreign.read_bytes() == content


def test_files_by_other_names_are_let_alone(folder):
    others = ["epoch-best.checkpoint", "epoch-000001.checkpoint.old", ".epoch-x.1.checkpoint"]
    for name in others:
        (folder / name).write_bytes(b"mine")
    saved = Checkpoints(folder, ABOUT)
    assert saved.load()[0] == 4
    saved.save(5, tensors(5))
    saved.clear()
    assert names(folder) == sorted(others)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["model.weight", "half"])
def test_what_is_not_finite_is_not_saved(folder, name, value):
    before = names(folder)
    with pytest.raises(BadInput, match=f"{name} is not finite; no checkpoint is written of it"):
        Checkpoints(folder, ABOUT).save(5, tensors(5) | {name: tensors(5)[name] * value})
    assert names(folder) == before


def test_one_of_several_processes_speaks(folder, capsys):
    newest = folder / "epoch-000004.checkpoint"
    newest.write_bytes(newest.read_bytes()[:-1])
    assert Checkpoints(folder, ABOUT).load(aloud=False)[0] == 2
    assert capsys.readouterr().err == ""
