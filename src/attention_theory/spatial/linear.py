"""Linear models on the structured distribution (experiment 5, Theorem 3.1).

Learned ones: logistic regression on the patches, logistic regression and a small network on their
sum (a generalised linear model phi(<v, sum_j X_j>), phi free). Exact ones: equal and perturbed
weights along w*, and the labelling function f* itself.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from attention_theory import step, tables
from attention_theory.progress import Progress
from attention_theory.spatial import columns, exact, settings
from attention_theory.spatial import distribution as data
from attention_theory.spatial.settings import Distribution
from attention_theory.streams import stream

PENALTIES = (1e-3, 1e-2, 1e-1)  # inverse strengths, the best on validation data is taken
EXACT: dict[str, Callable[[Distribution], float]] = {
    "equal weights": exact.equal_weights_error,
    "perturbed weights": exact.perturbed_weights_error,
    "labelling function": exact.labelling_function_error,
}
LEARNED = ("logistic regression", "logistic regression on the sum", "network on the sum")


def main(
    distribution: Distribution,
    N: Annotated[int, typer.Option("--N", min=100, help="number of training samples")],
    test: Annotated[int, typer.Option(min=1, help="number of test samples")],
    seeds: Annotated[int, typer.Option(min=1, help="number of seeds: 0, 1, ...")],
    base_seed: step.BaseSeed,
    table: Annotated[Path, typer.Option(help="CSV, a row a classifier and seed")],
    threads: step.Threads = 1,
    provenance: step.Provenance = None,
) -> None:
    """Fit linear models at one q and compute the exact errors of fixed ones."""
    setting = f"q={distribution.q!r}"
    common = settings.as_columns(distribution) | {"N": N}
    with (
        step.record(
            provenance,
            "spatial.linear",
            setting,
            base_seed=base_seed,
            seeds=range(seeds),
            threads=threads,
        ),
        threadpool_limits(threads),
        Progress(f"spatial.linear {setting}", seeds) as progress,
    ):
        rows = [
            # An exact error depends on no sample and no seed: N 0, seed -1.
            common | {"N": 0, "seed": -1, "classifier": name, "error": error(distribution)}
            for name, error in EXACT.items()
        ]
        for seed in range(seeds):
            errors = learned_errors(distribution, N, test, base_seed, seed)
            rows += [
                common | {"seed": seed, "classifier": name, "error": error}
                for name, error in errors.items()
            ]
            progress.advance()
        tables.write(table, rows, columns.LINEAR)


def learned_errors(
    distribution: Distribution, N: int, test: int, base_seed: int, seed: int
) -> dict[str, float]:
    """The test errors of the learned classifiers on one draw of feature and data.

    A quarter of the N samples is held out to choose the penalty and to stop the network.
    """
    index = (f"{distribution.q!r}", seed)
    rng = stream(base_seed, "spatial.linear", *index)
    partition = data.draw_partition("contiguous", distribution, rng)
    feature = data.draw_feature(distribution.d, rng)
    X, y = data.sample(distribution, partition, feature, N, rng)
    X_test, y_test = data.sample(distribution, partition, feature, test, rng)
    flat, flat_test = X.reshape(N, -1), X_test.reshape(test, -1)
    total, total_test = X.sum(axis=1), X_test.sum(axis=1)
    network = make_pipeline(
        StandardScaler(),
        MLPClassifier(
            (32,),
            early_stopping=True,
            validation_fraction=0.25,
            random_state=int(rng.integers(2**31)),
        ),
    )
    models = {
        LEARNED[0]: (_logistic_regression(flat, y), flat_test),
        LEARNED[1]: (_logistic_regression(total, y), total_test),
        LEARNED[2]: (network.fit(total, y), total_test),
    }
    return {name: float(np.mean(m.predict(x) != y_test)) for name, (m, x) in models.items()}


def _logistic_regression(X: np.ndarray, y: np.ndarray) -> LogisticRegression:
    """Logistic regression with the penalty that does best on the last quarter, refitted on all."""
    held_out = len(y) // 4
    scores = {}
    for penalty in PENALTIES:
        model = LogisticRegression(C=penalty).fit(X[:-held_out], y[:-held_out])
        scores[penalty] = model.score(X[-held_out:], y[-held_out:])
    return LogisticRegression(C=max(scores, key=scores.get)).fit(X, y)


if __name__ == "__main__":
    step.run(main)
