"""What a model learned of space: its snapshots in a table, any weights on a page."""

import json
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import safetensors.torch
import torch

from attention_theory import checkpoint, files, tables
from attention_theory.errors import BadInput
from attention_theory.images import columns, encodings, locality
from attention_theory.images import measuring as s
from attention_theory.images import permutation as p

GRID = locality.grid_distances(4)
ORDERS = locality.shuffles(16, np.random.default_rng(0), 99)
SETTING = {"dataset": "digits", "model": "vit", "attention": "self", "patch": 2}


def smooth_encodings(side: int = 4) -> np.ndarray:
    """Encodings whose cosine falls with the distance on the grid: points on a small cap."""
    rows, columns = np.divmod(np.arange(side**2), side)
    return np.stack([rows - 1.5, columns - 1.5, np.full(side**2, 30.0)], axis=1)


def snapshot(order: p.Permutation, **changes) -> dict[str, np.ndarray]:
    """Initial: random encodings; final: smooth ones, as the tokens of permuted images stand."""
    places = order.order if len(order.order) == 16 else np.arange(16)
    smooth = smooth_encodings()[places]
    positions = np.stack([np.random.default_rng(0).standard_normal(smooth.shape), smooth])
    local = np.exp(-GRID)[places][:, places]
    matrices = np.stack([np.full((2, 16, 16), 1 / 16), np.stack([local, local])])
    found = SETTING | {"permutation": order.granularity, "seed": 3}
    found |= {"permutation_sha256": order.sha256, "epoch": [0, 60], "state": ["initial", "final"]}
    found |= {"positions": positions, "attention_matrices": matrices} | changes
    return {name: np.asarray(value) for name, value in found.items()}


def test_maps_of_permuted_images_are_put_back_first():
    order = p.draw("patch", "digits", 8, 2, 0)
    rows = {
        (row["measure"], row["state"]): row for row in s.measure(snapshot(order), order, ORDERS)
    }
    assert set(rows[("positions", "final")]) == set(columns.SIMILARITY)
    for measure in ("positions", "attention"):
        final = rows[(measure, "final")]
        assert final["precision_at_4"] == pytest.approx(0.75)
        assert final["epoch"] == 60 and final["seed"] == 3
        assert final["spearman"] < -0.95
    assert rows[("attention", "initial")]["precision_at_4"] == pytest.approx(0.2)
    identity = p.draw("none", "digits", 8, 2, 0)
    wrong = s.measure(snapshot(order), identity, ORDERS)
    assert max(row["precision_at_4"] for row in wrong) < 0.5


def test_snapshots_without_tokens_or_a_grid_are_refused():
    order = p.draw("patch", "digits", 8, 2, 0)
    whole = snapshot(order)
    assert s.check_tokens(whole, "here") == order.sha256
    del whole["positions"]
    with pytest.raises(BadInput, match="here: no snapshots of a model with tokens"):
        s.check_tokens(whole, "here")
    with pytest.raises(BadInput, match="here: permuted pixels"):
        s.check_grid(p.draw("pixel", "digits", 8, 2, 0), "here")
    with pytest.raises(BadInput, match="here: 4 tokens; there must be more than 4"):
        s.check_grid(p.draw("patch", "digits", 8, 4, 0), "here")


def test_the_step_finds_each_models_permutation(call, prepared, tmp_path):
    for name in ("none", "patch", "pixel"):
        order = p.read(prepared / f"{name}.npz")
        files.write_arrays(tmp_path / f"s-{name}.npz", **snapshot(order))
    words = [f"--permutation={prepared / name}.npz" for name in ("none", "patch", "pixel")]
    snapshots = ["s-none.npz", "s-patch.npz", "s-pixel.npz"]
    rest = ("--base-seed", 0, "--output")
    assert call("measuring", *snapshots, *words, *rest, "out.csv")[0] == 0
    found = tables.read(tmp_path / "out.csv", columns.SIMILARITY)
    assert len(found) == 3 * 4
    known = found.precision_at_4.notna().groupby(found.permutation).all()
    assert known.to_dict() == {"none": True, "patch": True, "pixel": False}
    code, error = call("measuring", "s-patch.npz", words[0], *rest, "no.csv")
    assert code == 2 and "s-patch.npz: trained under a permutation that is not among" in error
    assert call("measuring", *rest, "none.csv")[0] == 0
    assert (tmp_path / "none.csv").read_text() == ",".join(columns.SIMILARITY) + "\n"


def write_weights(folder: Path, P: np.ndarray) -> list[str]:
    """The same encodings as the files that others write them in."""
    tensor = torch.tensor(P, dtype=torch.float32)
    with_class = torch.cat([torch.zeros(1, P.shape[1]), tensor])[None]
    safetensors.torch.save_file({"positions": tensor}, folder / "ours.safetensors")
    safetensors.torch.save_file({"pos_embed": with_class}, folder / "timm.safetensors")
    torch.save({"model": {"pos_embed": with_class}}, folder / "timm.pth")
    np.savez(folder / "google.npz", **{encodings.KEYS[-1]: with_class.numpy()})
    np.savez(folder / "snapshot.npz", positions=np.stack([0 * P, P]))
    saved = checkpoint.Checkpoints(folder, {})
    saved.save(3, {"model.positions": tensor, "optimiser.0.step": torch.zeros(())})
    names = "ours.safetensors timm.safetensors timm.pth google.npz snapshot.npz"
    return [*names.split(), "epoch-000003.checkpoint"]


def test_encodings_are_found_in_any_file_of_weights(tmp_path):
    P = smooth_encodings()
    for name in write_weights(tmp_path, P):
        np.testing.assert_allclose(encodings.read(tmp_path / name), P, rtol=1e-6)


class Trap:
    """Unpickled, it would leave a file."""

    def __reduce__(self):
        return (open, ("sprung", "w"))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("gone.npz", None, "no such file"),
        ("a.txt", b"x", "must end in one of"),
        ("b.safetensors", b"x", "not readable as weights"),
        ("c.pth", pickle.dumps(Trap()), "not readable as weights"),
        ("d.npz", b"x", "no readable .npz"),
        ("e.checkpoint", b"x", "no whole checkpoint"),
    ],
)
def test_what_is_no_file_of_weights_is_named(tmp_path, monkeypatch, name, content, words):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=words):
        encodings.read(Path(name))
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"weights": np.ones(3)}, "no positional encodings"),
        ({"positions": np.ones(3)}, "a square grid"),
        ({"positions": np.ones((34, 2))}, "a square grid"),
        ({"positions": np.full((16, 2), np.nan)}, "finite"),
    ],
)
def test_encodings_of_no_grid_are_refused(tmp_path, arrays, words):
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(BadInput, match=words):
        encodings.read(tmp_path / "x.npz")


def test_a_page_of_any_weights(call, prepared, tmp_path):
    order = p.read(prepared / "patch.npz")
    np.savez(tmp_path / "w.npz", positions=smooth_encodings()[order.order])
    page = ("similarity", "--weights", "w.npz", "--output", "page")
    code, text = call(*page, "--permutation", prepared / "patch.npz")
    found = json.loads(text)
    assert code == 0 and found["tokens"] == 16 and found["precision_at_4"] == 0.75
    assert found["precision_p"] == 0.001 and found["spearman"] < -0.95
    assert all((tmp_path / f"page.{suffix}").stat().st_size for suffix in ("pdf", "png", "csv"))
    assert json.loads(call(*page)[1])["precision_at_4"] < 0.5, "not un-permuted"
    code, error = call(*page, "--permutation", prepared / "pixel.npz")
    assert code == 2 and "permuted pixels" in error
    code, error = call("similarity", "--output", "page")
    assert code == 2 and "weights" in error and error.count("\n") == 1


def test_timm_that_is_not_there_is_said_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(BadInput, match="timm is not installed"):
        encodings.of_timm("vit_small_patch32_224")


def test_timm_without_its_weights_is_said_in_one_line(monkeypatch):
    def create_model(name, pretrained):
        raise OSError(f"no {name}\nsecond line")

    monkeypatch.setitem(sys.modules, "timm", SimpleNamespace(create_model=create_model))
    with pytest.raises(BadInput, match="^timm cannot load vit: no vit$"):
        encodings.of_timm("vit")
