"""Claims about the gap between transformer and limit: M1, M1b, M5, M6.

Rules and margins are fixed here; docs/meanfield.md says what was known when they were.
"""

from math import exp, inf, log, sqrt

import numpy as np
import pandas as pd

from attention_theory import claims
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, SUPPORTED, Claim, Judgement
from attention_theory.meanfield.verdicts import L_LEAST, all_said, by_place, judge_rate, said
from attention_theory.statistics import CONFIDENCE, Interval, t_interval

FOLD = 0.5  # growth over half the time, in logarithms, of one e-folding over the whole
HALF_WAY = 0.75  # between a sum law, 1, and a law of the minimum, 1 / 2


def judge_depth(gap: pd.DataFrame) -> Judgement:
    """M1: does the gap at M = infinity fall as 1 / L?"""
    rows = gap[(gap.comparison == "depth") & (gap.L >= L_LEAST) & (gap.L < gap.limit)]
    if rows.L.nunique() < 3:
        return claims.not_run(f"fewer than three depths from {L_LEAST} to below the limit's")
    if rows.seed.nunique() < 2:
        return claims.not_run("fewer than two seeds in gap.csv")
    slopes = by_place(rows, "L")
    verdict, decides = judge_rate(slopes, rate=-1)
    measured = (
        f"exponent in L from {rows.L.min()} to {rows.L.max()} at M = infinity: {all_said(slopes)}; "
        "to hold against -1"
    )
    return Judgement(verdict, decides, measured)


def judge_width(gap: pd.DataFrame) -> Judgement:
    """M1b: is sqrt(log L / M) the size of the gap of independent draws, in M and in L?

    Both parts must hold. In L the rate grows at fixed M: contradicted if an exponent is surely
    below 0 (Bonferroni), supported if all are surely above.
    """
    rows = gap[gap.comparison == "independent"]
    if rows.M.nunique() < 3 or rows.L.nunique() < 2:
        return claims.not_run("fewer than three widths at two depths in gap.csv")
    if rows.seed.nunique() < 2:
        return claims.not_run("fewer than two seeds in gap.csv")
    in_M, in_L = by_place(rows, "M"), by_place(rows, "L")
    verdict, decides = judge_rate(in_M, rate=-1 / 2)
    sure = 1 - (1 - CONFIDENCE) / len(in_L)
    falls = [values for values in in_L.values() if t_interval(values, sure).high < 0]
    grows = all(t_interval(values).low > 0 for values in in_L.values())
    if falls:
        parts = CONTRADICTED, t_interval(max(falls, key=np.mean))
    else:
        highest = t_interval(max(in_L.values(), key=np.mean))
        parts = (SUPPORTED if grows else INCONCLUSIVE), highest
    order = (CONTRADICTED, INCONCLUSIVE, SUPPORTED)
    verdict, decides = min((parts, (verdict, decides)), key=lambda part: order.index(part[0]))
    shared = gap[gap.comparison == "shared"]
    least, most = rows.L.min(), rows.L.max()
    grown = sqrt(log(most) / log(least)) if least > 1 else inf
    measured = (
        f"independent draws, exponent in M: {all_said(in_M)}; in L from {least} to {most} at fixed "
        f"M: {all_said(in_L)}, where sqrt(log L) grows {grown:.2f}-fold; draws shared by all "
        f"layers, in L: {all_said(by_place(shared, 'L'))}"
    )
    if falls:
        measured += "; the rate bounds the gap, which is smaller by a power of L"
    return Judgement(verdict, decides, measured)


def judge_growth(horizon: pd.DataFrame) -> Judgement:
    """M5: does the gap of outputs grow super-exponentially in tau?

    The growth of its logarithm in the second half of the time, less that in the first half or FOLD,
    whichever is more: 0 for an exponential, positive for more. The middle and the end are means
    over the quarter of the time before them, because single steps may jump, and growth is scaled
    to half the time. Supported if it is surely positive at one size and kind of prompts
    (Bonferroni), contradicted if it is surely negative at all.
    """
    rows = horizon[horizon.measure != "parameters"]
    if rows.seed.nunique() < 2 or rows.tau.nunique() < 5:
        return claims.not_run("fewer than two seeds or five times in horizon.csv")
    excess, ratios = {}, {}
    for place, own in rows.groupby(["L", "M", "measure"]):
        gaps = np.log(own.pivot(index="tau", columns="seed", values="gap"))
        (at_middle, middle), (at_end, end) = _before(gaps, 1 / 2), _before(gaps, 1)
        first, second = middle - gaps.iloc[0], end - middle
        half = gaps.index[-1] / 2
        rates = first * half / at_middle, second * half / (at_end - at_middle)
        excess[place] = list(rates[1] - np.maximum(rates[0], FOLD))
        ratios[place] = exp(first.mean()), exp(second.mean())
    sure = 1 - (1 - CONFIDENCE) / len(excess)
    more = [p for p, values in excess.items() if t_interval(values, sure).low > 0]
    less = all(t_interval(values).high < 0 for values in excess.values())
    verdict = SUPPORTED if more else CONTRADICTED if less else INCONCLUSIVE
    decides = max(more or excess, key=lambda place: np.mean(excess[place]))
    parameters = horizon[horizon.measure == "parameters"]
    parameters = parameters.pivot_table(index="tau", columns="seed", values="gap")
    grown = (_before(parameters, 1)[1] / _before(parameters, 1 / 2)[1]).mean()
    factors = ", ".join(
        f"{first:.2f} and {second:.2f} ({measure} prompts, L {L}, M {M})"
        for (L, M, measure), (first, second) in ratios.items()
    )
    measured = (
        f"over the first and the second half of tau = 0 to {rows.tau.max():g} the gap of outputs "
        f"changes by factors {factors}; that of parameters by {grown:.2f} over the second half; "
        f"growth of the logarithm beyond an exponential's: {said(t_interval(excess[decides]))}"
    )
    return Judgement(verdict, t_interval(excess[decides]), measured)


def _before(values: pd.DataFrame, share: float) -> tuple[float, pd.Series]:
    """Means over a quarter of the time (the index) up to a share of it: of the time, of columns."""
    end = share * values.index[-1]
    inside = (values.index > end - values.index[-1] / 4) & (values.index <= end)
    return float(values.index[inside].to_numpy().mean()), values[inside].mean()


def misfits(squares: pd.DataFrame) -> dict[str, float]:
    """How far the mean squared gaps (columns M_att, M_mlp, square) lie from the two fitted laws.

    The root mean square of the relative errors of a / M_att + b / M_mlp and of c / min.
    """
    att, mlp, square = (squares[name].to_numpy() for name in ("M_att", "M_mlp", "square"))
    laws = {
        "sum": np.stack([1 / att, 1 / mlp], axis=1),
        "min": (1 / np.minimum(att, mlp))[:, None],
    }
    found = {}
    for name, terms in laws.items():
        relative = terms / square[:, None]
        fitted = np.linalg.lstsq(relative, np.ones(len(square)), rcond=None)[0]
        found[name] = float(np.sqrt(((relative @ fitted - 1) ** 2).mean()))
    return found


def diagonal_ratios(widths: pd.DataFrame) -> pd.DataFrame:
    """gap^2(M, M) / [gap^2(M, inf) + gap^2(inf, M)], a row a seed, M, time and kind of prompts."""
    place = ["tau", "prompts", "seed"]
    finite = widths[np.isfinite(widths.M_att) & np.isfinite(widths.M_mlp)]
    both = finite[finite.M_att == finite.M_mlp].assign(M=lambda rows: rows.M_att)
    attention = widths[np.isinf(widths.M_mlp)].assign(M=lambda rows: rows.M_att)
    mlp = widths[np.isinf(widths.M_att)].assign(M=lambda rows: rows.M_mlp)
    columns = [*place, "M", "gap"]
    found = both[columns].merge(attention[columns], on=[*place, "M"], suffixes=("", "_att"))
    found = found.merge(mlp[columns], on=[*place, "M"], suffixes=("", "_mlp"))
    return found.assign(ratio=found.gap**2 / (found.gap_att**2 + found.gap_mlp**2))


def judge_minimum(widths: pd.DataFrame) -> Judgement:
    """M6: does the smaller of the two widths alone govern the gap?

    By `diagonal_ratios`, geometric means over M: 1/2 if it does, 1 if both add up. Supported if
    surely below HALF_WAY at every time and kind of prompts, contradicted if surely above.
    """
    ratios = diagonal_ratios(widths)
    if ratios.empty or ratios.seed.nunique() < 2:
        return claims.not_run("no equal widths, or fewer than two seeds, in widths.csv")
    intervals = {}
    for place, own in ratios.groupby(["tau", "prompts"]):
        logs = np.log(own.ratio).groupby(own.seed).mean()
        found = t_interval(logs)
        intervals[place] = Interval(*map(exp, found[:3]), found.n)
    if all(interval.low > HALF_WAY for interval in intervals.values()):
        verdict = CONTRADICTED
    else:
        below = all(interval.high < HALF_WAY for interval in intervals.values())
        verdict = SUPPORTED if below else INCONCLUSIVE
    decides = min(intervals.values(), key=lambda interval: interval.estimate)
    last = widths[widths.tau == widths.tau.max()]
    cells = (last.gap**2).groupby([last.M_att, last.M_mlp]).mean().rename("square").reset_index()
    off = misfits(cells)
    told = ", ".join(
        f"{said(interval)} (tau {tau:g}, {prompts} prompts)"
        for (tau, prompts), interval in intervals.items()
    )
    measured = (
        f"gap^2(M, M) / [gap^2(M, inf) + gap^2(inf, M)], 1/2 if the smaller width governs, 1 if "
        f"both add up: {told}; over all pairs a / M_att + b / M_mlp is off by "
        f"{100 * off['sum']:.0f} %, c / min by {100 * off['min']:.0f} %"
    )
    return Judgement(verdict, decides, measured)


CLAIMS = [
    Claim(
        "M1",
        "at M = infinity the error of depth is of order 1 / L",
        "Theorem 3.1, first term (as quoted in the discussion)",
        judge_depth,
    ),
    Claim(
        "M1b",
        "the error of width is of order sqrt(log L / M), and such a rate is to be expected",
        "Theorem 3.1, second term; the authors on its tightness (discussion, Q3)",
        judge_width,
    ),
    Claim(
        "M5",
        "the constants of the error grow super-exponentially with the training time tau",
        "discussion of Theorem 3.1 (Q1): inevitable under its assumptions",
        judge_growth,
    ),
    Claim(
        "M6",
        "with widths M_att and M_mlp of their own, min{M_att, M_mlp} takes the place of M",
        "conjecture in the discussion (Q5)",
        judge_minimum,
    ),
]
