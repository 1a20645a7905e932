"""Augmentation of whole chunks against torchvision, image by image."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torchvision import transforms
from torchvision.transforms import functional as F

from attention_theory.images import augment
from attention_theory.images.autoaugment import Policy
from attention_theory.images.parallel import Team
from attention_theory.images.settings import Training
from attention_theory.streams import stream

POLICIES = ["cifar10", "svhn", "imagenet"]


def some_images(n: int, size: int, seed: int = 0, channels: int = 3) -> torch.Tensor:
    """Noise of any contrast; the first are of one value, which some operations must survive."""
    rng = np.random.default_rng(seed)
    low, high = rng.integers(0, 100, (n, channels, 1, 1)), rng.integers(101, 256, (n, 1, 1, 1))
    images = rng.integers(low, high, (n, channels, size, size)).astype(np.uint8)
    images[:3] = np.array([0, 7, 255])[:n, None, None, None]
    return torch.from_numpy(images)


class Replayed(transforms.AutoAugment):
    """torchvision's AutoAugment with given draws."""

    def __init__(self, name, row, uniform, sign):
        super().__init__(transforms.AutoAugmentPolicy(name))
        self.given = int(row), torch.from_numpy(uniform), torch.from_numpy(sign)

    def get_params(self, transform_num):
        assert self.given[0] < transform_num
        return self.given


@settings(max_examples=12, deadline=None)
@given(name=st.sampled_from(POLICIES), size=st.sampled_from([5, 8, 32]), seed=st.integers(0, 10**6))
def test_autoaugment_is_torchvisions_to_the_bit(name, size, seed):
    n = 40
    images, policy = some_images(n, size, seed), Policy(name, size)
    operations = policy.draw(stream(seed, "test"), n)
    rng = stream(seed, "test")
    draws = zip(rng.integers(25, size=n), rng.random((n, 2)), rng.integers(2, size=(n, 2)))  # noqa: B905
    slow = [Replayed(name, *draw)(image) for draw, image in zip(draws, images, strict=True)]
    kept = images.clone()
    assert torch.equal(policy.apply(images, operations), torch.stack(slow))
    assert torch.equal(images, kept), "the data set itself must not change"


@pytest.mark.parametrize("name", POLICIES)
def test_operations_come_as_often_as_the_policy_says(name):
    policy, n = Policy(name, 32), 200_000
    used = policy.draw(stream(0, "test"), n) != 0
    numbered = (policy.numbers != 0).any(2)
    expected = (policy.probabilities * numbered).mean(0)
    np.testing.assert_allclose(used.mean(0), expected, atol=5 * 0.5 / n**0.5)


@settings(max_examples=20, deadline=None)
@given(most=st.integers(0, 4), channels=st.sampled_from([1, 3]), data=st.data())
def test_crops_and_flips_are_torchvisions(most, channels, data):
    images = some_images(6, 8, channels=channels)
    pairs = st.tuples(st.integers(0, 2 * most), st.integers(0, 2 * most))
    shifts = torch.tensor(data.draw(st.lists(pairs, min_size=6, max_size=6)))
    flips = torch.tensor(data.draw(st.lists(st.integers(0, 1), min_size=6, max_size=6)))
    slow = []
    for image, (top, left), flip in zip(images, shifts.tolist(), flips.tolist(), strict=True):
        cropped = F.crop(F.pad(image, [most]), top, left, 8, 8)
        slow.append(F.hflip(cropped) if flip else cropped)
    assert torch.equal(augment.crop(images, shifts, most, flips), torch.stack(slow))
    plain = augment.crop(images, shifts, most)
    assert torch.equal(augment.crop(images, shifts, most, torch.zeros(6)), plain)


def test_shifts_move_images_by_at_most_one_pixel():
    images = torch.arange(1, 17, dtype=torch.uint8).view(1, 1, 4, 4).repeat(3, 2, 1, 1)
    moved = augment.crop(images, torch.tensor([[1, 1], [0, 1], [1, 2]]), 1)
    assert torch.equal(moved[0], images[0])
    assert moved[1, 0].tolist() == [[0] * 4, *images[1, 0, :3].tolist()]
    assert moved[2, 1, :, 3].tolist() == [0] * 4
    assert torch.equal(moved[2, 1, :, :3], images[2, 1, :, 1:])


@given(batch=st.integers(1, 3000))
def test_a_chunk_is_whole_batches(batch):
    size = augment.chunk_size(batch)
    assert size % batch == 0 and size >= batch and (size <= augment.CHUNK or size == batch)


class Colours:
    """What an augmentation asks of a problem."""

    name, device = "cifar10", "cpu"

    class shape:
        size = 8


TRAINING = Training(epochs=1, batch=4, rate=1e-3, weight_decay=0.0, smoothing=0.1, shift=2)
WITH_POLICY = replace(TRAINING, augmentation="autoaugment")


def test_what_happens_to_an_image_depends_on_its_key_alone():
    """Not on the process that computes it, nor on its neighbours."""
    augmentation = augment.Augmentation(WITH_POLICY, Colours())
    images, shifts = some_images(12, 8), np.random.default_rng(1).integers(0, 5, (12, 2))
    draws = augmentation.draw(shifts, 0, 3, 7, 0)
    whole = augmentation.apply(images, draws)
    again = augmentation.draw(shifts, 0, 3, 7, 0)
    assert torch.equal(augmentation.apply(images, again), whole)
    other = augmentation.draw(shifts, 0, 3, 7, 1)
    assert (other.operations != draws.operations).any() and (other.flips != draws.flips).any()

    class Half(Team):
        processes = 2

    shared = torch.empty_like(whole)
    for rank in (0, 1):
        team = Half()
        team.rank = rank
        own = team.share(12, 4)
        assert len(own) == 6
        shared[own] = augmentation.apply(images[own], draws.of(own))
    assert torch.equal(shared, whole)


def test_svhn_is_not_flipped():
    class Digits(Colours):
        name = "svhn"

    draws = augment.Augmentation(WITH_POLICY, Digits()).draw(np.zeros((64, 2), int), 0, 0, 0, 0)
    assert not draws.flips.any() and draws.operations.any()


def test_without_a_policy_nothing_more_is_drawn():
    draws = augment.Augmentation(TRAINING, Colours()).draw(np.zeros((4, 2), int), 0, 0, 0, 0)
    assert draws.flips is None and draws.operations is None
