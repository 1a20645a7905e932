"""Training from scratch on a downstream task: what transfer is to be compared with.

Gradient descent on v and A from the initial distribution, as in pretraining but on N~ samples. With
so few, training overfits once it has interpolated, so the model of the lowest validation loss is
kept. The validation sample is not counted among the N~: this favours training from scratch.
"""

from math import inf, isfinite

import numpy as np
import torch

from attention_theory.spatial import distribution as data
from attention_theory.spatial import evaluation
from attention_theory.spatial.model import gradients
from attention_theory.spatial.settings import Architecture, Distribution
from attention_theory.spatial.transfer_settings import Scratch


def accuracy(
    distribution: Distribution,
    architecture: Architecture,
    scratch: Scratch,
    partition: np.ndarray,
    n: int,
    test: evaluation.Sample,
    rng: np.random.Generator,
) -> float:
    """The test accuracy after training v and A on n samples of a new feature.

    A loss that is no longer finite ends training like one that no longer falls: what counts is
    the best model on the way. Computes where the test sample is.
    """
    device = str(test.z.device)
    D, d = distribution.D, distribution.d
    w = data.draw_feature(d, rng)
    v = scratch.omega * rng.standard_normal(d, dtype=np.float32)
    A = scratch.omega * rng.standard_normal((D, D), dtype=np.float32)
    np.fill_diagonal(A, architecture.beta)
    X, y = data.sample(distribution, partition, w, n, rng)
    validation = evaluation.draw(distribution, partition, scratch.validation, rng, device)
    feature, v, A, X, y = (
        torch.from_numpy(array).to(device) for array in (w, v, A, X, y.astype(np.float32))
    )
    best, lowest, waited = (v, A), inf, 0
    for step in range(scratch.scratch_steps + 1):
        if step % scratch.every == 0:
            loss = evaluation.evaluate(validation, v, A, feature, architecture).loss
            waited = 0 if loss < lowest else waited + 1
            if loss < lowest:
                best, lowest = (v, A), loss
            if waited == scratch.patience or not isfinite(loss):
                break
        gradient = gradients(X, y, v, A, architecture)
        v = v - scratch.scratch_rate / D * gradient.v
        A = A - scratch.eta_A * gradient.A
    return evaluation.evaluate(test, *best, feature, architecture).accuracy
