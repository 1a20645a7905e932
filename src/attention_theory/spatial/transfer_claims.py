"""The claims on transfer (Theorems 5.1, 5.2, Appendix F). Rules and margins are fixed here.

That a median reaches .95 is judged by the share of draws that do: it is surely reached where
Wilson's interval of the share lies above one half, surely not where it lies below.
"""

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
from attention_theory.spatial import transfer_scaling as scaling
from attention_theory.statistics import CONFIDENCE, Interval, Slope, wilson_interval

FEW = 16  # downstream samples that count as few: pretraining takes thousands
FLAT = 0.5  # an exponent of N95 in D surely within -FLAT and FLAT is flat; proportional is 1
UNKNOWN = Interval(float("nan"), float("nan"), float("nan"), 0)


def judge_transfer(transfer: pd.DataFrame) -> Judgement:
    """T5.1: few samples suffice with learned attention, and no more of them when D = d grows."""
    learned = transfer[transfer.attention == "learned"]
    by_optimiser = [learned[learned.optimiser == name] for name in ("gd", "one_step")]
    return _both(_flat(by_optimiser[1]), _few_suffice(by_optimiser[0]))


def judge_no_transfer(transfer: pd.DataFrame) -> Judgement:
    """T5.2: no number of samples suffices without association; from scratch it grows with D."""
    without = transfer[transfer.attention.isin(["permuted", "zero"])]
    grows = [_grows(scaling.wide(transfer)), _grows(scaling.fixed(transfer))]
    return _both(*grows, _never(without))


def judge_one_step(transfer: pd.DataFrame) -> Judgement:
    """F1: one normalised step on few samples suffices with learned attention."""
    learned = transfer[(transfer.attention == "learned") & (transfer.optimiser == "one_step")]
    return _few_suffice(learned)


def _few_suffice(runs: pd.DataFrame) -> Judgement:
    """Does the median draw reach .95 with FEW samples, in every size, dimension and seed?

    The intervals of all sizes and dimensions hold together (Bonferroni). A seed whose own median
    is below .95 leaves it open.
    """
    runs = scaling.standard(runs)
    runs = runs[runs.samples == FEW]
    if runs.empty:
        return claims.not_run(f"no draws with {FEW} downstream samples")
    groups = runs.groupby(["D", "d"])
    shares = {place: _reached(group.accuracy, groups.ngroups) for place, group in groups}
    below = [place for place, share in shares.items() if share.high < 0.5]
    # The least sure place decides: a small share, or a share of few draws.
    place = min(below or shares, key=lambda place: shares[place].low)
    medians = runs.groupby(["D", "d", "seed"]).accuracy.median()
    verdict = claims.verdict(shares[place], supported_above=0.5, contradicted_below=0.5)
    if runs.accuracy.isna().any() or (verdict == SUPPORTED and medians.min() < scaling.ENOUGH):
        verdict = INCONCLUSIVE
    length = ""
    if (runs.optimiser == "one_step").all():
        length = f" by one step of length {(runs.step_size * runs.D).median():.3g}/D"
    measured = (
        f"with {FEW} samples{length} accuracy .95 is reached in {shares[place].estimate:.3f} of "
        f"{shares[place].n} draws at D = {place[0]}, d = {place[1]}, where least (needed: half); "
        f"lowest median of a seed {medians.min():.4f}, {runs.D.nunique()} sizes"
    )
    return Judgement(verdict, shares[place], measured)


def _flat(learned: pd.DataFrame) -> Judgement:
    """Is the exponent of N95 in D, at d = D, within -FLAT and FLAT?

    Of nine draws in ten and after one normalised step (the proof's algorithm): gradient descent
    and the median need one or two samples at every D, which a grid of whole numbers cannot tell
    apart.
    """
    points = scaling.by_seed(scaling.wide(learned), scaling.MOST)
    if points.empty:
        return claims.not_run("no learned attention at d = D")
    slope = scaling.exponent(points)
    if slope is None or learned.accuracy.isna().any():
        return Judgement(INCONCLUSIVE, UNKNOWN, f"at d = D no exponent of N95: {_why(points)}")
    if slope.low > -FLAT and slope.high < FLAT:
        verdict = SUPPORTED
    else:
        outside = slope.low > FLAT or slope.high < -FLAT
        verdict = CONTRADICTED if outside else INCONCLUSIVE
    measured = (
        f"nine draws in ten reach .95 by one step with {points.n95.min():.2g} to "
        f"{points.n95.max():.2g} samples at d = D = {points.D.min()} to {points.D.max()}, "
        f"exponent {_said(slope)} (flat within {FLAT})"
    )
    return Judgement(verdict, _interval(slope), measured)


def _grows(part: pd.DataFrame) -> Judgement:
    """From scratch, is the exponent of N95 in D above 0?"""
    runs = part[part.attention == "scratch"]
    points = scaling.by_seed(runs, scaling.HALF)
    if points.empty:
        return claims.not_run("no training from scratch")
    where = "d = D" if (points.d == points.D).all() else f"d = {points.d.min()}"
    slope = scaling.exponent(points)
    if slope is None or runs.accuracy.isna().any():
        reason = f"from scratch at {where} no exponent of N95: {_why(points)}"
        return Judgement(INCONCLUSIVE, UNKNOWN, reason)
    interval = _interval(slope)
    verdict = claims.verdict(interval, supported_above=0, contradicted_below=0)
    measured = (
        f"from scratch at {where} N95 is {points.n95.min():.0f} to {points.n95.max():.0f}, "
        f"exponent in D {_said(slope)}"
    )
    return Judgement(verdict, interval, measured)


def _never(without: pd.DataFrame) -> Judgement:
    """Without association, does the median draw stay below .95 for every number of samples?

    One number of samples at which it surely reaches .95 contradicts. To support, no median may
    reach it, and of each attention's draws, all numbers of samples together, surely fewer than
    half.
    """
    without = scaling.standard(without)
    if set(without.attention) != {"permuted", "zero"}:
        return claims.not_run("attention permuted and zero were not both tried")
    keys = ["attention", "optimiser", "D", "d"]
    medians = without.groupby([*keys, "samples"]).accuracy.median()
    cells = without.groupby([*keys, "samples"]).accuracy
    surely = [_reached(values, cells.ngroups).low > 0.5 for _, values in cells]
    groups = without.groupby(keys).accuracy
    pooled = [_reached(values, groups.ngroups) for _, values in groups]
    highest = max(pooled, key=lambda share: share.high)
    if any(surely):
        verdict = CONTRADICTED
    else:
        never = medians.max() < scaling.ENOUGH and highest.high < 0.5
        verdict = SUPPORTED if never and not without.accuracy.isna().any() else INCONCLUSIVE
    by_kind = medians.groupby("attention").max()
    measured = (
        f"highest median accuracy {by_kind['permuted']:.3f} with permuted and "
        f"{by_kind['zero']:.3f} with zero attention, "
        f"up to {without.samples.max()} samples (never .95 expected)"
    )
    return Judgement(verdict, highest, measured)


def _both(*judgements: Judgement) -> Judgement:
    """The judgement of parts that must all hold: the worst decides, every part is told.

    What was not run leaves the whole open, unless another part contradicts or nothing was run.
    """
    run = [part for part in judgements if part.verdict != NOT_RUN]
    if not run:
        return judgements[0]
    decides = claims.worst(run)
    verdict = decides.verdict
    if verdict == SUPPORTED and len(run) < len(judgements):
        verdict = INCONCLUSIVE
    return Judgement(verdict, decides.interval, "; ".join(part.measured for part in judgements))


def _reached(accuracy: pd.Series, together: int) -> Interval:
    """The share of draws that reach .95, at a confidence that holds for so many `together`."""
    confidence = 1 - (1 - CONFIDENCE) / together
    return wilson_interval(int((accuracy >= scaling.ENOUGH).sum()), len(accuracy), confidence)


def _interval(slope: Slope) -> Interval:
    return Interval(slope.slope, slope.low, slope.high, slope.n)


def _said(slope: Slope) -> str:
    # Adding 0 turns -0.0 into 0.0.
    value, low, high = (round(number, 2) + 0.0 for number in (slope.slope, slope.low, slope.high))
    return f"{value:.2f} [{low:.2f}, {high:.2f}] ({slope.n} points, a seed each)"


def _why(points: pd.DataFrame) -> str:
    """Why there is no exponent."""
    if points.D.nunique() < 3:
        return f"{points.D.nunique()} sizes D, three needed"
    known = points.known.value_counts()
    return ", ".join(f"{count} of {len(points)} {how}" for how, count in known.items())


CLAIMS = [
    Claim(
        "T5.1",
        "with associated attention frozen, few samples of a new feature suffice, "
        "and their number does not grow with D (here at d = D)",
        "Theorem 5.1",
        judge_transfer,
    ),
    Claim(
        "T5.2",
        "without association no number of samples suffices; trained from scratch, a number that "
        "grows as a power of D is needed",
        "Theorem 5.2",
        judge_no_transfer,
    ),
    Claim(
        "F1",
        "one normalised gradient step suffices to transfer",
        "Appendix F",
        judge_one_step,
    ),
]
