"""Claims on the stated bounds (M3) and on the Lipschitz forms that the discussion quotes (M7).

An inequality is contradicted by one counterexample, computed again from its printed numbers.
`supported` says no more than that the stated search found none: n counts the points evaluated, and
the effect is the largest ratio of left to right side (of an identity: the relative difference; of
a density: the error reached over the one asked for). There is no sampling here, and no interval.
"""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd

from attention_theory import claims
from attention_theory.claims import (
    CONTRADICTED,
    INCONCLUSIVE,
    SUPPORTED,
    Claim,
    Judgement,
)
from attention_theory.meanfield.bounds import BY_NAME, DENSITY, IDENTITY, STATED, Bound
from attention_theory.statistics import Interval, log_log_slope

TIGHT = 0.99  # a sup ratio above it: the constant cannot be improved by more than a hundredth
DEGREE = 4  # a polynomial: |J| grows by no more than this power of |T|_F, where the norm is large
LARGE = 10  # norms from here on
VIOLATED = 1 + 1e-6  # of a quoted bound; below it may be rounding


def judge_bound(bound: Bound) -> Callable[[pd.DataFrame], Judgement]:
    """The judge of one stated bound: a function of bounds.csv."""

    def judge(bounds: pd.DataFrame) -> Judgement:
        rows = bounds[bounds.bound == bound.name]
        if rows.empty:
            return claims.not_run(f"no row {bound.name} in bounds.csv")
        row = rows.iloc[0]
        interval = _searched(row.sup_ratio, row.evaluations, smallest=bound.form == DENSITY)
        # Where a verdict is missing pandas reads True and False as objects.
        verdict = {"True": SUPPORTED, "False": CONTRADICTED}.get(str(row.holds), INCONCLUSIVE)
        describe = {SUPPORTED: _held, CONTRADICTED: _failed, INCONCLUSIVE: _doubtful}[verdict]
        return Judgement(verdict, interval, describe(bound, row, bounds))

    return judge


def _searched(found: float, evaluations: int, smallest: bool = False) -> Interval:
    """What a search found, as an interval for what it searched: a largest value may be larger
    yet, a smallest error smaller. Another seed finds another value."""
    low, high = (0.0, float(found)) if smallest else (float(found), math.inf)
    return Interval(float(found), low, high, int(evaluations))


def _effort(row: pd.Series) -> str:
    what = "networks fitted" if row.form == DENSITY else "evaluations"
    return f"{row.evaluations} {what} (sizes D x N {row.sizes}, {row.seeds} seeds)"


def said_ratio(bound: Bound, ratio: float) -> str:
    """The largest ratio in words, by the form of the statement."""
    if bound.form == IDENTITY:
        return f"relative difference at most {ratio:.1e}"
    if bound.form == DENSITY:
        return f"smallest error {ratio:.2g} times the one asked for"
    if ratio > 1e6:
        return "ratio of the sides unbounded (above 1e6)"
    return f"largest ratio of the sides {ratio:.4g}"


def _held(bound: Bound, row: pd.Series, bounds: pd.DataFrame) -> str:
    tight = bound.form not in (IDENTITY, DENSITY) and row.sup_ratio > TIGHT
    return (
        f"no violation in {_effort(row)}: {said_ratio(bound, row.sup_ratio)}"
        f"{', tight' if tight else ''}"
    )


def _doubtful(bound: Bound, row: pd.Series, bounds: pd.DataFrame) -> str:
    return f"no clear violation and no clear answer in {_effort(row)}: ratio {row.sup_ratio:.8g}"


def _failed(bound: Bound, row: pd.Series, bounds: pd.DataFrame) -> str:
    corrected = bounds[bounds.bound == bound.correction]
    better = ""
    if len(corrected):
        found, its = corrected.iloc[0], BY_NAME[bound.correction]
        outcome = {"True": "survives", "False": "fails"}.get(str(found.holds), "is in doubt")
        better = f"; corrected, {its.statement}: {outcome} ({said_ratio(its, found.sup_ratio)})"
    return (
        f"fails at D = {row.counterexample_D:.0f}, N = {row.counterexample_N:.0f}: "
        f"{compared(bound, row.left, row.right)}; {said_ratio(bound, row.sup_ratio)} in "
        f"{_effort(row)}{better}"
    )


def compared(bound: Bound, left: float, right: float) -> str:
    """Both sides of a counterexample in words."""
    if bound.form == IDENTITY:
        return f"the sides differ by {left:.4g}"
    if bound.form == DENSITY:
        return f"every network errs by {left:.4g} or more, asked for {right:.4g}"
    return f"left {left:.4g}, right {right:.4g}"


def judge_softmax(lipschitz: pd.DataFrame) -> Judgement:
    """M7.R1: does the largest |J| of softmax attention grow like a polynomial of |T|_F?"""
    rows = lipschitz[(lipschitz.attention == "softmax") & (lipschitz.norm >= LARGE)]
    if rows.norm.nunique() < 3:
        return claims.not_run(f"fewer than three norms from {LARGE} in lipschitz.csv")
    slopes, shares = [], []
    for D, own in rows.groupby("D"):
        top = own.groupby("norm").J.max()
        slopes.append(log_log_slope(top.index, top))
        shares.append(2 * np.sqrt(D) * top.iloc[-1] / top.index[-1] ** 2)
    steepest = max(slopes, key=lambda slope: slope.high)
    if steepest.high < DEGREE:
        verdict = SUPPORTED
    else:
        verdict = CONTRADICTED if steepest.low > DEGREE else INCONCLUSIVE
    measured = (
        f"consistent with a polynomial if the exponent is below {DEGREE}: the largest |J| found "
        f"grows as |T|_F^{steepest.slope:.2f} [{steepest.low:.2f}, {steepest.high:.2f}] from "
        f"|T|_F = {rows.norm.min():g} to {rows.norm.max():g}, where it is {min(shares):.2f} to "
        f"{max(shares):.2f} times |T|_F^2 / (2 sqrt D)"
    )
    interval = Interval(steepest.slope, steepest.low, steepest.high, steepest.n)
    return Judgement(verdict, interval, measured)


def judge_l2(lipschitz: pd.DataFrame) -> Judgement:
    """M7.R2: does the largest |J| found of l2 attention stay below sqrt(N log N / D)?"""
    rows = lipschitz[lipschitz.attention == "l2"]
    if rows.empty:
        return claims.not_run("no l2 attention in lipschitz.csv")
    scaled = rows.assign(J=rows.J * np.sqrt(rows.D)).groupby("N").J.max()
    ratio = scaled / np.sqrt(scaled.index * np.log(scaled.index))
    above = ratio.index[ratio > VIOLATED]
    below = ratio.index.difference(above)
    parts = []
    if len(above):
        parts.append(f"fails for N = {', '.join(map(str, above))} (ratio {ratio.max():.2f})")
    if len(below):
        span = f"{ratio[below].max():.2f} to {ratio[below].min():.2f}"
        parts.append(f"survives for N = {', '.join(map(str, below))} (ratio {span})")
    measured = (
        f"with constant 1 it {' and '.join(parts)}; sqrt(D) |J| grows from {scaled.iloc[0]:.2f} at "
        f"N = {scaled.index[0]} to {scaled.iloc[-1]:.2f} at {scaled.index[-1]}, "
        f"{(scaled / np.log(scaled.index)).iloc[-1]:.2f} log N there, whatever |T|_F"
    )
    interval = _searched(ratio.max(), rows.evaluations.sum())
    return Judgement(CONTRADICTED if len(above) else SUPPORTED, interval, measured)


def judge_l1(lipschitz: pd.DataFrame) -> Judgement:
    """M7.R3: the text leaves open of which function, in which norm: no number can settle it."""
    rows = lipschitz[lipschitz.attention == "l1"]
    if rows.empty:
        return claims.not_run("no l1 attention in lipschitz.csv")
    ratio = rows.J / np.sqrt(rows.D * np.log(rows.N))
    measured = (
        "the text names neither the function nor the norm nor a constant; in one reading (logits "
        "-|x_i - x_j|_1, values x_j, spectral norm) the largest |J| found is "
        f"{ratio.max():.2f} times sqrt(D log N), at N = {rows.N[ratio.idxmax()]}"
    )
    interval = _searched(ratio.max(), rows.evaluations.sum())
    return Judgement(INCONCLUSIVE, interval, measured)


CLAIMS = [
    *(
        Claim(f"M3.{bound.name}", bound.statement, bound.where, judge_bound(bound))
        for bound in STATED
    ),
    Claim(
        "M7.R1",
        "phi_T (a bound of |J|) of softmax attention can be sqrt(N / D) + poly(|T|_F)",
        "discussion, answer on Theorem 3.1, quoting [R1]",
        judge_softmax,
    ),
    Claim(
        "M7.R2",
        "phi_T of l2 attention is sqrt(N log N / D), whatever |T|_F (N: tokens)",
        "discussion, answer on Theorem 3.1, quoting [R2]",
        judge_l2,
    ),
    Claim(
        "M7.R3",
        "phi_T of attention with l1 distances could be sqrt(D log N)",
        "discussion, answer on Theorem 3.1, quoting [R3]",
        judge_l1,
    ),
]
