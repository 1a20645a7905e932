"""Gradient descent on (E): determinism, stopping, divergence."""

from dataclasses import replace

import numpy as np
import pytest
from cases import ARCHITECTURE, DESCENT, SMALL

from attention_theory.errors import BadInput
from attention_theory.spatial import training
from attention_theory.spatial.settings import Architecture, Distribution


def run(descent=DESCENT, seed=0, base_seed=1, partition="scattered"):
    problem = training.initialise(SMALL, ARCHITECTURE, descent.omega, partition, base_seed, seed)
    return problem, training.train(problem, SMALL, ARCHITECTURE, descent, base_seed, seed)


def test_the_same_seed_gives_the_same_bytes_and_another_does_not():
    (_, one), (_, two), (_, other) = run(), run(), run(seed=1)
    assert one.A.tobytes() == two.A.tobytes() and one.v.tobytes() == two.v.tobytes()
    assert one.trajectory == two.trajectory and one.accuracy == two.accuracy
    assert other.A.tobytes() != one.A.tobytes()
    assert run(base_seed=2)[1].A.tobytes() != one.A.tobytes()


def test_training_lowers_the_loss_and_leaves_the_start_alone():
    problem, trained = run(replace(DESCENT, steps=20, patience=20))
    losses = [row["train_loss"] for row in trained.trajectory]
    assert losses[-1] < losses[0]
    assert np.all(np.diag(trained.A) == ARCHITECTURE.beta)
    assert np.abs(problem.A[~np.eye(12, dtype=bool)]).max() < 10 * DESCENT.omega
    assert [row["step"] for row in trained.trajectory] == list(range(0, 21, 2))


def test_a_last_step_off_the_grid_is_still_observed():
    _, trained = run(replace(DESCENT, steps=5, patience=9))
    assert [row["step"] for row in trained.trajectory] == [0, 2, 4, 5] and trained.steps == 5


def test_training_stops_when_validation_does_not_improve():
    descent = replace(DESCENT, N=8, validation=2000, steps=2000, every=1, patience=5, eta_A=20.0)
    _, trained = run(descent)
    losses = [row["validation_loss"] for row in trained.trajectory]
    assert trained.steps < 2000
    assert int(np.argmin(losses)) == len(losses) - 1 - 5


@pytest.mark.parametrize("change", [{"eta_v": 1e4}, {"eta_v": 1e30}])
def test_divergence_names_step_setting_and_seed(change):
    with pytest.raises(BadInput, match=r"training: step \d+, seed 0: the loss is"):
        run(replace(DESCENT, steps=200, **change))


def test_the_mean_of_A_within_and_across_sets():
    partition = np.array([0, 1, 0, 1])
    A = np.array([[9, 1, 5, 1], [1, 9, 1, 6], [5, 1, 9, 1], [1, 6, 1, 9]], dtype=float)
    assert training.means(A, partition) == (5.5, 1.0)


def test_the_structure_is_learned_at_small_size():
    """The whole experiment in a second: every patch finds its set, and the labels are fitted."""
    distribution = Distribution(D=20, C=4, d=8, q=0.3)
    architecture = Architecture(p=3, nu=0.1, beta=2.0)
    descent = replace(
        DESCENT,
        omega=1e-3,
        N=4000,
        eta_v=1e-3,
        eta_A=20.0,
        steps=300,
        every=5,
        patience=6,
        validation=2000,
        test=5000,
    )
    problem = training.initialise(distribution, architecture, descent.omega, "scattered", 1, 0)
    trained = training.train(problem, distribution, architecture, descent, 1, 0)
    assert trained.trajectory[-1]["patch_association"] == 1
    assert trained.accuracy > 0.97
    assert trained.trajectory[-1]["gamma"] > 1 > trained.trajectory[-1]["rho"]
