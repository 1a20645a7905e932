"""Claims of experiments 3 and 4: invariance (Lemmas 4.1, 4.2), realistic close to idealised.

A finite sample breaks every symmetry, so that both lemmas are judged by how its effect falls with
N. Their induction step is the gradient at a symmetric point: there it is a mean over the sample,
off by N^-1/2 if the population's is symmetric, while a defect of the population's would stay. Over
training these deviations grow with A itself, and at small N by more than in proportion; of a
trained A and v it is only asked that they fall. Rules and margins are fixed here; docs/spatial.md
says what was known when they were.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from attention_theory import claims
from attention_theory.claims import (
    CONTRADICTED,
    INCONCLUSIVE,
    NOT_RUN,
    SUPPORTED,
    Claim,
    Judgement,
)
from attention_theory.statistics import CONFIDENCE, Interval, Slope, log_log_slope

RATE = -0.5  # the exponent of a mean's error in the number of samples
MARGIN = 0.15  # a defect 1.6 times the sampling error at the largest of seven N, 500 to 32000
CLOSES = -0.25  # a distance that falls slower, half as fast as a mean's error, does not close


def judge_three_valued(invariance: pd.DataFrame, coupling: pd.DataFrame) -> Judgement:
    """L4.1: do the entries of A differ within a class by sampling error alone?"""
    ended = _ended(coupling, "symmetric")
    return _both(
        _induction_step("A's gradient within a class", invariance, "d_gamma_spread d_rho_spread"),
        _falls(
            "A within a class", ended, {"within": ended.gamma_spread, "across": ended.rho_spread}
        ),
    )


def judge_parallel(invariance: pd.DataFrame, coupling: pd.DataFrame) -> Judgement:
    """L4.2: does v leave the direction of w* by sampling error alone?"""
    ended = _ended(coupling, "symmetric")
    ratio = ended.v_orthogonal / ended.alpha.abs()
    return _both(
        _induction_step("v's gradient across w*", invariance, "d_orthogonal"),
        _falls("|v_perp| / |alpha|", ended, {"": ratio}),
    )


def _induction_step(what: str, invariance: pd.DataFrame, measures: str) -> Judgement:
    """Do these parts of the gradient at symmetric points fall as N^-1/2?

    Contradicted if one exponent surely leaves more than RATE + MARGIN, at a confidence that holds
    for all together (Bonferroni); supported if each one's own 95 % interval lies within MARGIN.
    """
    if invariance.N.nunique() < 3:
        return claims.not_run("fewer than three numbers of samples in invariance.csv")
    values = {
        (step, measure): (rows.N, rows[measure])
        for step, rows in invariance.groupby("step")
        for measure in measures.split()
    }
    slopes = {place: log_log_slope(*points) for place, points in values.items()}
    together = 1 - (1 - CONFIDENCE) / len(values)
    stays = [
        place
        for place, points in values.items()
        if log_log_slope(*points, together).low > RATE + MARGIN
    ]
    if stays:
        verdict = CONTRADICTED
    else:
        inside = all(abs(end - RATE) < MARGIN for s in slopes.values() for end in (s.low, s.high))
        verdict = SUPPORTED if inside else INCONCLUSIVE
    decides = slopes[max(stays or slopes, key=lambda place: slopes[place].high)]
    lowest, highest = (f(slope.slope for slope in slopes.values()) for f in (min, max))
    steps = ", ".join(f"{step}" for step in sorted(invariance.step.unique()))
    measured = (
        f"{what} falls as N^{lowest:.2f} to N^{highest:.2f} from N = {invariance.N.min()} to "
        f"{invariance.N.max()} at the idealised process's steps {steps} (highest {_said(decides)}; "
        f"expected {RATE:g}, margin {MARGIN:g})"
    )
    return Judgement(verdict, _interval(decides), measured)


def _falls(what: str, ended: pd.DataFrame, parts: Mapping[str, pd.Series]) -> Judgement:
    """Do these, after training from a symmetric start, fall with N?"""
    if ended.N.nunique() < 3:
        return claims.not_run("fewer than three numbers of samples in coupling.csv")
    slopes = {part: log_log_slope(ended.N, values) for part, values in parts.items()}
    decides = max(slopes.values(), key=lambda slope: slope.high)
    verdict = _below(decides, 0)
    said = ", ".join(f"{part} {_said(slope)}".strip() for part, slope in slopes.items())
    measured = f"after {ended.step.iloc[0]} steps {what} falls with exponent {said}"
    return Judgement(verdict, _interval(decides), measured)


def judge_closeness(coupling: pd.DataFrame) -> Judgement:
    """T4.2c: does the realistic process end nearer to the idealised one, the larger N?"""
    ended = _ended(coupling, "gaussian")
    if ended.N.nunique() < 3:
        return claims.not_run("fewer than three numbers of samples in coupling.csv")
    slope = log_log_slope(ended.N, ended.distance)
    goal = _ended(coupling, "idealised").iloc[0]
    size = np.linalg.norm((goal.D * goal.alpha, goal.gamma, goal.rho))
    by_N = ended.groupby("N").distance.mean()
    measured = (
        f"after {goal.step} steps the distance in (alpha D, gamma, rho) is {by_N.iloc[0]:.2f} at "
        f"N = {by_N.index[0]:.0f} and {by_N.iloc[-1]:.2f} at {by_N.index[-1]:.0f}, of a length of "
        f"{size:.2f}; exponent {_said(slope)} (closes below {CLOSES:g})"
    )
    return Judgement(_below(slope, CLOSES), _interval(slope), measured)


def _ended(coupling: pd.DataFrame, process: str) -> pd.DataFrame:
    """The last step of a process's runs."""
    runs = coupling[coupling.process == process]
    return runs[runs.step == runs.step.max()]


def _both(*parts: Judgement) -> Judgement:
    """Parts that must all hold and all be run: the worst decides, every part is told."""
    for part in parts:
        if part.verdict == NOT_RUN:
            return part
    decides = claims.worst(parts)
    measured = "; ".join(part.measured for part in parts)
    return Judgement(decides.verdict, decides.interval, measured)


def _below(slope: Slope, bound: float) -> str:
    """Supported if the whole interval lies below a bound, contradicted if it lies above."""
    if slope.high < bound:
        return SUPPORTED
    return CONTRADICTED if slope.low > bound else INCONCLUSIVE


def _interval(slope: Slope) -> Interval:
    return Interval(slope.slope, slope.low, slope.high, slope.n)


def _said(slope: Slope) -> str:
    return f"{slope.slope:.2f} [{slope.low:.2f}, {slope.high:.2f}]"


CLAIMS = [
    Claim(
        "L4.1",
        "gradient descent on the population risk keeps A three-valued: beta on the diagonal, gamma "
        "within sets, rho across",
        "Lemma 4.1, Appendix I",
        judge_three_valued,
    ),
    Claim(
        "L4.2",
        "gradient descent on the population risk keeps v parallel to w*",
        "Lemma 4.2, Appendix I",
        judge_parallel,
    ),
    Claim(
        "T4.2c",
        "the realistic process stays close to the idealised one, given enough samples",
        "Theorem 4.2, Appendix E",
        judge_closeness,
    ),
]
