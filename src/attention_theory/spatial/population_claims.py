"""Claims about the idealised process (P): Theorem 4.1, Lemma 4.3 and the three events.

All but T4.1b rest on trajectories without sampling noise (enumerated or by quadrature), whatever
the seed. Rules and margins are fixed here; docs/spatial.md says what was known when they were.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from attention_theory import claims
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, SUPPORTED, Claim, Judgement
from attention_theory.spatial import events
from attention_theory.spatial.exact import labelling_function_error
from attention_theory.spatial.population_settings import SEPARATED
from attention_theory.spatial.settings import Distribution
from attention_theory.spatial.verdicts import ACCURACY
from attention_theory.statistics import Interval

# |rho| = O(1), read as at most 1: exp(rho) then changes Xi by less than a factor e. The reading is
# rough, so that a tenth to either side decides nothing.
BOUNDED, ROUGH = 1.0, 0.1
GROWS = 1e-3  # relative growth, or decline, of alpha in Event III that counts
UNDECIDED = 0.01  # share of steps that may lie within the numerical error
SMALL = (1 - ACCURACY) / 2  # f* itself errs less often than that where T4.1b is judged

Trajectories = dict[str, pd.DataFrame]


def _exact(population: pd.DataFrame) -> Trajectories:
    """The trajectories without sampling noise and with a diagonal: at beta = 0 A never moves."""
    chosen = population[(population.method != "monte-carlo") & (population.beta > 0)]
    return {
        name: rows.sort_values("step") for name, rows in chosen.groupby("trajectory", sort=False)
    }


def _sure(effect: float, n: int) -> Interval:
    """The interval of a number that is not sampled: none."""
    return Interval(float(effect), np.nan, np.nan, n)


def judge_association(population: pd.DataFrame) -> Judgement:
    """T4.1a: where f* itself rarely errs, do beta and gamma end above rho in every trajectory?"""
    last = [rows.iloc[-1] for rows in _exact(population).values()]
    gaps = {row.trajectory: min(row.beta, row.gamma) - row.rho for row in last}
    judged = {row.trajectory: gaps[row.trajectory] for row in last if _bayes(row) < SMALL}
    if not judged:
        return claims.not_run("no trajectory with a small error of f* in population.csv")
    values = np.array(list(judged.values()))
    verdict = SUPPORTED if (values > SEPARATED).all() else INCONCLUSIVE
    if (values < -SEPARATED).any():
        verdict = CONTRADICTED
    lowest = min(judged, key=judged.__getitem__)
    measured = (
        f"every patch associated with its set at the end of {(values > SEPARATED).sum()} of "
        f"{len(judged)} trajectories; smallest gap between an entry within a set and one across: "
        f"{judged[lowest]:.2f} ({lowest})"
    )
    rest = {name: gap for name, gap in gaps.items() if name not in judged}
    if rest:
        named = ", ".join(f"{gap:.2f} ({name})" for name, gap in rest.items())
        measured += f"; where f* errs more: {named}"
    return Judgement(verdict, _sure(judged[lowest], len(judged)), measured)


def judge_risk(population: pd.DataFrame) -> Judgement:
    """T4.1b: is the test error surely below .01 wherever f* itself errs less than half as often?"""
    last = [rows.iloc[-1] for rows in _exact(population).values()]
    judged = [row for row in last if _bayes(row) < SMALL]
    if not judged:
        return claims.not_run("no trajectory with a small error of f* in population.csv")
    bound = 1 - ACCURACY
    decides = max(judged, key=lambda row: row.error_high)
    above = [row.trajectory for row in judged if row.error_low > bound]
    verdict = SUPPORTED if decides.error_high < bound else INCONCLUSIVE
    if above:
        verdict = CONTRADICTED
        decides = max(judged, key=lambda row: row.error_low)
    rest = "; where f* errs more: " + ", ".join(
        f"{row.error:.4f} ({row.trajectory}, f* {_bayes(row):.4f})"
        for row in last
        if _bayes(row) >= SMALL
    )
    measured = "final test error and risk: " + ", ".join(
        f"{row.error:.4f}, {row.risk:.2g} ({row.trajectory})" for row in judged
    )
    interval = Interval(decides.error, decides.error_low, decides.error_high, len(judged))
    return Judgement(verdict, interval, measured + (rest if len(judged) < len(last) else ""))


def _bayes(row: pd.Series) -> float:
    """The error of the labelling function f* itself in a trajectory's setting, exact."""
    return labelling_function_error(Distribution(int(row.D), int(row.C), 2, float(row.q)))


def judge_increments(population: pd.DataFrame) -> Judgement:
    """L4.3: does gamma grow at least as much as rho at every step?"""
    return _judge_steps(population, "rho", "gamma grew less than rho")


def judge_monotone(population: pd.DataFrame) -> Judgement:
    """L4.3b: does gamma never fall?"""
    return _judge_steps(population, None, "gamma fell")


def _judge_steps(population: pd.DataFrame, other: str | None, failing: str) -> Judgement:
    """Is gamma's increment, less `other`'s, nowhere negative beyond the numerical error?

    One step at which it is contradicts. Steps within the error decide nothing; there must be few.
    """
    trajectories = _exact(population)
    if not trajectories:
        return claims.not_run("no trajectory with beta > 0 in population.csv")
    failures, steps, undecided, lowest = {}, 0, 0, np.inf
    for name, rows in trajectories.items():
        excess, error = np.diff(rows.gamma), rows.d_gamma_error.to_numpy()[:-1]
        if other:
            excess = excess - np.diff(rows[other])
            error = error + rows[f"d_{other}_error"].to_numpy()[:-1]
        error = error * rows.eta_A.iloc[0]
        surely = excess < -error
        steps += len(excess)
        undecided += int((np.abs(excess) <= error).sum())
        lowest = min(lowest, excess.min(initial=np.inf))
        if surely.any():
            failures[name] = surely
    where = ", ".join(
        f"{name} ({fails.sum()} of {len(fails)} steps, the first {np.flatnonzero(fails)[0]})"
        for name, fails in failures.items()
    )
    share = f"of {steps} steps of {len(trajectories)} trajectories"
    measured = f"{failing} in {sum(map(np.sum, failures.values()))} {share}"
    measured += f": {where}" if failures else f"; smallest excess {lowest:.2g}"
    measured += f"; {undecided} steps within the numerical error"
    verdict = SUPPORTED if undecided <= UNDECIDED * steps else INCONCLUSIVE
    return Judgement(CONTRADICTED if failures else verdict, _sure(lowest, steps), measured)


def judge_bounded(population: pd.DataFrame) -> Judgement:
    """L4.3c: does |rho| stay at most 1 along every trajectory?"""
    largest = {name: float(rows.rho.abs().max()) for name, rows in _exact(population).items()}
    excess = {name: value / BOUNDED - 1 for name, value in largest.items()}
    what = f"largest |rho|, to hold against {BOUNDED:g}"
    return _judge_each(largest, excess, ROUGH, what, max)


def judge_regrowth(population: pd.DataFrame) -> Judgement:
    """EV.b: is alpha larger where the risk has fallen (T2, or the end) than where it begins to?"""
    grown = {}
    for name, rows in _exact(population).items():
        found = events.find(rows)
        if found.T1 is not None:
            alpha = rows.set_index("step").alpha
            end = found.T2 if found.T2 is not None else alpha.index[-1]
            grown[name] = float(alpha[end] / alpha[found.T1] - 1)
    if not grown:
        return claims.not_run("the risk falls on no trajectory in population.csv")
    # More than a thousandth of growth, or of decline; less decides nothing.
    shortfall = {name: -value for name, value in grown.items()}
    what = "growth of alpha in Event III"
    return _judge_each(grown, shortfall, GROWS, what, min)


def _judge_each(
    found: Mapping[str, float],
    excess: Mapping[str, float],
    doubt: float,
    what: str,
    worst: Callable,
) -> Judgement:
    """A number of each trajectory, and by how much it exceeds what the claim allows.

    More than `doubt` above contradicts; all must be as much below to support. Those that fail are
    named.
    """
    if not found:
        return claims.not_run("no trajectory with beta > 0 in population.csv")
    fails = [name for name in found if excess[name] > doubt]
    named = ", ".join(f"{found[name]:.3f} ({name})" for name in fails or found)
    verdict = SUPPORTED if max(excess.values()) <= -doubt else INCONCLUSIVE
    measured = f"fails in {len(fails)} of {len(found)} trajectories; {what}: {named}"
    interval = _sure(worst(found.values()), len(found))
    return Judgement(CONTRADICTED if fails else verdict, interval, measured)


def judge_events(population: pd.DataFrame) -> Judgement:
    """EV: do the three events come apart and in order on the trajectory with the most patches?"""
    trajectories = _exact(population)
    if not trajectories:
        return claims.not_run("no trajectory with beta > 0 in population.csv")
    found = {name: events.find(rows) for name, rows in trajectories.items()}
    name = max(trajectories, key=lambda each: trajectories[each].D.iloc[0])
    judged, D = found[name], trajectories[name].D.iloc[0]
    overlap = [other for other, its in found.items() if other != name and not its.apart]
    times = ", ".join(f"T{i} = {T}" for i, T in enumerate(judged[:3]))
    measured = (
        f"D = {D}: {times}, gamma at T0 {judged.gamma_share:.0%} of its last value; not apart "
        f"elsewhere: {', '.join(overlap) or 'nowhere'}"
    )
    verdict = SUPPORTED if judged.apart else CONTRADICTED
    if judged.T2 is None:  # the trajectory ends before the risk has fallen
        verdict = INCONCLUSIVE
    return Judgement(verdict, _sure(judged.gamma_share, 1), measured)


CLAIMS = [
    Claim(
        "T4.1a",
        "gradient descent on the population risk performs patch association",
        "Theorem 4.1, first item; Definition 2.2",
        judge_association,
    ),
    Claim(
        "T4.1b",
        "gradient descent on the population risk fits the labelling function: the risk is o(1)",
        "Theorem 4.1, second item",
        judge_risk,
    ),
    Claim(
        "L4.3",
        "the increment of gamma is larger than that of rho at every step",
        "Lemma 4.3",
        judge_increments,
    ),
    Claim("L4.3b", "gamma never falls", "Lemma 4.3, Appendix D", judge_monotone),
    Claim("L4.3c", "|rho| stays bounded, O(1)", "Appendix D.7 (B.1)", judge_bounded),
    Claim(
        "EV",
        "first alpha grows to the best generalised linear model, then gamma grows, then the risk "
        "falls",
        "Events I-III, Sec. 4.1 and Appendix D",
        judge_events,
    ),
    Claim(
        "EV.b",
        "alpha increases again in Event III, until the risk is o(1)",
        "Event III, Sec. 4.1; Lemma D.11",
        judge_regrowth,
    ),
]
