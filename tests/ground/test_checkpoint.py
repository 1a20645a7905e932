"""Checkpoints: only our own are ever read or removed, and only finite ones are written."""

import pytest
import torch

from attention_theory import checkpoint
from attention_theory.checkpoint import Checkpoints
from attention_theory.errors import BadInput

ABOUT = {"seed": 0, "source": {"images/engine.py": "1" * 64}, "arithmetic": {"numpy": "2.4.0"}}
STATE = {"model.weight": torch.arange(6.0).view(2, 3), "optimiser.0.step": torch.tensor(7.0)}
FOREIGN = {
    "another program's": b"PK\x03\x04" + bytes(100),
    "empty": b"",
    "a line longer": checkpoint.MAGIC + b" of another kind\n",
}


def filled(folder, epochs=(1, 2, 3)) -> Checkpoints:
    saved = Checkpoints(folder, ABOUT)
    for epoch in epochs:
        saved.save(epoch, STATE)
    return saved


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_last_two_are_kept_and_the_newest_is_used(tmp_path):
    filled(tmp_path)
    assert names(tmp_path) == ["epoch-000002.checkpoint", "epoch-000003.checkpoint"]
    epoch, tensors = Checkpoints(tmp_path, ABOUT).load()
    assert epoch == 3 and tensors.keys() == STATE.keys()
    assert all(torch.equal(tensors[name], value) for name, value in STATE.items())


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("name", ["epoch-000001.checkpoint", "epoch-000009.checkpoint"])
def test_a_foreign_file_by_a_checkpoints_name_is_refused_and_stays(tmp_path, name, content):
    saved = filled(tmp_path)
    foreign = tmp_path / name
    foreign.write_bytes(content)
    said = f"{foreign}: not a checkpoint of this program.*; move it away"
    for refused in (Checkpoints(tmp_path, ABOUT).load, lambda: saved.save(9, STATE)):
        with pytest.raises(BadInput, match=said) as error:
            refused()
        assert "\n" not in str(error.value)
    saved.clear()
    assert names(tmp_path) == [name] and foreign.read_bytes() == content


def test_files_by_other_names_are_let_alone(tmp_path):
    others = ["epoch-best.checkpoint", "notes.txt", "epoch-000001.checkpoint.old", ".epoch-x.1"]
    for name in others:
        (tmp_path / name).write_bytes(b"mine")
    saved = filled(tmp_path)
    assert Checkpoints(tmp_path, ABOUT).load()[0] == 3
    saved.clear()
    assert names(tmp_path) == sorted(others)


def test_what_a_killed_process_left_half_written_goes(tmp_path):
    whole = filled(tmp_path, [1]).folder / "epoch-000001.checkpoint"
    for length in (0, 5, 100):
        half = tmp_path / f".epoch-000002.{length}.checkpoint"
        half.write_bytes(whole.read_bytes()[:length])
    foreign = tmp_path / ".epoch-000002.77.checkpoint"
    foreign.write_bytes(b"mine")
    filled(tmp_path, [2])
    kept = ["epoch-000002.checkpoint"]
    assert names(tmp_path) == [foreign.name, *kept]


@pytest.mark.parametrize("cut", [40, -9, None])
def test_a_damaged_one_is_named_and_passed_over(tmp_path, capsys, cut):
    filled(tmp_path)
    newest = tmp_path / "epoch-000003.checkpoint"
    whole = newest.read_bytes()
    newest.write_bytes(whole[:cut] if cut else whole[:-1] + b"\xff")
    assert Checkpoints(tmp_path, ABOUT).load()[0] == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and f"{newest}: damaged checkpoint (its checksum is" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"source": {"images/engine.py": "2" * 64}}, "source.images/engine.py is '1111"),
        ({"source": {}}, "source.images/engine.py is '1111.* there and None here"),
        ({"arithmetic": {"numpy": "2.5.0"}}, "numpy is '2.4.0' there and '2.5.0' here"),
    ],
)
def test_a_difference_is_named(tmp_path, change, said):
    filled(tmp_path)
    with pytest.raises(BadInput, match=f"a checkpoint of another training: .*{said}"):
        Checkpoints(tmp_path, ABOUT | change).load()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", STATE)
def test_what_is_not_finite_is_not_saved(tmp_path, name, value):
    saved = filled(tmp_path, [1])
    with pytest.raises(BadInput, match=f"{name} is not finite.*no checkpoint"):
        saved.save(2, STATE | {name: STATE[name] * value})
    assert names(tmp_path) == ["epoch-000001.checkpoint"]
