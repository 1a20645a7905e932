"""Training: exact, keyed, and aware of divergence."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attention_theory import files, tables
from attention_theory.checkpoint import Checkpoints
from attention_theory.errors import BadInput
from attention_theory.images import columns, fitting, models, snapshots, training
from attention_theory.images import permutation as p
from attention_theory.images.problem import Part, Problem, load, permuted
from attention_theory.images.settings import Architecture, Computation, DataSet, Training
from attention_theory.images.snapshots import Snapshots
from attention_theory.streams import stream

VIT = Architecture("vit", "self", patch=2, width=8, layers=1, heads=2, mlp=8, position_std=0.02)
CNN = Architecture("cnn", "none", patch=2, width=4, layers=2)
TRAINING = Training(epochs=2, batch=64, rate=2e-3, weight_decay=0.01, smoothing=0.1, shift=1)
DIGITS = DataSet(images=1797, size=8, channels=1, classes=10)


def problem(digits, granularity: str = "none", base_seed: int = 0) -> Problem:
    return load(digits, p.draw(granularity, "digits", 8, 2, base_seed), "cpu")


@pytest.mark.parametrize("architecture", [VIT, CNN], ids=["vit", "cnn"])
def test_the_step_writes_the_same_bytes_twice(prepared, tmp_path, architecture):
    def run(folder):
        training.main(
            setting="tiny",
            data=prepared / "digits.npz",
            permutation=prepared / "patch.npz",
            architecture=architecture,
            training=TRAINING,
            seeds=2,
            base_seed=0,
            table=folder / "t.csv",
            models=folder / "models",
            snapshots=folder / "snapshots",
            provenance=folder / "p.json",
        )
        written = [path for path in sorted(folder.rglob("*")) if path.suffix in (".csv", ".npz")]
        return [path.read_bytes() for path in (*written, *folder.rglob("*.safetensors"))]

    state = torch.get_rng_state()
    first = run(tmp_path / "a")
    torch.manual_seed(123)
    np.random.seed(123)
    assert run(tmp_path / "b") == first
    torch.set_rng_state(state)

    table = tables.read(tmp_path / "a/t.csv", columns.ACCURACY)
    assert table.seed.tolist() == [0, 1] and table.accuracy.between(0, 1).all()
    assert table.attention.tolist() == [architecture.attention] * 2
    snapshot = files.read_arrays(tmp_path / "a/snapshots/tiny-seed1.npz")
    epochs = [0, 1, 2] if architecture.has_tokens else [0, 2]
    assert snapshot["epoch"].tolist() == epochs
    assert snapshot["state"].tolist() == ["initial", *["between"] * (len(epochs) - 2), "final"]
    assert ("positions" in snapshot) == architecture.has_tokens
    if architecture.has_tokens:
        assert snapshot["positions"].shape == (3, 16, 8)
        assert snapshot["attention_matrices"].shape == (3, 1, 16, 16)
    assert '"images_per_second":' in (tmp_path / "a/p.json").read_text()


def test_seeds_and_base_seeds_differ():
    first = [models.build(VIT, DIGITS, stream(*key)).positions for key in ((0, "w", 0),) * 2]
    assert torch.equal(*first)
    for key in ((0, "w", 1), (1, "w", 0)):
        assert not torch.equal(models.build(VIT, DIGITS, stream(*key)).positions, first[0])


def test_building_a_model_leaves_torchs_generator_alone():
    before = torch.get_rng_state()
    models.build(CNN, DIGITS, stream(0, "w"))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_cnn_takes_images_of_8_to_28_pixels(layers):
    sizes = Architecture("cnn", "none", patch=1, width=4, layers=layers)
    for size, channels in ((8, 1), (28, 3)):
        model = models.build(sizes, DataSet(1, size, channels, 5), stream(0, "w"))
        assert model(torch.zeros(2, channels, size, size)).shape == (2, 5)


def test_the_cnn_is_not_equivariant_and_the_vit_is(digits):
    original, shuffled = problem(digits), problem(digits, "patch")
    order = torch.from_numpy(p.draw("patch", "digits", 8, 2, 0).order)
    images = original.test.images[:32]
    vit = models.build(VIT, DIGITS, stream(0, "w"))
    cnn = models.build(CNN, DIGITS, stream(0, "w"))
    with torch.no_grad():
        vit.positions *= 50
        before = [model(permuted(images, original)) for model in (vit, cnn)]
        vit.positions.copy_(vit.positions[order])
        after = [model(permuted(images, shuffled)) for model in (vit, cnn)]
    torch.testing.assert_close(after[0], before[0])
    assert (after[1] - before[1]).abs().max() > 0.1


def test_images_are_permuted_like_the_stored_order_and_normalised(digits):
    drawn = p.draw("patch", "digits", 8, 2, 0)
    seen = permuted(problem(digits, "patch").train.images, problem(digits, "patch"))
    images = p.permute(digits["images"][digits["train"]], drawn) / 255
    np.testing.assert_allclose(seen, (images - digits["mean"]) / digits["std"], atol=1e-5)
    assert abs(seen.mean()) < 1e-5 and abs(seen.std() - 1) < 1e-3


def test_a_diverging_loss_names_step_setting_and_seed(digits):
    wild = replace(TRAINING, rate=1e30)
    words = r"tiny seed 4: the loss is .* in epoch \d \(by step \d+, seed 4\); lower rate"
    with pytest.raises(BadInput, match=words):
        fitting.fit(problem(digits), VIT, wild, 0, 4, label="tiny seed 4")


@pytest.mark.parametrize("name", ["model.head.weight", "optimiser.0.exp_avg_sq"])
def test_a_state_that_is_not_finite_stops_the_training(digits, tmp_path, monkeypatch, name):
    """In the last epoch too, with a loss that is; nothing of it is saved, and the line says what
    to remove before another rate."""
    train = fitting.Engine.train_epoch

    def ruin(trained):
        loss = train(trained)
        if trained.epoch == 2:
            trained.tensors()[name].view(-1)[0] = float("inf")
        return loss

    monkeypatch.setattr(fitting.Engine, "train_epoch", ruin)
    words = rf"{name} is not finite in epoch 2 \(by step 10, seed 0\); lower rate"
    with pytest.raises(BadInput, match=words + "$"):
        fitting.fit(problem(digits), VIT, TRAINING, 0, 0)
    with pytest.raises(BadInput, match=f"{words} and remove {tmp_path}$"):
        fitting.fit(
            problem(digits),
            VIT,
            TRAINING,
            0,
            0,
            computation=Computation(checkpoint_every=1),
            checkpoints=Checkpoints(tmp_path / "seed0", {}),
        )
    assert [path.name for path in tmp_path.rglob("*.*")] == ["epoch-000001.checkpoint"]


def test_a_loss_of_the_test_images_that_is_not_finite_is_noticed(digits, monkeypatch):
    wrong = fitting.Evaluation(0.1, float("nan"))
    monkeypatch.setattr(fitting, "evaluate", lambda *_: wrong)
    with pytest.raises(BadInput, match=r"the loss is nan in epoch 2 \(by step 10, seed 0\)"):
        fitting.fit(problem(digits), VIT, TRAINING, 0, 0)


def test_training_learns(digits):
    longer = replace(TRAINING, epochs=25, batch=32, rate=1e-2)
    wide = replace(VIT, attention="positional", width=16, mlp=16, position_std=1.0)
    fitted = fitting.fit(problem(digits, "patch"), wide, longer, 0, 0)
    assert fitted.accuracy > 0.5
    cnn = Architecture("cnn", "none", patch=2, width=8, layers=2)
    assert fitting.fit(problem(digits), cnn, longer, 0, 0).accuracy > 0.8


def test_evaluation_is_exact_whatever_the_batch(digits):
    problem_ = problem(digits)
    fitted = fitting.fit(problem_, VIT, TRAINING, 0, 0)
    with torch.no_grad():
        logits = fitted.model(permuted(problem_.test.images, problem_)).double()
    labels = problem_.test.labels
    right = (logits.argmax(1) == labels).sum().item() / len(labels)
    loss = -logits.log_softmax(1)[torch.arange(len(labels)), labels].mean().item()
    assert fitted.accuracy == right and fitted.loss == pytest.approx(loss, rel=1e-6)
    for batch in (1, 7, 1000, len(labels)):
        found = fitting.evaluate(fitted.model, problem_, problem_.test, batch)
        assert found.accuracy == right and found.loss == pytest.approx(loss, rel=1e-6)


def test_attention_is_averaged_over_images_of_every_class(digits, monkeypatch):
    """An image folder lists its images class by class: the first of them would be a few classes."""
    known = problem(digits)
    order = known.validation.labels.argsort(stable=True)
    sorted_ = known._replace(validation=Part(*(values[order] for values in known.validation)))
    seen = []
    model = models.build(VIT, DIGITS, stream(0, "w"))
    matrices = model.attention_matrices
    monkeypatch.setattr(model, "attention_matrices", lambda x: [seen.append(x), matrices(x)][1])

    Snapshots(model, known, VIT, 1).take(0)
    assert torch.equal(seen[-1], permuted(known.validation.images, known)), "all 180, in order"
    monkeypatch.setattr(snapshots, "IMAGES", 50)
    Snapshots(model, sorted_, VIT, 1).take(0)
    images = permuted(sorted_.validation.images, sorted_)
    places = [(images == image).flatten(1).all(1).nonzero()[0].item() for image in seen[-1]]
    assert len(set(places)) == 50 and places == sorted(places)
    assert set(sorted_.validation.labels[places].tolist()) == set(range(10))
    assert set(np.diff(places)) == {3, 4}, "180 / 50 apart"
