"""Full-batch gradient descent on the realistic problem (E), from one seed.

Two rates instead of the paper's one: eta_v for v and eta_A for A. They are plain gradient descent
on A' = A sqrt(eta_v / eta_A), so the symmetries and the stationary points are the problem's own.
With one rate, an entry of A would move about p / D^2 as fast as v: some 1e8 steps.
"""

from typing import NamedTuple, Protocol

import numpy as np
import torch

from attention_theory.errors import BadInput
from attention_theory.progress import Progress
from attention_theory.spatial import distribution as data
from attention_theory.spatial import evaluation
from attention_theory.spatial.association import associate
from attention_theory.spatial.model import Gradients, gradients
from attention_theory.spatial.settings import Architecture, Descent, Distribution
from attention_theory.streams import stream

DIVERGED = 100  # times the first loss


class Problem(NamedTuple):
    """What a seed fixes before training: the partition (D,), the feature (d,), v (d,), A (D, D)."""

    partition: np.ndarray
    feature: np.ndarray
    v: np.ndarray
    A: np.ndarray


class Parameters(Protocol):
    """What is descended on: any parametrisation of v (d,) and A (D, D), on one device."""

    v: torch.Tensor
    A: torch.Tensor

    def descend(self, gradient: Gradients) -> None:
        """Take one step against the gradient of the loss in v and A (its diagonal zero)."""


class Direct:
    """The parameters of problem (E): v and, off its diagonal, A themselves."""

    def __init__(self, problem: Problem, descent: Descent, device: str) -> None:
        self.v = torch.tensor(problem.v, device=device)
        self.A = torch.tensor(problem.A, device=device)
        self.descent = descent

    def descend(self, gradient: Gradients) -> None:
        self.v -= self.descent.eta_v * gradient.v
        self.A -= self.descent.eta_A * gradient.A


class Trained(NamedTuple):
    """A trained model: v (d,), A (D, D), steps taken, accuracy on the test sample, trajectory."""

    v: np.ndarray
    A: np.ndarray
    steps: int
    accuracy: float
    trajectory: list[dict]


def initialise(
    distribution: Distribution,
    architecture: Architecture,
    omega: float,
    partition: str,
    base_seed: int,
    seed: int,
) -> Problem:
    """Draw a seed's problem: v ~ N(0, omega^2 I), A_ij ~ N(0, omega^2), A_ii = beta (float32)."""
    rng = stream(base_seed, "spatial.problem", seed)
    sets = data.draw_partition(partition, distribution, rng)
    feature = data.draw_feature(distribution.d, rng)
    v = omega * rng.standard_normal(distribution.d, dtype=np.float32)
    A = omega * rng.standard_normal((distribution.D, distribution.D), dtype=np.float32)
    np.fill_diagonal(A, architecture.beta)
    return Problem(sets, feature, v, A)


def train(
    problem: Problem,
    distribution: Distribution,
    architecture: Architecture,
    descent: Descent,
    base_seed: int,
    seed: int,
    device: str = "cpu",
    label: str = "training",
    parameters: Parameters | None = None,
) -> Trained:
    """Descend until the validation loss has not improved for `patience` validations.

    `parameters` stand for v and A, on `device` and starting where the problem does; without them
    v and A are trained directly.
    Training, validation and test samples come from streams of their own; the test sample is
    looked at once, after the last step. Raises BadInput, naming step, setting and seed, when the
    loss is not finite or has grown a hundredfold.
    """
    samples = _draw_samples(problem, distribution, descent, base_seed, seed, device)
    feature = torch.tensor(problem.feature, device=device)
    if parameters is None:
        parameters = Direct(problem, descent, device)
    trajectory: list[dict] = []
    first, lowest, waited = np.inf, np.inf, 0
    with Progress(label, descent.steps) as progress:
        for step in range(descent.steps + 1):
            v, A = parameters.v, parameters.A
            gradient = gradients(samples.X, samples.y, v, A, architecture)
            last = step == descent.steps
            first = first if step else gradient.loss.item()
            _check_loss(gradient.loss.item(), first, f"{label}: step {step}, seed {seed}")
            if last or step % descent.every == 0:
                evaluated = evaluation.evaluate(samples.validation, v, A, feature, architecture)
                row = _observe(step, gradient.loss.item(), evaluated, v, A, problem)
                trajectory.append(row)
                waited = 0 if evaluated.loss < lowest else waited + 1
                lowest = min(lowest, evaluated.loss)
                note = f"loss {row['train_loss']:.3f} PA {row['patch_association']:.2f}"
                progress.advance(note, step - progress.done)
            if last or waited == descent.patience:
                break
            parameters.descend(gradient)
    accuracy = evaluation.evaluate(samples.test, v, A, feature, architecture).accuracy
    return Trained(v.cpu().numpy(), A.cpu().numpy(), step, accuracy, trajectory)


class Samples(NamedTuple):
    """Training data X (N, D, d) and y (N,), and what validation and test are evaluated on."""

    X: torch.Tensor
    y: torch.Tensor
    validation: evaluation.Sample
    test: evaluation.Sample


def _draw_samples(
    problem: Problem,
    distribution: Distribution,
    descent: Descent,
    base_seed: int,
    seed: int,
    device: str,
) -> Samples:
    """A seed's data on the device, each part from a stream of its own."""
    partition = problem.partition
    rng = stream(base_seed, "spatial.train", seed)
    X, y = data.sample(distribution, partition, problem.feature, descent.N, rng)
    X, y = torch.from_numpy(X).to(device), torch.from_numpy(y.astype(np.float32)).to(device)
    validation, test = (
        evaluation.draw(distribution, partition, n, stream(base_seed, name, seed), device)
        for name, n in (
            ("spatial.validation", descent.validation),
            ("spatial.test", descent.test),
        )
    )
    return Samples(X, y, validation, test)


def _check_loss(loss: float, first: float, place: str) -> None:
    """Raise BadInput for a loss that is not a number or has run away (NaN compares as false)."""
    if not (np.isfinite(loss) and loss <= DIVERGED * first):
        raise BadInput(f"{place}: the loss is {loss:.3g}; lower eta_v or eta_A")


def _observe(
    step: int,
    loss: float,
    validation: evaluation.Evaluation,
    v: torch.Tensor,
    A: torch.Tensor,
    problem: Problem,
) -> dict:
    """What the trajectory records at a step."""
    alpha, orthogonal = evaluation.split(v, torch.from_numpy(problem.feature).to(v.device))
    A = A.cpu().numpy()
    gamma, rho = means(A, problem.partition)
    return {
        "step": step,
        "train_loss": loss,
        "validation_loss": validation.loss,
        "validation_accuracy": validation.accuracy,
        **associate(A, problem.partition)._asdict(),
        "alpha": alpha.item(),
        "v_orthogonal": orthogonal.item(),
        "gamma": gamma,
        "rho": rho,
    }


def means(A: np.ndarray, partition: np.ndarray) -> tuple[float, float]:
    """gamma, the mean of A within sets (off the diagonal), and rho, its mean across sets."""
    same = partition[:, None] == partition[None, :]
    across = float(A[~same].mean(dtype=float))
    np.fill_diagonal(same, False)
    return float(A[same].mean(dtype=float)) if same.any() else float("nan"), across
