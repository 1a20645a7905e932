"""The learning rate: a pure function of the step; what a procedure means for a data set."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention_theory.errors import BadInput
from attention_theory.images import procedures, schedule
from attention_theory.images.settings import Training

TRAINING = Training(epochs=200, batch=128, rate=1e-3, weight_decay=5e-5, smoothing=0.1, shift=4)
VIT_CIFAR = replace(TRAINING, procedure="vit-cifar", augmentation="autoaugment")


def test_the_rate_is_one_cycle():
    rates = [schedule.one_cycle(step, 101) for step in range(101)]
    assert rates[0] == pytest.approx(1 / 25) and rates[30] == pytest.approx(1)
    assert rates[-1] == pytest.approx(1 / 25e4)
    assert np.argmax(rates) == 30 and (np.diff(rates[:31]) > 0).all()
    assert (np.diff(rates[30:]) < 0).all()
    assert all(math.isfinite(schedule.one_cycle(step, n)) for n in (1, 2, 3) for step in range(n))


@pytest.mark.parametrize("epochs", [1, 6, 200, 300])
def test_the_sources_rate_by_epoch(epochs):
    """Its formula as it stands, at the first and the last step of each epoch."""
    training = replace(VIT_CIFAR, epochs=epochs)
    for e in range(epochs):
        if e <= 5:
            expected = 1e-3 * e / 5
        else:
            expected = 1e-5 + 9.9e-4 * (1 + math.cos(math.pi * (e - 6) / epochs)) / 2
        for step in (390 * e, 390 * e + 389):
            assert schedule.rate(training, step, 390) == pytest.approx(expected, rel=1e-12)
    assert schedule.rate(training, 0, 390) == 0, "epoch 0 trains at rate 0"


@given(
    procedure=st.sampled_from(["standard", "vit-cifar"]),
    epochs=st.integers(1, 30),
    per_epoch=st.integers(1, 20),
    data=st.data(),
)
def test_the_rate_of_a_step_does_not_depend_on_the_steps_before(procedure, epochs, per_epoch, data):
    training = replace(TRAINING, procedure=procedure, epochs=epochs)
    steps = list(range(epochs * per_epoch))
    in_order = [schedule.rate(training, step, per_epoch) for step in steps]
    shuffled = data.draw(st.permutations(steps))
    assert all(schedule.rate(training, s, per_epoch) == in_order[s] for s in shuffled)
    assert all(0 <= rate <= training.rate for rate in in_order)
    sketch = schedule.sketch(training, per_epoch)
    assert set(sketch) <= set(in_order)
    assert (sketch[0], sketch[-1]) == (in_order[0], in_order[-1])


@pytest.mark.parametrize("classes", [2, 10, 100])
def test_the_sources_smoothing_is_spread_over_the_wrong_classes(classes):
    logits = torch.randn(4, classes, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 1, 1, 0])
    target = torch.full((4, classes), 0.1 / (classes - 1))
    target[torch.arange(4), labels] = 0.9
    expected = -(target * logits.log_softmax(1)).sum(1).mean()
    smoothing = procedures.smoothing(VIT_CIFAR, classes)
    found = torch.nn.functional.cross_entropy(logits, labels, label_smoothing=smoothing)
    torch.testing.assert_close(found, expected)
    assert procedures.smoothing(TRAINING, classes) == 0.1


def test_published_statistics_are_the_sources_alone():
    mean, std = procedures.statistics(VIT_CIFAR, "cifar100")
    assert mean == (0.5071, 0.4867, 0.4408) and std == (0.2675, 0.2565, 0.2761)
    assert procedures.statistics(VIT_CIFAR, "digits") is None
    assert procedures.statistics(TRAINING, "cifar100") is None


@pytest.mark.parametrize(
    ("dataset", "channels", "classes", "change", "words"),
    [
        ("digits", 1, 10, {}, "augmentation: 'autoaugment' .* shift for digits: .* colour images"),
        ("mine", 3, 10, {}, "augmentation: 'autoaugment' .* policy for cifar10, cifar100, svhn"),
        ("cifar10", 3, 2, {"smoothing": 0.6}, "smoothing: 0.6 .* at most 0.5"),
    ],
)
def test_a_procedure_that_does_not_fit_the_data(dataset, channels, classes, change, words):
    with pytest.raises(BadInput, match=words):
        procedures.check_data(replace(VIT_CIFAR, **change), dataset, channels, classes)


def test_mirrored_digits_are_no_digits():
    assert not procedures.AUTOAUGMENT["svhn"].flip and procedures.AUTOAUGMENT["cifar10"].flip
    assert procedures.AUTOAUGMENT["cifar100"].policy == "cifar10"
