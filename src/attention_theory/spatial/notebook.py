"""What a notebook wants in one call: pretraining from a seed, transfer to a new feature."""

import numpy as np

from attention_theory.errors import require
from attention_theory.spatial import distribution as data
from attention_theory.spatial import evaluation, finetuning, training
from attention_theory.spatial.settings import Architecture, Descent, Distribution
from attention_theory.spatial.transfer_settings import check_size
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
    BadInput if A or the partition is none of this D and C, for more samples than memory holds, and
    if v diverges.
    """
    check_attention(A, partition, distribution.D, distribution.C)
    check_size("samples", samples, distribution.D, distribution.d)
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
    distribution: Distribution,
    n: int,
    seed: int = 0,
    partition: str = "scattered",
    base_seed: int = 1,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """n data points of a seed's problem, the one that `pretrain` trains on (Assumption 1).

    Returns X (n, D, d) float32, y (n,) in {-1, 1} and the set index of each patch (D,). Raises
    BadInput for another kind of partition and for more points than memory holds.
    """
    check_size("n", n, distribution.D, distribution.d)
    nothing = Architecture(p=3, nu=0.0, beta=0.0)  # the partition and the feature come before A
    problem = training.initialise(distribution, nothing, 1.0, partition, base_seed, seed)
    rng = stream(base_seed, "spatial.sample", seed)
    X, y = data.sample(distribution, problem.partition, problem.feature, n, rng)
    return X, y, problem.partition


def check_attention(A: np.ndarray, partition: np.ndarray, D: int, C: int) -> None:
    """Raise BadInput unless A is (D, D) and the partition puts D patches into sets of C."""
    require(A.shape == (D, D), "A", A.shape, f"have the shape {(D, D)}")
    right = np.issubdtype(partition.dtype, np.integer) and partition.shape == (D,)
    right = right and partition.min() == 0 and set(np.bincount(partition)) == {C}
    require(right, "partition", partition.tolist(), f"put {D} patches into sets of {C}")
