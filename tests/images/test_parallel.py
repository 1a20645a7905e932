"""Several processes share each batch: the step is that of one process."""

import json
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

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
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    losses = [json.loads((tmp_path / f"{n}.json").read_text())["test_loss"] for n in ("one", "two")]
    np.testing.assert_allclose(*losses, rtol=1e-5)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["one.csv", "one.json", "two.csv", "two.json", "m", "s"]
    )


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
