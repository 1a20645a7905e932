"""Several processes share each batch: the step is that of one process."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from attention_theory.code import SOURCE
from attention_theory.errors import BadInput
from attention_theory.images import parallel

TRAINING = (
    "--data {p}/digits.npz --permutation {p}/patch.npz --model vit --attention positional "
    "--patch 2 --width 8 --layers 2 --heads 2 --mlp 8 --position-std .02 --epochs 2 --batch 96 "
    "--rate .001 --weight-decay .01 --smoothing .1 --shift 1 --seeds 1 --base-seed 0 --models m "
    "--snapshots s"
)
KEY_BIAS = slice(8, 16)  # softmax does not see it: its gradient is rounding, which Adam enlarges


def test_two_processes_take_the_steps_of_one(call, prepared, tmp_path):
    """gloo, on the CPU, with parts of batches besides; both start from the command line."""
    words = TRAINING.format(p=prepared).split()
    for name, options in {"one": "", "two": "--processes 2 --accumulate 3"}.items():
        own = f"--setting {name} --table {name}.csv --provenance {name}.json {options}"
        code, error = call("training", *words, *own.split())
        assert code == 0, error
    one, two = (load_file(tmp_path / f"m/{name}-seed0.safetensors") for name in ("one", "two"))
    for name, value in one.items():
        if name.endswith("queries_keys.bias"):
            value[KEY_BIAS] = two[name][KEY_BIAS] = 0
        np.testing.assert_allclose(two[name], value, rtol=0, atol=1e-6, err_msg=name)
    assert any(np.abs(value).max() > 1e-3 for value in one.values())
    tables = [(tmp_path / f"{name}.csv").read_text().rsplit(",", 1) for name in ("one", "two")]
    assert tables[0][0] == tables[1][0], "all but the last column, the setting's name"
    losses = [json.loads((tmp_path / f"{n}.json").read_text())["test_loss"] for n in ("one", "two")]
    np.testing.assert_allclose(*losses, rtol=1e-5)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["one.csv", "one.json", "two.csv", "two.json", "m", "s"]
    )


MINE = """
import os
import torch

class Model(torch.nn.Linear):
    def __init__(self, channels, size, classes, **_):
        super().__init__(size**2, classes)
        self.calls = 0

    def forward(self, images):
        self.calls += 1
        if self.calls == 4 and os.environ["LOCAL_RANK"] == "1":
            raise MemoryError("no memory for the second process")
        return super().forward(images.flatten(1))
"""


def test_if_one_process_fails_all_end_with_its_line(call, prepared, tmp_path, monkeypatch):
    """The other waits for its gradients; nothing is left behind (test_watching.py has more)."""
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    words = TRAINING.format(p=prepared).replace("vit --attention positional", "mine:Model -A none")
    for size in ("--width 8 ", "--layers 2 ", "--heads 2 ", "--mlp 8 ", "--position-std .02 "):
        words = words.replace(size, "")
    words = words.replace("-A", "--attention") + " --setting t --table t.csv --processes 2"
    code, error = call("training", *words.split())
    announced = "model: mine:Model is code of your own, and now runs\n"
    assert (code, error) == (2, announced + "training: no memory for the second process\n")
    assert not [*tmp_path.glob("temporary/attention-theory*"), *tmp_path.glob("[mst]/*")]
    assert not (tmp_path / "t.csv").exists()


SHARED = """
import sys
import numpy as np
from attention_theory.images import parallel

def fill(array):
    print("filled once", flush=True)
    array[:] = np.arange(12).reshape(3, 4)

with parallel.start(2, "cpu") as team:
    array = team.filled((3, 4), fill)
    assert array.shape == (3, 4) and array.dtype == np.uint8
    assert (array == np.arange(12).reshape(3, 4)).all(), "what the first filled in"
    team.fabric.barrier()
    if team.rank == 1:
        array[0, 0] = 77
    team.fabric.barrier()
    assert array[0, 0] == 77, "the same memory"
"""


def test_decoded_images_are_held_once(tmp_path):
    (tmp_path / "shared.py").write_text(SHARED)
    done = subprocess.run(
        [sys.executable, "shared.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("filled once") == 1


def test_without_fabric_there_is_one_process(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightning_fabric", None)
    assert parallel.start(1, "cpu") is parallel.ALONE
    with pytest.raises(BadInput, match=r"processes: 2 .* must be 1 \(or: pip install"):
        parallel.start(2, "cpu")


@given(batches=st.integers(1, 5), processes=st.integers(1, 4), share=st.integers(1, 6))
def test_processes_share_every_batch_equally(batches, processes, share):
    batch, seen = processes * share, []
    for rank in range(processes):
        team = parallel.Team()
        team.rank, team.processes = rank, processes
        own = team.share(batches * batch, batch)
        assert (np.bincount(own // batch, minlength=batches) == share).all()
        seen += own.tolist()
    assert sorted(seen) == list(range(batches * batch))
