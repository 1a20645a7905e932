"""Models without association: what they attend to, and their accuracy against explicit data."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from cases import DESCENT, SMALL
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_theory import devices, tables
from attention_theory.errors import BadInput
from attention_theory.spatial import (
    beyond_columns,
    competition,
    constructed,
    evaluation,
    model,
    structures,
)
from attention_theory.spatial import distribution as data
from attention_theory.spatial.association import associate
from attention_theory.spatial.settings import Architecture, Distribution
from attention_theory.streams import stream

ARCHITECTURE = Architecture(p=3, nu=0.1, beta=3.0)


def scattered(L, C, seed=0):
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(L), C))


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 4), st.integers(2, 5), st.integers(0, 99))
def test_partners_and_wrong_partitions(half, C, seed):
    partition = scattered(2 * half, C, seed)
    pairs, after = structures.paired(partition), structures.shifted(partition)
    for partner in (pairs, after):
        assert (partner != partition).all()
        assert (np.bincount(partner) == C).all()
        assert all(len(set(partner[partition == s])) == 1 for s in range(2 * half))
    wrong = structures.misplaced(partition)
    assert (np.bincount(wrong) == C).all()
    assert (wrong != partition).sum() == 2 * half
    assert all((partition[wrong == s] == s).sum() == C - 1 for s in range(2 * half))


@settings(deadline=None, max_examples=20)
@given(st.sampled_from([2, 4, 6]), st.integers(2, 4), st.integers(0, 99))
def test_constructed_models_have_no_association_and_gather_what_they_say(L, C, seed):
    partition = scattered(L, C, seed)
    models = structures.constructed(partition, beta=3.0, gamma=5.0)
    for kind, (A, partner) in models.items():
        if (L, C) == (2, 2) and kind == "wrong":
            continue  # the first patches change places: still no set, but precision is a half
        assert associate(A, partition).patch_association == 0
        assert A.dtype == np.float32 and (A == A.T).all()
        share = structures.partner_association(A, partner, partition)
        assert share == (1 if kind == "pairs" else 0)
    A, partner = models["pairs"]
    S = np.exp(A) / np.exp(A).sum(axis=1, keepdims=True)
    weight = np.where(partner[:, None] == partition[None, :], S, 0).sum(axis=1)
    background = np.exp(3.0) + (L - 1) * C - 1
    np.testing.assert_allclose(weight, C * np.exp(5) / (C * np.exp(5) + background), rtol=1e-5)
    assert np.linalg.eigvalsh(A.astype(float)).min() < -1, "no Gram matrix"
    wrong = structures.misplaced(partition)
    gram = models["wrong"][0]
    assert associate(gram, wrong).patch_association == 1
    P = np.sqrt(5.0) * np.eye(L)[:, wrong]
    np.testing.assert_allclose(P.T @ P, gram, rtol=1e-6)


def test_partner_association_is_the_share_of_rows():
    partition = scattered(4, 3)
    partner = structures.shifted(partition)
    A = structures.gather(partner, partition, 1.0, diagonal=0.0)
    assert structures.partner_association(A, partner, partition) == 1
    A[0, 0] = 2.0  # its own patch is now on top
    assert structures.partner_association(A, partner, partition) == pytest.approx(11 / 12)


def test_what_cannot_be_built_is_named():
    with pytest.raises(BadInput, match="D / C: 3 is not allowed; it must be even"):
        structures.paired(scattered(3, 2))
    with pytest.raises(BadInput, match="C: 1"):
        structures.misplaced(scattered(4, 1))
    with pytest.raises(BadInput, match="D: 15 .* multiple of 2 C = 10"):
        structures.at_sizes("50,15", 5, 4.0)
    with pytest.raises(BadInput, match="q_D: 20.0 .* D = 10"):
        structures.at_sizes("10", 5, 20.0)
    for sizes in ("", "50;60", "50,50", "50.5"):
        with pytest.raises(BadInput, match="sizes: "):
            structures.at_sizes(sizes, 5, 20.0)


def test_accuracy_in_law_is_accuracy_on_patches():
    """A pairs model at D = 20 on explicit d-dimensional data."""
    setting = Distribution(D=20, C=5, d=6, q=0.8)
    rng = stream(0, "unassociated")
    partition = data.draw_partition("scattered", setting, rng)
    feature = data.draw_feature(6, rng)
    A, _ = structures.constructed(partition, 3.0, 3.0)["pairs"]
    n, alpha = 40_000, 0.2
    X, y = data.sample(setting, partition, feature, n, rng)
    feature, A = torch.from_numpy(feature), torch.from_numpy(A)
    F = model.outputs(torch.from_numpy(X) @ (alpha * feature), torch.softmax(A, 1), ARCHITECTURE)
    explicit = (torch.from_numpy(y) * F > 0).float().mean().item()
    # The step's own shortcut: two dimensions, contiguous sets, no noise along v.
    sets = np.sort(partition)
    law, _ = structures.constructed(sets, 3.0, 3.0)["pairs"]
    axis = torch.tensor([1.0, 0.0])
    sample = evaluation.draw(setting, sets, n, rng)
    found = evaluation.evaluate(sample, alpha * axis, torch.from_numpy(law), axis, ARCHITECTURE)
    assert 0.6 < explicit < 0.995
    assert abs(found.accuracy - explicit) < 4 * np.sqrt(2 * explicit * (1 - explicit) / n)


def test_association_is_not_needed_at_size_400():
    """The finding itself, in a second: no row finds its set, almost no label is missed."""
    setting = Distribution(D=400, C=5, d=2, q=0.05)
    partition = np.repeat(np.arange(80), 5)
    A, _ = structures.constructed(partition, 3.0, 7.0)["pairs"]
    axis = torch.tensor([1.0, 0.0])
    sample = evaluation.draw(setting, partition, 4000, stream(0, "400"))
    found = evaluation.evaluate(sample, axis / 40, torch.from_numpy(A), axis, ARCHITECTURE)
    assert associate(A, partition).patch_association == 0 and found.accuracy > 0.99


def test_the_steps_write_the_same_columns(tmp_path, monkeypatch):
    monkeypatch.setattr(devices, "prepare", lambda gpu, threads: "cpu")
    table = tmp_path / "table.csv"
    competition.main(
        partition="scattered",
        distribution=SMALL,
        p=3,
        nu=0.1,
        descent=replace(DESCENT, steps=4),
        betas="0,2",
        starts="0,4",
        seeds=2,
        base_seed=1,
        table=table,
    )
    found = tables.read(table, beyond_columns.UNASSOCIATED)
    assert len(found) == 2 * 2 * 2 and set(found.kind) == {"trained"}
    # From g_0 = 4 four steps change nothing: every row still has the next set on top.
    assert (found[found.g_0 == 4].partner_association == 1).all()
    assert (found[found.g_0 == 0].partner_association < 1).all()
    constructed.main(
        sizes="12,24",
        C=3,
        q_D=4.0,
        architecture=ARCHITECTURE,
        gamma=5.0,
        projections="3,10",
        test=100,
        base_seed=1,
        table=table,
    )
    found = tables.read(table, beyond_columns.UNASSOCIATED)
    assert list(found.kind) == ["pairs", "pairs", "wrong", "wrong"] * 2
    assert (found.patch_association == 0).all() and found.g_0.isna().all()
    assert (found[found.kind == "wrong"].lowest_eigenvalue > -1e-5).all()


COMPETITION = (
    "competition --partition scattered --D 12 --C 3 --d 4 --q 0.4 --p 3 --nu 0.1 --omega 0.01 "
    "--N 64 --eta-v 1e-3 --eta-A 5 --steps 4 --every 2 --patience 3 --validation 32 --test 64 "
    "--seeds 2 --base-seed 1 --betas 0,2"
)
CONSTRUCTED = (
    "constructed --C 3 --q-D 4 --p 3 --nu 0.1 --beta 3 --gamma 5 --projections 3,10 --test 100 "
    "--base-seed 1"
)


@pytest.mark.parametrize(
    ("words", "options", "says"),
    [
        (COMPETITION, ("--starts", "0,-1"), "starts: '0,-1' is not allowed"),
        (COMPETITION, ("--starts", "a"), "starts: 'a' is not allowed"),
        (CONSTRUCTED, ("--sizes", "12,15"), "D: 15 is not allowed; it must be a multiple of 2 C"),
    ],
)
def test_bad_input_is_one_line(words, options, says, tmp_path):
    module, *setting = words.split()
    command = [sys.executable, "-m", f"attention_theory.spatial.{module}", *setting, *options]
    command += ["--table", str(tmp_path / "t.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and not list(tmp_path.iterdir())
    assert done.stderr.count("\n") == 1 and says in done.stderr
