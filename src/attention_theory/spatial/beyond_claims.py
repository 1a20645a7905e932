"""Claims behind experiment 8: encodings in place of A, models without association, planted sets.

Rules and margins are fixed here; docs/spatial.md says what was known when they were.
"""

import math

import pandas as pd

from attention_theory import claims
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, SUPPORTED, Claim, Judgement
from attention_theory.spatial.verdicts import ACCURACY, judge_share
from attention_theory.statistics import (
    CONFIDENCE,
    Interval,
    Slope,
    accuracy_interval,
    log_log_slope,
)

# A distance that falls slower than C^-FLAT over the sizes tried is not taken to vanish.
FLAT = 0.05
ENOUGH = 2  # the degree of q m in C above which the distance should vanish


def judge_encodings(encodings: pd.DataFrame) -> Judgement:
    """P1: T4.2a's rule where orthonormal encodings P are trained, A = P^T P diagonal and all."""
    kinds = encodings.groupby(["parametrisation", "diagonal", "m"], sort=False)
    runs = {kind: rows for kind, rows in kinds if kind[:2] == ("orthonormal", "free")}
    if not runs:
        return claims.not_run("no orthonormal encodings with a free diagonal in encodings.csv")
    judgement = claims.worst([judge_share(rows) for rows in runs.values()])
    others = [
        f"{parametrisation} P, diagonal {diagonal}, m = {m}: "
        f"{int((rows.patch_association == 1).sum())} of {len(rows)}"
        for (parametrisation, diagonal, m), rows in kinds
        if (parametrisation, diagonal, m) not in runs
    ]
    measured = f"orthonormal P, A = P^T P: {judgement.measured}"
    return Judgement(judgement.verdict, judgement.interval, "; ".join([measured, *others]))


def judge_necessity(unassociated: pd.DataFrame) -> Judgement:
    """T4.2d: does every model (a row) without any patch associated fail to generalise?

    One that is surely above .99 contradicts; all must be surely below to support. Each has Wilson's
    interval over its test samples, at a confidence that holds for all together (Bonferroni): the
    best of many is looked for.
    """
    models = unassociated[unassociated.patch_association == 0]
    if models.empty:
        return claims.not_run("no model without association in unassociated.csv")
    confidence = 1 - (1 - CONFIDENCE) / len(models)
    found = pd.DataFrame(
        [
            accuracy_interval([accuracy], int(test), confidence)
            for accuracy, test in zip(models.accuracy, models.test, strict=True)
        ],
        index=models.index,
    )
    above = found.low > ACCURACY
    decides = found.low.idxmax() if above.any() else found.high.idxmax()
    if above.any():
        verdict = CONTRADICTED
    else:
        verdict = SUPPORTED if found.high[decides] < ACCURACY else INCONCLUSIVE
    sentence = ", ".join(
        f"{above[rows.index].sum()} of {len(rows)} {kind}, highest {_best(rows)}"
        for kind, rows in models.groupby("kind", sort=False)
    )
    measured = f"models without association that are surely above {ACCURACY}: {sentence}"
    model = found.loc[decides]
    return Judgement(verdict, Interval(model.estimate, model.low, model.high, 1), measured)


def _best(models: pd.DataFrame) -> str:
    """The most accurate of several models, in words."""
    model = models.loc[models.accuracy.idxmax()]
    start = "" if math.isnan(model.g_0) else f", beta = {model.beta:g}, g_0 = {model.g_0:g}"
    return f"{model.accuracy:.4f} (D = {model.D}{start})"


def judge_closeness(planted: pd.DataFrame) -> Judgement:
    """A1: does the distance vanish at q m = C^degree for every degree tried, from 1 on?"""
    return _judge_closeness(planted, at_least=1)


def judge_closeness_above(planted: pd.DataFrame) -> Judgement:
    """A1b: does it vanish for every degree tried above 2?"""
    return _judge_closeness(planted, at_least=math.nextafter(ENOUGH, math.inf))


def _judge_closeness(planted: pd.DataFrame, at_least: float) -> Judgement:
    """Does TV(D_1, D_2) fall as a power of C at each degree?

    It vanishes if the fitted exponent is surely below -FLAT, and stays if it is surely above. One
    degree at which it stays contradicts; it must vanish at all of them to support.
    """
    rows = planted[(planted.curve == "degree") & (planted.degree >= at_least)]
    if rows.empty or rows.groupby("degree").C.nunique().min() < 3:
        return claims.not_run("no degree with three sizes C in planted.csv")
    slopes = {degree: log_log_slope(one.C, one.tv) for degree, one in rows.groupby("degree")}
    stays = [degree for degree, slope in slopes.items() if slope.low > -FLAT]
    if stays:
        verdict, decides = CONTRADICTED, max(stays)
    else:
        decides = max(slopes, key=lambda degree: slopes[degree].high)
        verdict = SUPPORTED if slopes[decides].high < -FLAT else INCONCLUSIVE
    sentence = ", ".join(_fall(rows, degree, slope) for degree, slope in slopes.items())
    measured = f"total variation from C = {rows.C.min()} to {rows.C.max()}: {sentence}"
    slope = slopes[decides]
    return Judgement(verdict, Interval(slope.slope, slope.low, slope.high, slope.n), measured)


def _fall(rows: pd.DataFrame, degree: float, slope: Slope) -> str:
    """How the distance goes at one degree, in words."""
    ends = rows[rows.degree == degree].sort_values("C").tv
    first, last = ends.iloc[0], ends.iloc[-1]
    return f"{first:.3f} to {last:.3f} at degree {degree:g} (exponent {slope.slope:.2f})"


CLAIMS = [
    Claim(
        "T4.2d",
        "patch association is needed to generalise: without it the model would only be a "
        "generalised linear model",
        "end of Sec. 4.1, on Theorem 4.1",
        judge_necessity,
    ),
    Claim(
        "P1",
        "gradient descent on positional encodings P, A = P^T P, performs patch association as it "
        "does on A",
        "Sec. 3 simplifies P away; Theorem 4.2, Definition 2.2",
        judge_encodings,
    ),
    Claim(
        "A1",
        "samples without and with a planted set (D_1, D_2) are close when q m is a polynomial in "
        "the set's size C, here of any degree from 1 on",
        "end of Appendix F",
        judge_closeness,
    ),
    Claim(
        "A1b",
        f"D_1 and D_2 are close when q m is a polynomial in C of degree above {ENOUGH}",
        "end of Appendix F, with the degree that we find it to need",
        judge_closeness_above,
    ),
]
