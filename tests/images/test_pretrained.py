"""Fig. 1a from weights that the test writes, and the claim on it."""

import numpy as np
import pandas as pd
import pytest
import torch

from attention_theory import files, tables
from attention_theory.images import columns, map_figures, pretrained
from attention_theory.images.pretrained_claims import judge_local_positions


def local_encodings(side: int, width: int = 32) -> np.ndarray:
    """Encodings whose cosines fall with the distance: Gaussian bumps over the grid."""
    rows, columns_ = np.divmod(np.arange(side**2), side)
    distances = np.hypot(rows[:, None] - rows, columns_[:, None] - columns_)
    return np.exp(-(distances**2) / 4)


def run(tmp_path, **options) -> pd.DataFrame:
    pretrained.main(
        model="vit_small_patch32_224",
        base_seed=1,
        table=tmp_path / "p.csv",
        maps=tmp_path / "p.npz",
        **options,
    )
    return tables.read(tmp_path / "p.csv", columns.PRETRAINED)


def test_a_file_in_timms_form_runs_offline(tmp_path):
    P = torch.tensor(local_encodings(7), dtype=torch.float32)
    torch.save({"pos_embed": torch.cat([torch.ones(1, 49), P])[None]}, tmp_path / "vit.pth")
    found = run(tmp_path, weights=str(tmp_path / "vit.pth"))
    assert found.groupby("state").size().to_dict() == {"final": 49, "initial": 49}
    judged = judge_local_positions(found)
    assert judged.verdict == "supported" and judged.interval.n == 49
    figure, table = map_figures.pretrained_maps(files.read_arrays(tmp_path / "p.npz"))
    assert len(table) == 2 * 49**2 and table.scaled_cosine.between(-1, 1).all()


@pytest.mark.parametrize("weights", [None, "timm"])
def test_without_weights_the_claim_is_not_run_and_says_why(tmp_path, monkeypatch, weights):
    monkeypatch.setitem(__import__("sys").modules, "timm", None)
    judged = judge_local_positions(run(tmp_path, weights=weights))
    assert judged.verdict == "not run"
    assert ("timm is not installed" if weights else "no weights are named") in judged.measured
    figure, table = map_figures.pretrained_maps(files.read_arrays(tmp_path / "p.npz"))
    assert len(table) == 0


def table(initial: float, final: float, noise: float) -> pd.DataFrame:
    """Precision at so much of the way from chance to the ceiling."""
    wobble = noise * np.array([-1, 0, 1])
    rows = [
        {"model": "vit", "state": state, "precision_at_4": 0.2 + 0.5 * (way + shift)}
        | {"chance": 0.2, "ceiling": 0.7, "spearman": -way}
        for state, way in (("initial", initial), ("final", final))
        for shift in wobble
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("initial", "final", "noise", "verdict"),
    [
        (0.0, 0.9, 0.01, "supported"),
        (0.0, 0.3, 0.01, "contradicted"),
        (0.8, 0.9, 0.01, "contradicted"),
        (0.0, 0.55, 0.2, "inconclusive"),
    ],
)
def test_local_positions(initial, final, noise, verdict):
    judged = judge_local_positions(table(initial, final, noise))
    assert judged.verdict == verdict
    assert judged.interval.estimate == pytest.approx(final)
