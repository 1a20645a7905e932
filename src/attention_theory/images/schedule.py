"""The learning rate as a pure function of the step: nothing to restore, nothing to get wrong."""

import math

from attention_theory.images.settings import Training

WARM_UP, START, END = 0.3, 1 / 25, 1 / 25e4  # of the steps; of the highest rate; the usual choice
WARM_UP_EPOCHS, LOWEST = 5, 1 / 100  # of `vit-cifar`; the lowest in units of the highest rate


def rate(training: Training, step: int, per_epoch: int) -> float:
    """The learning rate of a step (from 0, over all epochs) with `per_epoch` steps an epoch."""
    if training.procedure == "vit-cifar":
        return training.rate * warmed_cosine(step // per_epoch, training.epochs)
    return training.rate * one_cycle(step, training.epochs * per_epoch)


def one_cycle(step: int, steps: int) -> float:
    """The learning rate of a step, of `steps`, in units of the highest: a pure function.

    Two half cosines: from 1/25 up to 1 at 30 % of the steps, then down to 1/250,000.
    """
    peak = WARM_UP * (steps - 1)
    if step <= peak:
        low, part = START, 1 - (step / peak if peak else 1)
    else:
        low, part = END, (step - peak) / (steps - 1 - peak)
    return low + (1 - low) * (1 + math.cos(math.pi * part)) / 2


def warmed_cosine(epoch: int, epochs: int) -> float:
    """The learning rate of an epoch, from 0, in units of the highest, as the source's code has it.

    epoch / 5 up to epoch 5, so that epoch 0 trains at rate 0; then a half cosine from 1 at epoch 6
    towards 1/100, which it would reach six epochs after the last.
    """
    if epoch <= WARM_UP_EPOCHS:
        return epoch / WARM_UP_EPOCHS
    part = (epoch - WARM_UP_EPOCHS - 1) / epochs
    return LOWEST + (1 - LOWEST) * (1 + math.cos(math.pi * part)) / 2


def snapshot_epochs(epochs: int) -> list[int]:
    """Epochs after which snapshots are taken: 0, the powers of 2, and the last."""
    powers = [2**k for k in range(epochs.bit_length()) if 2**k < epochs]
    return [0, *powers, epochs]


def sketch(training: Training, per_epoch: int, points: int = 10) -> list[float]:
    """The rates at the tenths of a training, its last step included: what a resume compares."""
    steps = training.epochs * per_epoch
    return [rate(training, (steps - 1) * i // points, per_epoch) for i in range(points + 1)]
