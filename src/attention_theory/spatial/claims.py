"""Claims of 'Vision Transformers provably learn spatial structure' about the realistic problem.

Rules and margins are fixed here; docs/spatial.md says what was known when they were.
"""

import pandas as pd

from attention_theory import claims
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, SUPPORTED, Claim, Judgement
from attention_theory.spatial import (
    beyond_claims,
    coupling_claims,
    gaussian_claims,
    population_claims,
    transfer_claims,
)
from attention_theory.spatial.inputs import INPUTS
from attention_theory.spatial.verdicts import ACCURACY, judge_share
from attention_theory.statistics import CONFIDENCE, Interval, accuracy_interval, t_interval

EIGHTH = 1 / 8
MANY = 5  # spurious features per informative one from which they count as "far more"
LINEAR = (
    "logistic regression",
    "logistic regression on the sum",
    "network on the sum",
    "equal weights",
    "perturbed weights",
)


def judge_linear(linear: pd.DataFrame) -> Judgement:
    """T3.1 where spurious features are far more than informative ones."""
    return _judge_linear(linear[linear.q * linear.D >= MANY * linear.C - 1e-9])


def judge_linear_boundary(linear: pd.DataFrame) -> Judgement:
    """T3.1b where they are only several times more."""
    return _judge_linear(linear[linear.q * linear.D < MANY * linear.C - 1e-9])


def _judge_linear(linear: pd.DataFrame) -> Judgement:
    """Is the error of every linear classifier that was tried above 1/8, in every setting?

    One that is surely below contradicts; all must be surely above to support. An exact error is
    sure; a learned one has Student's interval over seeds, at a confidence that holds for all
    learned ones together (Bonferroni).
    """
    if linear.empty:
        return claims.not_run("no setting of the linear models in this range of q D")
    errors = _errors(linear[linear.classifier.isin(LINEAR)])
    below = [place for place, error in errors.items() if error.high < EIGHTH]
    if below:
        verdict, decides = CONTRADICTED, min(below, key=lambda place: errors[place].high)
    else:
        decides = min(errors, key=lambda place: errors[place].estimate)
        above = all(error.low > EIGHTH for error in errors.values())
        verdict = SUPPORTED if above else INCONCLUSIVE
    lowest: dict[float, str] = {}
    for (q_D, name), error in sorted(errors.items(), key=lambda item: item[1].estimate):
        lowest.setdefault(q_D, f"{error.estimate:.4f} at q D = {q_D:g} ({name})")
    sentence = ", ".join(lowest[q_D] for q_D in sorted(lowest))
    measured = f"lowest error of a linear classifier tried: {sentence}; to hold against .125"
    return Judgement(verdict, errors[decides], measured)


def _errors(linear: pd.DataFrame) -> dict[tuple[float, str], Interval]:
    """The error of each linear classifier, by (q D, name)."""
    groups = {
        (round(q * D, 9), name): rows
        for (q, D, name), rows in linear.groupby(["q", "D", "classifier"])
    }
    learned = sum((rows.seed >= 0).all() for rows in groups.values())
    confidence = 1 - (1 - CONFIDENCE) / max(learned, 1)
    return {
        place: t_interval(rows.error, confidence) if (rows.seed >= 0).all() else _exact(rows.error)
        for place, rows in groups.items()
    }


def _exact(errors: pd.Series) -> Interval:
    error = float(errors.iloc[0])
    return Interval(error, error, error, 1)


def judge_association(pretraining: pd.DataFrame) -> Judgement:
    """T4.2a: in how many seeds is every patch associated with its set at the end?"""
    runs = pretraining[pretraining.sweep == "main"]
    if runs.empty:
        return claims.not_run("no main setting in pretraining.csv")
    return judge_share(runs)


def judge_generalisation(pretraining: pd.DataFrame) -> Judgement:
    """T4.2b: is the test accuracy above .99 over seeds?"""
    runs = pretraining[pretraining.sweep == "main"]
    if runs.empty:
        return claims.not_run("no main setting in pretraining.csv")
    interval = accuracy_interval(runs.accuracy, int(runs.test.iloc[0]))
    verdict = claims.verdict(interval, supported_above=ACCURACY, contradicted_below=ACCURACY)
    measured = (
        f"test accuracy {interval.estimate:.4f} over {interval.n} seeds, "
        f"lowest {runs.accuracy.min():.4f}; to hold against {ACCURACY}"
    )
    return Judgement(verdict, interval, measured)


CLAIMS = [
    Claim(
        "T3.1",
        "generalised linear models err on at least 1/8 of the data when spurious features are "
        f"far more than informative ones (here q D >= {MANY} C)",
        "Theorem 3.1, Assumption 2",
        judge_linear,
    ),
    Claim(
        "T3.1b",
        f"the same bound with fewer spurious features (here q D < {MANY} C), where the theorem's "
        "asymptotics give no promise",
        "Theorem 3.1, at finite size",
        judge_linear_boundary,
    ),
    *population_claims.CLAIMS,
    *coupling_claims.CLAIMS,
    Claim(
        "T4.2a",
        "gradient descent on the empirical risk, from random initialisation, performs patch "
        "association with high probability",
        "Theorem 4.2, Definition 2.2",
        judge_association,
    ),
    Claim(
        "T4.2b",
        "the model so trained fits the labelling function: its test error is small",
        "Theorem 4.2",
        judge_generalisation,
    ),
    *transfer_claims.CLAIMS,
    *gaussian_claims.CLAIMS,
    *beyond_claims.CLAIMS,
]

if __name__ == "__main__":
    claims.run("spatial", CLAIMS, INPUTS)
