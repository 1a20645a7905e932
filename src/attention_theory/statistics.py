"""Intervals, fitted exponents and equivalence tests, each from scipy and each with its n."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """An estimate with its confidence limits and the number of observations behind it."""

    estimate: float
    low: float
    high: float
    n: int


def t_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Student's interval for a mean.

    With one value, or with values that do not differ, the limits are NaN: nothing is known of the
    spread, and [1, 1] would claim that everything is.
    """
    values = np.asarray(values, dtype=float)
    mean, n = float(values.mean()), len(values)
    if n < 2 or np.ptp(values) == 0:
        return Interval(mean, np.nan, np.nan, n)
    half = stats.t.ppf((1 + confidence) / 2, n - 1) * values.std(ddof=1) / np.sqrt(n)
    return Interval(mean, mean - half, mean + half, n)


def bootstrap_interval(
    values: Sequence[float],
    rng: np.random.Generator,
    statistic: Callable = np.mean,
    confidence: float = CONFIDENCE,
    resamples: int = 9999,
) -> Interval:
    """The BCa bootstrap interval of a statistic; equal values give a degenerate interval."""
    values = np.asarray(values, dtype=float)
    estimate, n = float(statistic(values)), len(values)
    if n < 2:
        return Interval(estimate, np.nan, np.nan, n)
    if np.ptp(values) == 0:
        return Interval(estimate, estimate, estimate, n)
    limits = stats.bootstrap(
        (values,), statistic, n_resamples=resamples, confidence_level=confidence, rng=rng
    ).confidence_interval
    return Interval(estimate, float(limits.low), float(limits.high), n)


def wilson_interval(successes: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's interval for a proportion: never [1, 1], even when every trial succeeds."""
    limits = stats.binomtest(int(successes), int(n)).proportion_ci(confidence, method="wilson")
    return Interval(successes / n, float(limits.low), float(limits.high), int(n))


def accuracy_interval(
    accuracies: Sequence[float], tested: int, confidence: float = CONFIDENCE
) -> Interval:
    """The mean accuracy of models, each tested on `tested` samples of its own.

    Student's interval over models, widened to Wilson's over all samples: the first knows of the
    models' spread, the second never gives [1, 1]. With one model it is Wilson's.
    """
    student, n = t_interval(accuracies, confidence), len(accuracies)
    right = round(sum(accuracies) * tested)
    wilson = wilson_interval(right, n * tested, confidence)
    low, high = np.fmin(student.low, wilson.low), np.fmax(student.high, wilson.high)
    return Interval(student.estimate, float(low), float(high), n)


class Slope(NamedTuple):
    """A fitted exponent: y is proportional to x ** slope."""

    slope: float
    error: float
    low: float
    high: float
    n: int


def log_log_slope(x: Sequence[float], y: Sequence[float], confidence: float = CONFIDENCE) -> Slope:
    """Least squares of log y on log x; `error` is the slope's standard error.

    Needs at least three points and positive values (ValueError otherwise).
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(x) < 3 or (x <= 0).any() or (y <= 0).any():
        raise ValueError("a log-log slope needs three or more points with positive coordinates")
    x, y = np.log(x), np.log(y)
    fit = stats.linregress(x, y)
    # From the residuals: linregress gives NaN where y is constant.
    residuals = y - fit.slope * x - fit.intercept
    error = np.sqrt((residuals**2).sum() / (len(x) - 2) / ((x - x.mean()) ** 2).sum())
    half = stats.t.ppf((1 + confidence) / 2, len(x) - 2) * error
    return Slope(*map(float, (fit.slope, error, fit.slope - half, fit.slope + half)), len(x))


class Answer(NamedTuple):
    """A test's p-value and its answer at the stated level."""

    p_value: float
    passed: bool


def not_worse(differences: Sequence[float], margin: float, level: float = 1 - CONFIDENCE) -> Answer:
    """One-sided non-inferiority: is the mean paired difference above -margin?"""
    p = _p_value_above(differences, -margin)
    return Answer(p, p < level)


def equivalent(
    differences: Sequence[float], margin: float, level: float = 1 - CONFIDENCE
) -> Answer:
    """Two one-sided tests: does the mean paired difference lie within (-margin, margin)?"""
    above = _p_value_above(differences, -margin)
    below = _p_value_above(-np.asarray(differences, dtype=float), -margin)
    p = max(above, below)
    return Answer(p, p < level)


def _p_value_above(differences: Sequence[float], bound: float) -> float:
    """The p-value of `mean <= bound`; exact (0 or 1) when the differences do not vary."""
    values = np.asarray(differences, dtype=float)
    if len(values) < 2:
        return np.nan
    if np.ptp(values) == 0:
        return 0.0 if values[0] > bound else 1.0
    return float(stats.ttest_1samp(values, bound, alternative="greater").pvalue)
