"""Rules that several claims of the study share: exponents over seeds, and what counts as a rate."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, SUPPORTED
from attention_theory.statistics import CONFIDENCE, Interval, t_interval

QUARTER = 0.25  # an exponent is -1, not -1/2 or -3/2, or -1/2, not 0 or -1, if it is that near
L_LEAST = 4  # exponents in depth are fitted from there on


def exponents(rows: pd.DataFrame, x: str, measure: str = "gap") -> list[float]:
    """Each seed's exponent: least squares of log `measure` on log `x`.

    Where sizes besides `x` vary each must have the same values of `x`.
    """
    return [
        float(np.polyfit(np.log(own[x]), np.log(own[measure]), 1)[0])
        for _, own in rows.groupby("seed")
    ]


def by_place(rows: pd.DataFrame, x: str) -> dict[tuple[float, str], list[float]]:
    """The seeds' exponents of the gap in `x`, by (tau, prompts)."""
    return {place: exponents(own, x) for place, own in rows.groupby(["tau", "prompts"])}


def judge_rate(slopes: Mapping[object, list[float]], rate: float) -> tuple[str, Interval]:
    """Is every exponent within QUARTER of a rate? The verdict and the farthest one's interval.

    Supported if every 95 % interval is; contradicted if one lies wholly outside, at a confidence
    that holds for all together (Bonferroni).
    """
    intervals = {place: t_interval(values) for place, values in slopes.items()}
    sure = 1 - (1 - CONFIDENCE) / len(slopes)
    wide = {place: t_interval(values, sure) for place, values in slopes.items()}
    outside = [
        place for place, i in wide.items() if i.low > rate + QUARTER or i.high < rate - QUARTER
    ]
    inside = all(abs(end - rate) < QUARTER for i in intervals.values() for end in (i.low, i.high))
    verdict = CONTRADICTED if outside else SUPPORTED if inside else INCONCLUSIVE
    farthest = max(outside or intervals, key=lambda place: abs(intervals[place].estimate - rate))
    return verdict, intervals[farthest]


def said(interval: Interval, digits: str = ".2f") -> str:
    """`-0.50 [-0.55, -0.45]`."""
    return f"{interval.estimate:{digits}} [{interval.low:{digits}}, {interval.high:{digits}}]"


def all_said(slopes: Mapping[tuple[float, str], list[float]]) -> str:
    """Every place's interval in words."""
    return ", ".join(
        f"{said(t_interval(values))} ({_when(tau)}, {prompts} prompts)"
        for (tau, prompts), values in slopes.items()
    )


def _when(tau: float) -> str:
    return f"tau {tau:g}" if tau else "start"
