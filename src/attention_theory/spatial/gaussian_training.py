"""Gradient descent on Gaussian data, from one seed: `training` with another law and capped steps.

Evaluation samples are `evaluation`'s: <v, X_j> = alpha z_j + |v_perp| g_j in law, g standard
normal. There the noise is |v_perp| g_j / sqrt(d), so that g is drawn sqrt(d) times larger.
"""

from typing import NamedTuple

import numpy as np
import torch

from attention_theory.errors import BadInput
from attention_theory.spatial import evaluation, gaussian_data, training
from attention_theory.spatial.gaussian_settings import Gaussian
from attention_theory.spatial.gram import LEAST, SHARE
from attention_theory.spatial.model import Gradients, gradients, outputs
from attention_theory.spatial.settings import Architecture, Descent
from attention_theory.spatial.training import Problem
from attention_theory.streams import stream


class Capped(training.Direct):
    """v and A themselves; a step is shortened so that no entry of A moves by more than `cap` and
    v by no more than a tenth of max(|v|, 0.001). A cap of 0 is none.
    """

    def __init__(self, problem: Problem, descent: Descent, cap: float, device: str) -> None:
        super().__init__(problem, descent, device)
        self.cap = cap

    def descend(self, gradient: Gradients) -> None:
        dv, dA = self.descent.eta_v * gradient.v, self.descent.eta_A * gradient.A
        if self.cap:
            longest = SHARE * torch.linalg.vector_norm(self.v).clamp(min=LEAST)
            dv *= (longest / torch.linalg.vector_norm(dv)).clamp(max=1)
            dA *= (self.cap / dA.abs().max()).clamp(max=1)
        self.v -= dv
        self.A -= dA


class Trained(NamedTuple):
    """A trained model: v (d,), A (D, D), steps taken, and accuracies; the linear rule's accuracy
    and the labels' contrast on the same test sample.
    """

    v: np.ndarray
    A: np.ndarray
    steps: int
    train_accuracy: float
    accuracy: float
    linear_accuracy: float
    contrast: float


def train(
    phi: str,
    problem: Problem,
    gaussian: Gaussian,
    architecture: Architecture,
    descent: Descent,
    cap: float,
    base_seed: int,
    seed: int,
    device: str = "cpu",
    label: str = "training",
) -> Trained:
    """Descend until the validation loss has not fallen for `patience` validations.

    A seed's patches are the same for every phi. The test sample is looked at once, after the last
    step. Raises BadInput when the loss is not finite or has grown a hundredfold.
    """
    partition = problem.partition
    rng = stream(base_seed, "spatial.gaussian.train", seed)
    X = rng.standard_normal((descent.N, gaussian.D, gaussian.d), dtype=np.float32)
    y = gaussian_data.labels(phi, X @ problem.feature, partition)
    X, y = torch.from_numpy(X).to(device), torch.from_numpy(y).to(device)
    validation, test = (
        draw(phi, gaussian, partition, n, stream(base_seed, name, seed), device)
        for name, n in (
            ("spatial.gaussian.validation", descent.validation),
            ("spatial.gaussian.test", descent.test),
        )
    )
    feature = torch.tensor(problem.feature, device=device)
    parameters = Capped(problem, descent, cap, device)
    steps = _descend(parameters, X, y, validation, feature, architecture, descent, label)
    v, A = parameters.v, parameters.A
    margin = y * outputs(X @ v, torch.softmax(A, dim=1), architecture)
    z, test_y = test.z.cpu().numpy(), test.y.cpu().numpy()
    return Trained(
        v.cpu().numpy(),
        A.cpu().numpy(),
        steps,
        train_accuracy=(margin > 0).double().mean().item(),
        accuracy=evaluation.evaluate(test, v, A, feature, architecture).accuracy,
        linear_accuracy=gaussian_data.linear_accuracy(z, test_y),
        contrast=gaussian_data.contrast(z, test_y, partition, architecture),
    )


def draw(
    phi: str,
    gaussian: Gaussian,
    partition: np.ndarray,
    n: int,
    rng: np.random.Generator,
    device: str = "cpu",
) -> evaluation.Sample:
    """Draw n evaluation samples: what any v and A can be evaluated on."""
    z, g = rng.standard_normal((2, n, gaussian.D), dtype=np.float32)
    g *= np.float32(np.sqrt(gaussian.d))
    arrays = (z, g, gaussian_data.labels(phi, z, partition))
    return evaluation.Sample(*(torch.from_numpy(array).to(device) for array in arrays))


def _descend(
    parameters: Capped,
    X: torch.Tensor,
    y: torch.Tensor,
    validation: evaluation.Sample,
    feature: torch.Tensor,
    architecture: Architecture,
    descent: Descent,
    label: str,
) -> int:
    """Move the parameters until the stopping rule holds; the number of steps taken."""
    first, lowest, waited = np.inf, np.inf, 0
    for step in range(descent.steps):
        if step % descent.every == 0:
            v, A = parameters.v, parameters.A
            loss = evaluation.evaluate(validation, v, A, feature, architecture).loss
            waited = 0 if loss < lowest else waited + 1
            lowest = min(lowest, loss)
            if waited == descent.patience:
                return step
        gradient = gradients(X, y, parameters.v, parameters.A, architecture)
        loss = gradient.loss.item()
        first = first if step else loss
        if not loss <= training.DIVERGED * first:  # true of NaN too
            raise BadInput(f"{label}: step {step}: the loss is {loss:.3g}; lower eta_v or eta_A")
        parameters.descend(gradient)
    return descent.steps
