"""The engine: each procedure against a plain loop, parts of batches, precision, resuming."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import log_softmax

from attention_theory.errors import BadInput
from attention_theory.images import augment, engine, models, schedule
from attention_theory.images import permutation as p
from attention_theory.images.engine import Engine
from attention_theory.images.parallel import ALONE, Team
from attention_theory.images.problem import Problem, load
from attention_theory.images.settings import Architecture, Computation, Training
from attention_theory.streams import stream

VIT = Architecture("vit", "self", patch=2, width=8, layers=1, heads=2, mlp=8, position_std=0.02)
CNN = Architecture("cnn", "none", patch=2, width=4, layers=2)
TRAINING = Training(epochs=8, batch=96, rate=5e-3, weight_decay=0.01, smoothing=0.1, shift=1)
SOURCES = replace(TRAINING, procedure="vit-cifar", augmentation="autoaugment")
KEY_BIAS = slice(8, 16)  # of queries_keys_values: softmax does not see it, its gradient is noise


@pytest.fixture(scope="session")
def colours(digits) -> Problem:
    """Digits in three colours under the name of a data set that has a policy."""
    images = np.concatenate([digits["images"], digits["images"] // 2, digits["images"] // 3], 1)
    data = digits | {"images": images, "dataset": np.asarray("cifar10")}
    data |= {name: np.repeat(digits[name], 3) for name in ("mean", "std")}
    return load(data, p.draw("patch", "digits", 8, 2, 0), "cpu")


@pytest.fixture(scope="session")
def grey(digits) -> Problem:
    return load(digits, p.draw("patch", "digits", 8, 2, 0), "cpu")


def start(
    problem: Problem,
    training: Training = TRAINING,
    computation: Computation = Computation(),  # noqa: B008 - frozen
    architecture: Architecture = VIT,
    team: Team = ALONE,
) -> Engine:
    model = models.build(architecture, problem.shape, stream(0, "images.weights", 0))
    return Engine(model, problem, training, computation, 0, 0, team)


def weights(trained: Engine, seen: bool = True) -> torch.Tensor:
    """Every weight in one vector; `seen`: those that the model's outputs depend on."""
    found = {name: value.clone() for name, value in trained.model.state_dict().items()}
    if seen:
        found["blocks.0.attention.queries_keys_values.bias"][KEY_BIAS] = 0
    return torch.cat([value.flatten() for value in found.values()])


def test_the_sources_procedure_is_adam_with_its_rate_and_its_smoothing(colours):
    """Against a loop that says it all in full, epoch 0 at rate 0 included."""
    trained = start(colours, SOURCES)
    model = models.build(VIT, colours.shape, stream(0, "images.weights", 0))
    trained_weights = weights(trained)
    adam = torch.optim.Adam(model.parameters(), 1.0, betas=(0.9, 0.999), weight_decay=0.01)
    for epoch in range(7):
        trained.train_epoch()
        if epoch == 0:
            assert torch.equal(weights(trained), trained_weights), "epoch 0 trains at rate 0"
        rng = stream(0, "images.epoch", 0, epoch)
        order, draws = rng.permutation(len(colours.train.labels)), rng.integers
        order = order[: len(order) // 96 * 96]
        shifts = draws(0, 3, (len(order), 2))
        drawn = trained.augmentation.draw(shifts, 0, 0, epoch, 0)
        images = trained.augmentation.apply(colours.train.images[order], drawn)
        for batch, places in zip(images.split(96), torch.from_numpy(order).split(96), strict=True):
            shuffled = batch.flatten(2)[..., colours.pixels].view_as(batch)
            scores = model((shuffled / 255 - colours.mean) / colours.std)
            target = torch.full_like(scores, 0.1 / 9)
            target[torch.arange(96), colours.train.labels[places]] = 0.9
            adam.zero_grad()
            (-(target * log_softmax(scores, 1)).sum(1).mean()).backward()
            adam.param_groups[0]["lr"] = 5e-3 * schedule.warmed_cosine(epoch, 8)
            adam.step()
    plain = torch.cat([value.flatten() for value in model.state_dict().values()])
    seen = weights(trained)
    plain[seen == 0] = 0
    torch.testing.assert_close(seen, plain, rtol=0, atol=2e-5)
    assert (seen - trained_weights).abs().max() > 1e-2


@pytest.mark.parametrize("accumulate", [2, 3, 96])
def test_parts_of_a_batch_make_the_step_of_the_batch(grey, accumulate):
    whole, parts = start(grey), start(grey, computation=Computation(accumulate=accumulate))
    for _ in range(2):
        losses = whole.train_epoch(), parts.train_epoch()
        assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    torch.testing.assert_close(weights(parts), weights(whole), rtol=0, atol=1e-5)


def test_batch_norm_needs_whole_batches(grey):
    start(grey, architecture=CNN).train_epoch()
    with pytest.raises(BadInput, match="accumulate x processes: 2 .* batch norm"):
        start(grey, computation=Computation(accumulate=2), architecture=CNN)


@pytest.mark.parametrize("procedure", ["standard", "vit-cifar"])
@pytest.mark.parametrize("architecture", [VIT, CNN], ids=["vit", "cnn"])
def test_a_restored_state_goes_on_to_the_same_bits(colours, procedure, architecture):
    training = replace(SOURCES, procedure=procedure, epochs=7)
    through = start(colours, training, architecture=architecture)
    names, copies = through.tensors().keys(), []
    for _ in range(7):
        through.train_epoch()
        copies.append({name: value.clone() for name, value in through.tensors().items()})
    for epoch in (1, 4, 6):
        resumed = start(colours, training, architecture=architecture)
        resumed.restore(epoch, copies[epoch - 1])
        while resumed.epoch < 7:
            resumed.train_epoch()
        found = resumed.tensors()
        assert found.keys() == copies[-1].keys() > names
        assert all(torch.equal(found[name], value) for name, value in copies[-1].items())


def test_bfloat16_is_near_float32_and_leaves_the_weights_in_float32(grey):
    training = replace(TRAINING, epochs=3)
    exact, half = start(grey, training), start(grey, training, Computation(precision="bfloat16"))
    assert half.half and not exact.half
    losses = [[trained.train_epoch() for _ in range(3)] for trained in (exact, half)]
    assert losses[0] != losses[1]
    np.testing.assert_allclose(losses[1], losses[0], rtol=0.02)
    assert all(value.dtype == torch.float32 for value in half.tensors().values())


def test_a_compiled_model_takes_the_same_steps(grey, monkeypatch):
    """Through torch's tracer and autograd, without the code generator, which needs a compiler."""
    monkeypatch.setattr(engine, "COMPILER", "aot_eager")
    plain, compiled = start(grey), start(grey, computation=Computation(compile="always"))
    assert compiled.forward is not compiled.model
    for trained in (plain, compiled):
        trained.train_epoch()
    torch.testing.assert_close(weights(compiled), weights(plain), rtol=0, atol=1e-5)
    assert plain.tensors().keys() == compiled.tensors().keys()


@pytest.mark.parametrize(
    ("computation", "device", "large", "expected"),
    [
        (Computation(), "cpu", True, (False, False)),
        (Computation(), "cuda", True, (True, True)),
        (Computation(), "cuda", False, (False, False)),
        (Computation(precision="float32", compile="never"), "cuda", True, (False, False)),
        (Computation(precision="bfloat16", compile="always"), "cpu", False, (True, True)),
    ],
)
def test_where_acceleration_pays(computation, device, large, expected):
    model = torch.nn.Linear(1000 if large else 1, 1000)
    assert engine.accelerations(computation, model, device) == expected


def test_a_batch_that_does_not_divide_is_refused(grey):
    with pytest.raises(BadInput, match="batch: 96 .* accumulate x processes = 5 x 1"):
        start(grey, computation=Computation(accumulate=5))


def test_an_epoch_is_whole_batches_in_the_order_drawn(colours, monkeypatch):
    monkeypatch.setattr(augment, "CHUNK", 96)
    order = np.random.default_rng(0).permutation(288)
    batches = list(start(colours, SOURCES)._batches(order, np.ones((288, 2), int)))
    assert [len(images) for images, _ in batches] == [96] * 3
    assert torch.equal(torch.cat([labels for _, labels in batches]), colours.train.labels[order])
