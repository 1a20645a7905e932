"""What a notebook wants in one call: pretraining from a seed, transfer to a new feature."""

import numpy as np

from attention_theory.spatial import distribution as data
from attention_theory.spatial import evaluation, finetuning, training
from attention_theory.spatial.settings import Architecture, Descent, Distribution
from attention_theory.streams import stream


def pretrain(
    distribution: Distribution,
    architecture: Architecture,
    descent: Descent,
    seed: int = 0,
    partition: str = "scattered",
    base_seed: int = 1,
) -> tuple[training.Problem, training.Trained]:
    """Draw a seed's problem and train on it (problem (E), Theorem 4.2), on the CPU.

    Returns the problem (partition (D,), feature (d,), initial v (d,) and A (D, D)) and the trained
    model (v, A, steps, test accuracy, trajectory). Raises BadInput when training diverges.
    """
    problem = training.initialise(
        distribution, architecture, descent.omega, partition, base_seed, seed
    )
    trained = training.train(problem, distribution, architecture, descent, base_seed, seed)
    return problem, trained


def finetune(
    A: np.ndarray,
    partition: np.ndarray,
    distribution: Distribution,
    architecture: Architecture,
    samples: int,
    draw: int = 0,
    base_seed: int = 1,
    rate: float = 0.003,
    steps: int = 100,
    test: int = 5000,
) -> float:
    """Test accuracy after transfer to a new feature with A (D, D) frozen (Theorem 5.1).

    A feature is drawn on the same `partition` (D,), v is trained from 0 on `samples` data points
    by gradient descent with rate `rate` / D, and tested in law. `draw` counts the tasks. Raises
    BadInput if v diverges.
    """
    rng = stream(base_seed, "spatial.finetune", samples, draw)
    S = finetuning.softmax(A)
    task = finetuning.draw_tasks(distribution, partition, samples, [rng])
    attended = finetuning.attend(task.X, S)
    v = finetuning.descend(attended, task.y, architecture, rate / distribution.D, steps)
    exam = finetuning.examine(
        evaluation.draw(distribution, partition, test, rng), S, distribution.d, architecture
    )
    return float(exam.accuracy(*finetuning.split(v.numpy(), task.features))[0])


def sample(
    distribution: Distribution, n: int, partition: str = "scattered", base_seed: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """n data points of the distribution (Assumption 1): X (n, D, d) float32, y (n,) in {-1, 1},
    and the set index of each patch (D,)."""
    rng = stream(base_seed, "spatial.sample")
    sets = data.draw_partition(partition, distribution, rng)
    return (*data.sample(distribution, sets, data.draw_feature(distribution.d, rng), n, rng), sets)
