"""Transfer: gradients, shortcuts in law against explicit data, kinds of attention, the step."""

import subprocess
import sys
from dataclasses import asdict

import numpy as np
import pytest
import torch
from cases import ARCHITECTURE, SMALL

from attention_theory import files, tables
from attention_theory.errors import BadInput
from attention_theory.spatial import distribution as data
from attention_theory.spatial import evaluation, finetuning, model, scratch
from attention_theory.spatial.association import associate
from attention_theory.spatial.settings import Architecture, Distribution
from attention_theory.spatial.transfer_settings import COLUMNS, LIMIT, Frozen, Scratch
from attention_theory.streams import stream

FROZEN = Frozen(
    dimensions=[4, 12],
    samples=[1, 8],
    few=1,
    draws=3,
    fewest=2,
    pool=16,
    step_pool=16,
    rate=0.01,
    steps=5,
    step_size=20.0,
    scan=[1.0],
    scan_samples=8,
    test=200,
)
SCRATCH = Scratch(
    scratch_samples=[8, 16],
    scratch_draws=1,
    omega=1e-2,
    scratch_rate=0.01,
    eta_A=1.0,
    scratch_steps=4,
    every=2,
    patience=2,
    validation=50,
)
PARTITION = np.repeat(np.arange(SMALL.L), SMALL.C)
DEGREES = [Architecture(p=3, nu=0.1, beta=1.0), Architecture(p=5, nu=0.3, beta=1.0)]


def associated(strength=2.0):
    """An A (12, 12) that associates: beta on the diagonal, `strength` within sets, 0 across."""
    A = strength * (PARTITION[:, None] == PARTITION).astype(np.float32)
    np.fill_diagonal(A, ARCHITECTURE.beta)
    return A


@pytest.mark.parametrize("architecture", DEGREES)
def test_gradient_in_v_is_the_full_models(architecture, rng):
    """Of several runs at once, each against the full model's gradient, analytic and autograd."""
    A = rng.standard_normal((12, 12)).astype(np.float32)
    rngs = [stream(1, "test", draw) for draw in range(3)]
    task = finetuning.draw_tasks(SMALL, PARTITION, 7, rngs)
    v = torch.from_numpy(rng.standard_normal((3, 4)).astype(np.float32)) / 8
    attended = finetuning.attend(task.X, finetuning.softmax(A))
    losses, gradients = finetuning.gradient(attended, task.y, v, architecture)
    for run in range(3):
        for full in (model.gradients_by_autograd, model.gradients):
            wanted = full(task.X[run], task.y[run], v[run], torch.from_numpy(A), architecture)
            torch.testing.assert_close(losses[run], wanted.loss)
            torch.testing.assert_close(gradients[run], wanted.v, rtol=1e-4, atol=1e-5)


def test_attending_once_is_the_models_output(rng):
    A = rng.standard_normal((12, 12)).astype(np.float32)
    S = finetuning.softmax(A)
    X, _ = data.sample(SMALL, PARTITION, data.draw_feature(4, rng), 9, rng)
    v = torch.from_numpy(rng.standard_normal(4).astype(np.float32))
    x = finetuning.attend(torch.from_numpy(X), S) @ v
    F = (x**3 + ARCHITECTURE.nu * x).sum(dim=1)
    wanted = model.outputs(torch.from_numpy(X) @ v, torch.from_numpy(S).float(), ARCHITECTURE)
    torch.testing.assert_close(F, wanted, rtol=1e-4, atol=1e-4)


def test_descent_is_gradient_descent_from_zero():
    rngs = [stream(1, "test", draw) for draw in range(2)]
    task = finetuning.draw_tasks(SMALL, PARTITION, 5, rngs)
    attended = finetuning.attend(task.X, finetuning.softmax(associated()))
    v = finetuning.descend(attended, task.y, ARCHITECTURE, 1e-3, 4)
    wanted = torch.zeros(4)
    for _ in range(4):
        full = model.gradients_by_autograd(
            task.X[1], task.y[1], wanted, torch.from_numpy(associated()), ARCHITECTURE
        )
        wanted = wanted - 1e-3 * full.v
    torch.testing.assert_close(v[1], wanted, rtol=1e-4, atol=1e-7)
    with pytest.raises(BadInput, match="rate: v is not finite after 90 steps"):
        finetuning.descend(attended, task.y, ARCHITECTURE, 1e30, 90)


def test_permuted_attention_is_a_conjugation_that_breaks_association_and_zero_a_diagonal(rng):
    A = associated() + 0.01 * rng.standard_normal((12, 12)).astype(np.float32)
    np.fill_diagonal(A, ARCHITECTURE.beta)
    permuted = finetuning.variant("permuted", A, rng)
    np.testing.assert_allclose(np.linalg.eigvals(A).sum(), np.linalg.eigvals(permuted).sum())
    np.testing.assert_array_equal(np.sort(A.ravel()), np.sort(permuted.ravel()))
    assert (np.diag(permuted) == ARCHITECTURE.beta).all()
    assert associate(A, PARTITION).patch_association == 1
    assert associate(permuted, PARTITION).patch_association < 0.5
    # Permuting the sets as well associates again: nothing but labels has changed.
    order = stream(1, "order").permutation(12)
    again = finetuning.variant("permuted", A, stream(1, "order"))
    assert associate(again, PARTITION[order]).patch_association == 1
    zero = finetuning.variant("zero", A, rng)
    np.testing.assert_array_equal(zero, ARCHITECTURE.beta * np.eye(12))


@pytest.mark.parametrize("architecture", DEGREES)
def test_the_exams_polynomial_is_the_evaluation(architecture, rng):
    """On the same sample, the moments give the accuracy that the model gives, ties included."""
    A = associated()
    sample = evaluation.draw(SMALL, PARTITION, 500, rng)
    exam = finetuning.examine(sample, finetuning.softmax(A), 4, architecture)
    w = data.draw_feature(4, rng)
    v = np.stack([0.1 * w, rng.standard_normal(4), -w, np.zeros(4)]).astype(np.float32)
    found = exam.accuracy(*finetuning.split(v, w[None]))
    feature, A = torch.from_numpy(w), torch.from_numpy(A)
    for run, accuracy in zip(torch.from_numpy(v), found, strict=True):
        wanted = evaluation.evaluate(sample, run, A, feature, architecture)
        assert accuracy == pytest.approx(wanted.accuracy, abs=2.1 / 500)
    assert found[3] == 0.5


def test_the_exam_in_law_is_a_test_on_explicit_data(rng):
    n, w = 20_000, data.draw_feature(4, rng)
    v = (0.08 * w + 0.03 * rng.standard_normal(4)).astype(np.float32)
    S = finetuning.softmax(associated())
    exam = finetuning.examine(evaluation.draw(SMALL, PARTITION, n, rng), S, 4, ARCHITECTURE)
    in_law = exam.accuracy(*finetuning.split(v[None], w[None]))[0]
    X, y = data.sample(SMALL, PARTITION, w, n, rng)
    F = model.outputs(
        torch.from_numpy(X @ v), torch.from_numpy(S.astype(np.float32)), ARCHITECTURE
    ).numpy()
    explicit = (F * y > 0).mean()
    assert 0.6 < explicit < 0.99  # a v that is neither perfect nor useless
    assert abs(in_law - explicit) < 4 * np.sqrt(2 * explicit * (1 - explicit) / n)


def test_one_step_in_law_is_the_step_on_explicit_data(rng):
    """alpha and |v_perp| of the normalised gradient at v = 0, in mean and spread."""
    runs, n = 3000, 3
    S = finetuning.softmax(rng.standard_normal((12, 12)))
    task = finetuning.draw_tasks(SMALL, PARTITION, n, [rng] * runs)
    attended = finetuning.attend(task.X, S)
    _, gradient = finetuning.gradient(attended, task.y, torch.zeros(runs, 4), ARCHITECTURE)
    v = -gradient / torch.linalg.vector_norm(gradient, dim=1, keepdim=True)
    explicit = finetuning.split(v.numpy(), task.features)
    in_law = finetuning.one_step(SMALL, PARTITION, S, n, runs, rng)
    np.testing.assert_allclose(np.hypot(*in_law), 1)
    np.testing.assert_allclose(np.hypot(*explicit), 1, rtol=1e-5)
    for one, other in zip(in_law, explicit, strict=True):
        error = np.sqrt((one.var() + other.var()) / runs)
        assert abs(one.mean() - other.mean()) < 4 * error
        assert one.std() == pytest.approx(other.std(), rel=0.1)


def test_association_transfers_and_permuted_attention_does_not():
    """A new feature, 16 samples, one step: the learned sets matter, nothing else differs."""
    distribution = Distribution(D=40, C=5, d=16, q=0.4)
    partition = np.repeat(np.arange(8), 5)
    A = 4.0 * (partition[:, None] == partition).astype(np.float32)
    sample = evaluation.draw(distribution, partition, 2000, stream(1, "test"))
    found = {}
    for kind in finetuning.KINDS:
        S = finetuning.softmax(finetuning.variant(kind, A, stream(1, "order")))
        exam = finetuning.examine(sample, S, 16, ARCHITECTURE)
        v = finetuning.one_step(distribution, partition, S, 16, 20, stream(1, "step"))
        found[kind] = np.median(exam.accuracy(*(0.75 * part for part in v)))
    assert found["learned"] > 0.97 > 0.92 > max(found["permuted"], found["zero"])


def test_training_from_scratch_keeps_its_best_model_and_survives_divergence():
    test = evaluation.draw(SMALL, PARTITION, 500, stream(1, "test"))

    def run(**changes):
        settings = Scratch(**(asdict(SCRATCH) | changes))
        rng = stream(1, "scratch")
        return scratch.accuracy(SMALL, ARCHITECTURE, settings, PARTITION, 64, test, rng)

    good = run(scratch_steps=40, patience=50)
    assert good > 0.6 and good == run(scratch_steps=40, patience=50)
    assert run(scratch_steps=40, patience=50, scratch_rate=1e20) >= 0.3


def command(folder, **changes):
    """The step's command line as a real process runs it; `changes` replace or add options."""
    options = asdict(FROZEN) | asdict(SCRATCH) | {"D": 12, "C": 3, "q": 0.4, "p": 3, "nu": 0.1}
    options |= {"beta": 1.0, "base_seed": 1, "model": [folder / "0.npz", folder / "1.npz"]}
    options |= {"table": folder / "transfer.csv"} | changes
    words = []
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            words += [f"--{name.replace('_', '-')}", str(one)]
    return [sys.executable, "-m", "attention_theory.spatial.transfer", *words]


def write_models(folder, A=None, partition=PARTITION):
    for seed in range(2):
        files.write_arrays(
            folder / f"{seed}.npz", A=associated() if A is None else A, partition=partition
        )


def test_the_step_writes_its_table_and_the_same_bytes_again(tmp_path, monkeypatch, capsys):
    """As a process of its own, and again in this one."""
    write_models(tmp_path)
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    words = command(tmp_path, table=one, provenance=tmp_path / "record.json")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    code, said = run_here(monkeypatch, capsys, command(tmp_path, table=two))
    assert code in (0, None), said
    assert one.read_bytes() == two.read_bytes()
    run_here(monkeypatch, capsys, command(tmp_path, table=two, base_seed=2))
    assert one.read_bytes() != two.read_bytes()
    table = tables.read(tmp_path / "one.csv", COLUMNS)
    assert list(table.columns) == COLUMNS and table.accuracy.between(0, 1).all()
    assert set(table.seed) == {0, 1} and set(table.d) == {4, 12}
    first, second = table[table.d == 4], table[table.d == 12]
    assert set(first.attention) == {"learned", "permuted", "zero", "scratch"}
    assert set(second.attention) == {"learned", "scratch"}
    assert set(second[second.attention == "learned"].samples) == {1}
    learned = first[(first.attention == "learned") & (first.seed == 0)]
    gd, steps = learned[learned.optimiser == "gd"], learned[learned.optimiser == "one_step"]
    assert (gd.samples == 1).sum() == 3 and (gd.samples == 8).sum() == 2
    assert set((steps.step_size * 12).round(6)) == {1.0, 20.0}
    assert set(steps[steps.scan].samples) == {8}


WRONG_SETS = np.arange(12) % 5


@pytest.mark.parametrize(
    ("written", "changes", "said"),
    [
        ({}, {"samples": [8, 10**9]}, "samples: 1000000000 is not allowed; it must be at most"),
        ({}, {"scratch_samples": [10**9]}, "scratch_samples: 1000000000 is not allowed"),
        ({}, {"D": 15}, "0.npz: A: (12, 12) is not allowed; it must be finite numbers (15, 15)"),
        ({}, {"C": 4}, "0.npz: C: 3 is not allowed; it must be 4, as asked"),
        ({}, {"beta": 2.0}, "0.npz: beta: 1.0 is not allowed; it must be 2, as asked"),
        ({"partition": WRONG_SETS}, {}, "0.npz: partition: it must give each of 12 patches one"),
        ({"partition": PARTITION - 1}, {}, "0.npz: partition: it must give each"),
        ({"partition": PARTITION + 0.5}, {}, "0.npz: partition: it must give each"),
        ({"partition": PARTITION[:6]}, {}, "0.npz: partition: it must give each"),
        ({"A": np.full((12, 12), np.nan)}, {}, "0.npz: A: (12, 12) is not allowed"),
        ({}, {"model": ["nosuch.npz"]}, "nosuch.npz: no readable .npz file"),
        ({}, {"samples": [0, 4]}, "samples: [0, 4] is not allowed; it must be numbers from 1 on"),
        ({}, {"samples": [4, 1]}, "samples: [4, 1] is not allowed; it must ascend"),
        ({}, {"scan_samples": 4}, "scan_samples: 4 is not allowed; it must be one of samples"),
        ({}, {"draws": 0}, "draws: 0 is not allowed; it must be at least 1"),
        ({}, {"fewest": 9}, "fewest: 9 is not allowed; it must be at most 3"),
        ({}, {"step_size": 0.0}, "step_size: 0.0 is not allowed; it must be finite and above 0"),
        ({}, {"rate": 1e30}, "rate: v is not finite after 5 steps"),
        ({}, {"nu": 0.0}, "nu: 0.0 is not allowed; it must be above 0"),
        ({}, {"dimensions": [1]}, "d: 1 is not allowed; it must be at least 2"),
        ({}, {"dimensions": [4, 4]}, "dimensions: [4, 4] is not allowed; it must differ"),
    ],
)
def test_bad_input_in_one_line(tmp_path, monkeypatch, capsys, written, changes, said):
    write_models(tmp_path, **written)
    code, line = run_here(monkeypatch, capsys, command(tmp_path, **changes))
    assert code == 2 and line.count("\n") == 1 and said in line, line
    assert not (tmp_path / "transfer.csv").exists()


def run_here(monkeypatch, capsys, words):
    from attention_theory import step
    from attention_theory.spatial import transfer

    """The step in this process: exit code and what it says."""
    monkeypatch.setattr(sys, "argv", ["transfer", *words[3:]])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    with pytest.raises(SystemExit) as exit:
        step.run(transfer.main)
    return exit.value.code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "changes", "said"),
    [
        ({"partition": WRONG_SETS}, {}, "partition: it must give each of 12 patches one of"),
        ({}, {"samples": [8, 2 * 10**7]}, f"it must be at most {LIMIT // (4 * 12 * 4)}"),
    ],
)
def test_bad_input_ends_a_process_with_one_line(tmp_path, written, changes, said):
    write_models(tmp_path, **written)
    done = subprocess.run(command(tmp_path, **changes), capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and said in done.stderr
