"""Experiment 4: stacked training, what is frozen, controls as sharp as what was learned."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy
from torch.nn.utils import parameters_to_vector

from attention_theory.errors import BadInput
from attention_theory.images import controls, finetuning, halves, models, permutation, problem
from attention_theory.images.finetuning import Run
from attention_theory.images.problem import Part
from attention_theory.images.settings import DataSet
from attention_theory.images.stacked import Adam, Stack
from attention_theory.images.transfer_settings import (
    POSITIONS,
    Finetuning,
    Pretraining,
    Transformer,
)
from attention_theory.streams import stream

SIZES = Transformer(patch=2, width=8, layers=2, heads=2, mlp=8, position_std=0.5)
DIGITS = DataSet(images=1797, size=8, channels=1, classes=5)
PRETRAINING = Pretraining(steps=4, batch=8, peak=0.01, weight_decay=0.01, smoothing=0.1, shift=1)
FINETUNING = Finetuning(samples=[1, 2], rates=[0.01, 0.02], level=0.5, most=60)
KINDS = ("self", "positional")


def stack(attention: str) -> Stack:
    return Stack(SIZES.with_attention(attention), DIGITS, "cpu")


def frozen(own: Stack) -> torch.Tensor:
    return controls.marks(own, controls.of_space)


def sample(models: int, n: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(1)
    images = torch.from_numpy(rng.standard_normal((models, n, 1, 8, 8), dtype=np.float32))
    return images, torch.from_numpy(rng.integers(0, 5, (models, n)))


def rows(own: Stack, number: int) -> torch.Tensor:
    return own.initial(stream(3, "rows", i) for i in range(number))


def token_order(images: torch.Tensor, order: np.ndarray) -> torch.Tensor:
    """Images (..., 1, 8, 8) whose 16 patches are permuted: token i shows what order[i] showed."""
    flat = permutation.to_patches(images.numpy().reshape(-1, 1, 8, 8), 2)[:, order]
    return torch.from_numpy(permutation.from_patches(flat, 2)).view_as(images)


# the stack


@pytest.mark.parametrize("attention", KINDS)
def test_a_stack_computes_what_its_models_do_one_by_one(attention):
    own = stack(attention)
    weights, (images, labels) = rows(own, 3), sample(3)
    losses, gradients = own.gradients(weights, images, labels, smoothing=0.1)
    for i in range(3):
        model = models.build(own.architecture, DIGITS, stream(3, "rows", i))
        loss = cross_entropy(model(images[i]), labels[i], label_smoothing=0.1)
        torch.testing.assert_close(losses[i], loss.detach())
        parts = torch.autograd.grad(loss, list(model.parameters()))
        torch.testing.assert_close(gradients[i], parameters_to_vector(parts), atol=1e-6, rtol=1e-4)


def test_adam_is_torchs_with_a_rate_an_entry():
    torch.manual_seed(0)
    start, rates = torch.randn(2, 5), torch.tensor([[0.1], [0.01]])
    adam = Adam(start, weight_decay=0.1)
    references = [start[i].clone().requires_grad_() for i in range(2)]
    theirs = [
        torch.optim.AdamW([x], lr=rate.item(), weight_decay=0.1)
        for x, rate in zip(references, rates, strict=True)
    ]
    for _ in range(20):
        gradients = torch.randn(2, 5)
        adam.step(gradients, rates)
        for x, optimiser, gradient in zip(references, theirs, gradients, strict=True):
            x.grad = gradient.clone()
            optimiser.step()
    torch.testing.assert_close(adam.weights, torch.stack(references).detach())
    before = adam.weights.clone()
    adam.step(torch.ones(2, 5), torch.tensor([[0.0], [1.0]]))
    assert (adam.weights[0] == before[0]).all() and (adam.weights[1] != before[1]).all()


# what is frozen


@pytest.mark.parametrize("attention", KINDS)
def test_positions_and_the_layers_of_scores_are_frozen_and_nothing_else(attention):
    own = stack(attention)
    held = own.named(frozen(own))
    for name, marks in held.items():
        if name == "positions" or ".attention.norm." in name or ".queries_keys." in name:
            assert marks.all(), name
        elif ".queries_keys_values." in name:
            assert marks[:16].all() and not marks[16:].any(), "values are trained"
        else:
            assert not marks.any(), name
    assert sum(marks.sum() for marks in held.values()) > 16 * 8


@pytest.mark.parametrize("attention", KINDS)
def test_fine_tuning_moves_what_it_may_and_stops_at_the_level(attention):
    own = stack(attention)
    weights, (images, labels) = rows(own, 4), sample(4)
    free = ~frozen(own)
    trained = [free, torch.ones_like(free), free, free]
    rates = [0.01, 0.02, 0.003, 1e-6]
    runs = [Run(*run) for run in zip(weights, trained, rates, images, labels, strict=True)]
    ended = finetuning.finetune(own, runs, FINETUNING)
    losses, _ = own.gradients(torch.stack([end.weights for end in ended]), images, labels)
    for i, end in enumerate(ended):
        moved = end.weights != weights[i]
        assert moved[free].any() and moved[~free].any() == (i == 1)
        assert end.loss == pytest.approx(losses[i].item(), rel=1e-4)
        assert (end.loss < 0.5) == (i < 3) and (end.steps == 60) == (i == 3)
        alone = finetuning.finetune(own, [runs[i]], FINETUNING)[0]
        assert alone.steps == end.steps, "the stack's size changes nothing but rounding"
        # Not the weights: Adam steps by a bias of keys, whose gradient is rounding alone.
        assert alone.loss == pytest.approx(end.loss, rel=1e-3)
    again = finetuning.finetune(own, runs, FINETUNING)
    assert all((a.weights == b.weights).all() for a, b in zip(ended, again, strict=True))


def test_a_run_that_is_done_before_it_starts_and_one_that_diverges():
    own = stack("self")
    weights, (images, labels) = rows(own, 1), sample(1)
    run = Run(weights[0], torch.ones_like(weights[0]), 0.1, images[0], labels[0])
    (end,) = finetuning.finetune(own, [run], replace(FINETUNING, level=99.0))
    assert end.steps == 0 and (end.weights == weights[0]).all()
    with pytest.raises(BadInput, match="fine-tuning, step 1: a loss is not finite; lower rates"):
        finetuning.finetune(own, [run._replace(rate=1e38)], FINETUNING)


# controls


def scores(seed: int, sharp: float) -> torch.Tensor:
    rng = np.random.default_rng(seed)
    return torch.from_numpy(sharp * rng.standard_normal((2, 3, 7, 7)))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 30), st.floats(1.3, 6.9))
def test_factors_reach_a_number_of_keys(seed, sharp, keys):
    raw = scores(seed, sharp)
    wanted = torch.tensor([keys, 2.0, 5.0], dtype=torch.float64)
    found = controls.factors(torch.softmax(raw, -1), wanted)
    weights = torch.softmax(raw * found[:, None, None], -1)
    for head in range(3):
        entropy = -(weights[:, head] * weights[:, head].log()).sum(-1)
        assert entropy.exp().mean().item() == pytest.approx(wanted[head].item(), rel=1e-4)


def arms(attention: str, sharp: float = 3.0):
    """Arms of a model whose W_Q and W_K are large, so that it attends to few keys."""
    own = stack(attention)
    pretrained, fresh = rows(own, 2)
    pretrained = torch.where(frozen(own), sharp * pretrained, pretrained)
    images, order = sample(1)[0][0], torch.from_numpy(np.random.default_rng(5).permutation(16))
    before = pretrained.clone(), fresh.clone()
    found = controls.arms(own, pretrained, fresh, order, images)
    assert (pretrained == before[0]).all() and (fresh == before[1]).all(), "nothing is changed"
    return own, found, pretrained, fresh, order, images


@pytest.mark.parametrize("attention", KINDS)
def test_arms_differ_in_what_is_frozen_alone(attention):
    own, found, pretrained, fresh, order, _ = arms(attention)
    assert tuple(found) == POSITIONS
    held = frozen(own)
    for name, row in found.items():
        assert (row[~held] == fresh[~held]).all(), f"{name}: the rest is the same"
    assert (found["learned"][held] == pretrained[held]).all()
    assert (found["scratch"] == fresh).all()
    learned, shuffled, random = (
        own.named(found[name]) for name in ("learned", "shuffled", "random")
    )
    assert (shuffled["positions"] == learned["positions"][order]).all()
    assert (random["positions"] == learned["positions"]).all()
    for name in own.names:
        if name != "positions":
            assert (shuffled[name] == learned[name]).all(), name


@pytest.mark.parametrize("attention", KINDS)
def test_controls_are_as_sharp_as_what_was_learned(attention):
    own, found, _, fresh, order, images = arms(attention)
    keys = {name: controls.effective_keys(own.model(row), images) for name, row in found.items()}
    assert keys["learned"].shape == (2, 2) and (keys["learned"] < keys["scratch"]).all()
    torch.testing.assert_close(keys["random"], keys["learned"], rtol=1e-3, atol=0)
    # W_Q and W_K of `random` are those of `scratch`, but for a factor a head.
    scaled = own.named(controls.marks(own, controls.of_scores))
    for name in (name for name in own.names if name.endswith("weight") and scaled[name].any()):
        kinds = (own.named(row)[name][:16] for row in (found["random"], fresh))
        ratio = torch.div(*kinds).unflatten(0, (2, 2, -1))
        torch.testing.assert_close(ratio, ratio[:1, :, :1, :1].expand_as(ratio))
    if attention == "positional":
        torch.testing.assert_close(keys["shuffled"], keys["learned"])
        learned, shuffled = (
            own.model(found[name]).attention_matrices(images) for name in ("learned", "shuffled")
        )
        moved = learned[..., order, :][..., order]
        torch.testing.assert_close(shuffled, moved, msg="a permutation of the same attention")


@pytest.mark.parametrize("attention", KINDS)
def test_effective_keys_of_uniform_and_of_single_minded_attention(attention):
    own, found, *_, images = arms(attention)
    model = own.model(found["learned"])
    with torch.no_grad():
        for block in model.blocks:
            for part in controls.scores(block.attention):
                part.zero_()
    torch.testing.assert_close(controls.effective_keys(model, images), torch.full((2, 2), 16.0))
    sharp = controls.factors(torch.softmax(scores(0, 1.0), -1), torch.ones(3).double())
    assert torch.isfinite(sharp).all(), "out of reach: as near as can be"


@pytest.mark.parametrize("attention", KINDS)
@pytest.mark.parametrize("position", POSITIONS)
def test_permuting_positions_with_the_tokens_changes_no_run(attention, position):
    """Permuted data needs no run: fine-tuning with P permuted as the tokens are takes the same
    steps to the same accuracy."""
    own, found, *_, images = arms(attention)
    order = np.random.default_rng(7).permutation(16)
    labels = torch.arange(len(images)) % 5
    trained = ~frozen(own)
    if position == "scratch":
        trained = torch.ones_like(trained)
    moved = found[position].clone()
    positions = own.named(moved)["positions"]
    positions.copy_(positions[order].clone())
    short = replace(FINETUNING, most=5, level=1e-9)
    ended = [
        finetuning.finetune(own, [Run(row, trained, 0.003, seen, labels)], short)[0]
        for row, seen in ((found[position], images), (moved, token_order(images, order)))
    ]
    assert ended[1].loss == pytest.approx(ended[0].loss, rel=1e-3)
    unseen = torch.from_numpy(np.random.default_rng(8).standard_normal((9, 1, 8, 8))).float()
    with torch.no_grad():
        logits = own.model(ended[0].weights)(unseen)
        torch.testing.assert_close(
            own.model(ended[1].weights)(token_order(unseen, order)), logits, atol=2e-3, rtol=1e-2
        )
        assert not torch.allclose(own.model(ended[1].weights)(unseen), logits, atol=2e-2)


# the experiment


def test_accuracy_counts_the_images_of_the_half_alone(whole):
    own = stack("self")
    (row,) = rows(own, 1)
    half = np.array([1, 3, 4, 7, 9])
    chosen = halves.of(whole.test.labels.numpy(), half)
    labels = torch.from_numpy(halves.renamed(whole.test.labels.numpy()[chosen], half))
    logits = own.model(row)(problem.permuted(whole.test.images[chosen], whole))
    right = (logits.argmax(1) == labels).float().mean().item()
    assert finetuning.accuracy(own, row, whole, whole.test, half) == pytest.approx(right)


def test_a_half_without_images_is_named(whole):
    few = Part(whole.validation.images[:1], whole.validation.labels[:1])
    absent = np.setdiff1d(np.arange(10), few.labels.numpy())[:2]
    with pytest.raises(BadInput, match="data: '1 images' .* images of the classes"):
        finetuning.accuracy(stack("self"), rows(stack("self"), 1)[0], whole, few, absent)


def test_pretraining_learns_its_half(whole):
    wider = replace(SIZES, width=16, mlp=16, position_std=0.02).with_attention("positional")
    own = Stack(wider, DIGITS, "cpu")
    draws = [halves.draw(0, "digits", "tested", i, 10) for i in range(2)]
    longer = replace(PRETRAINING, steps=120, batch=32)
    found = finetuning.pretrain(own, whole, draws, longer)
    for draw, row in zip(draws, found.weights, strict=True):
        accuracy = finetuning.accuracy(own, row, whole, whole.test, draw.pretrained)
        assert accuracy > 0.45, "far above chance, .2"
    with pytest.raises(BadInput, match="pretraining, step .*: a loss is not finite; lower peak"):
        finetuning.pretrain(own, whole, draws, replace(longer, peak=1e38))
