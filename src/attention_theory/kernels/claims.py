"""The claims of the study, judged on the runs of experiments A1 to A3.

Rules and margins are fixed here; docs/kernels.md says what was known when they were.
"""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from attention_theory import claims
from attention_theory.claims import (
    CONTRADICTED,
    INCONCLUSIVE,
    SUPPORTED,
    Claim,
    Judgement,
    not_run,
    verdict,
)
from attention_theory.kernels import columns
from attention_theory.statistics import (
    CONFIDENCE,
    Interval,
    log_log_slope,
    t_interval,
    wilson_interval,
)

ZERO = 1e-3  # a loss below this, relative to the first, has gone to zero
MOST = 0.8  # "with high probability", as in the study of spatial structure
# Of the fall of log loss, what the second half of the steps does: half on a straight line, log 2 /
# log T on a power law from step 1 (.11 at 600 steps).
STEADY = 0.25
HALF = 0.5
FEWEST = 10  # stuck softmax runs of a target that the Gaussian kernel is judged on
ON_FLOOR = 0.05  # a run has reached its floor when less than this of the way is left
FALLS = -0.25  # half the exponent of a constant movement over a norm that grows as sqrt D

PAPER = "Song et al., NeurIPS 2024; discussion of it"


def judge_convergence(convergence: pd.DataFrame) -> Judgement:
    """K1: over-parameterised (D >= N n), does the loss go to zero, and at a linear rate?

    W_V alone: B_0 has full rank, and the closed form says the rest. All weights: the loss is at
    most ZERO at the end in surely MOST of the runs, and these surely fall steadily.
    """
    over = convergence[convergence.D >= convergence.N * convergence.n]
    groups = dict(list(over.groupby(["training", "kernel"], sort=False)))
    if not groups:
        return not_run("no setting with D >= N n in convergence.csv")
    shares = {key: _share(_zero(rows)) for key, rows in groups.items()}
    lowest = min(shares.values(), key=lambda share: share.low)
    parts = [Judgement(verdict(share, MOST, MOST), share, "") for share in shares.values()]
    said = []
    for (training, kernel), rows in groups.items():
        share = shares[training, kernel]
        reached = f"{kernel}: {_counted(share)}"
        if training == "all":
            reached += f" at loss below {ZERO:g}{_worst_heads(rows)}"
            if share.estimate > 0:
                steady = t_interval(_late_share(rows[_zero(rows)]))
                parts.append(Judgement(verdict(steady, STEADY, STEADY), steady, ""))
                reached += f", late share of the fall {_said(steady)}"
        else:
            left = np.exp(np.log(rows.loss / rows.loss_0).groupby(rows.H).mean())
            heads = ", ".join(f"{loss:.2g} (H = {H})" for H, loss in left.items())
            reached += f" have full rank; loss after {rows.steps.iloc[0]} steps {heads}"
        said.append(f"{'W_V alone' if training == 'values' else 'all weights'}, {reached}")
    measured = f"{'; '.join(said)}; needed: {MOST:g} of runs, late share {STEADY:g}"
    return Judgement(claims.worst(parts).verdict, lowest, measured)


def _zero(rows: pd.DataFrame) -> pd.Series:
    """Which runs go to zero: by the closed form's limit, or by the loss at the end."""
    return (rows.limit == 0) | (rows.limit.isna() & (rows.loss <= ZERO * rows.loss_0))


def _late_share(rows: pd.DataFrame) -> pd.Series:
    """The share of the fall of log loss that the second half of the steps does."""
    return np.log(rows.loss_half / rows.loss) / np.log(rows.loss_0 / rows.loss)


def _worst_heads(rows: pd.DataFrame) -> str:
    """The number of heads with the fewest runs at zero, if they differ."""
    shares = _zero(rows).groupby(rows.H).mean()
    if shares.nunique() == 1:
        return ""
    return f" (lowest: {shares.min():.2f} at H = {shares.idxmin()})"


def judge_threshold(convergence: pd.DataFrame) -> Judgement:
    """K1b: below D = N n, but with H D >= N n, is zero out of reach when W_V alone is trained?"""
    linear = convergence[convergence.training == "values"]
    outputs = linear.N * linear.n
    between = linear[(linear.D < outputs) & (linear.H * linear.D >= outputs)]
    if between.empty:
        return not_run("no setting with D < N n <= H D in convergence.csv")
    share = _share(between.limit == 0)
    if share.low > HALF:
        found = CONTRADICTED
    else:
        found = SUPPORTED if share.high < HALF else INCONCLUSIVE
    below = linear[linear.H * linear.D < outputs]
    rank = (linear["rank"] == np.minimum(outputs, linear.H * linear.D)).mean()
    measured = (
        f"W_V alone: the loss goes to zero (closed form) in {_counted(share)} with D < N n <= H D, "
        f"and in {int((below.limit == 0).sum())} of {len(below)} with H D < N n; "
        f"rank B_0 = min(N n, H D) in {rank:.0%} of {len(linear)} runs"
    )
    return Judgement(found, share, measured)


def judge_stuck(stuck: pd.DataFrame) -> Judgement:
    """K2: on the target built for it, is softmax stuck where the Gaussian kernel is not?"""
    built = stuck[(stuck.target == "common") & (stuck.n > 1) & stuck["size"].between(0, 1)]
    if built.empty:
        return not_run("no common target of a size in (0, 1) in stuck.csv")
    runs = stuck[stuck.case == built.case[built.eps.idxmin()]]
    pairs = _pairs(runs)
    share = _share(pairs.softmax & ~pairs.gaussian)
    softmax = runs[(runs.kernel == "softmax") & _is_stuck(runs)]
    left = (softmax.loss - softmax.floor) / (softmax.loss_0 - softmax.floor)
    measured = (
        f"eps = {runs.eps.iloc[0]:g}, target {runs['size'].iloc[0]:g} of the common value, "
        f"{runs.steps.max()} steps: softmax stuck in {int(pairs.softmax.sum())}, Gaussian in "
        f"{int(pairs.gaussian.sum())} of {len(pairs)} seeds; {int((left < ON_FLOOR).sum())} of "
        f"{len(softmax)} stuck softmax runs are on the floor of what any scores can reach "
        f"(median {(softmax.floor / softmax.loss_0).median():.2f} of the first loss)"
    )
    return Judgement(verdict(share, HALF, HALF), share, measured)


def judge_in_general(stuck: pd.DataFrame) -> Judgement:
    """K2b: at every target, is the Gaussian kernel free in most seeds in which softmax is stuck?

    One target at which it surely is not contradicts, at a confidence for all together
    (Bonferroni).
    """
    pairs = {case: _pairs(rows) for case, rows in stuck.groupby("case", sort=False)}
    judged = {case: rows[rows.softmax] for case, rows in pairs.items()}
    judged = {case: rows for case, rows in judged.items() if len(rows) >= FEWEST}
    if not judged:
        return not_run(f"no target with {FEWEST} stuck softmax runs in stuck.csv")
    together = 1 - (1 - CONFIDENCE) / len(judged)
    free = {case: _share(~rows.gaussian, together) for case, rows in judged.items()}
    decides = min(free.values(), key=lambda share: share.high)
    if decides.high < HALF:
        found = CONTRADICTED
    else:
        found = SUPPORTED if min(share.low for share in free.values()) > HALF else INCONCLUSIVE
    said = ", ".join(f"{case} {int((~judged[case].gaussian).sum())} of {len(judged[case])}"
                     for case in judged)  # fmt: skip
    measured = f"of the seeds in which softmax is stuck the Gaussian kernel is not in: {said}"
    return Judgement(found, decides, measured)


def _is_stuck(rows: pd.DataFrame) -> pd.Series:
    return rows.loss > rows.threshold * rows.loss_0


def _pairs(rows: pd.DataFrame) -> pd.DataFrame:
    """A row a seed of one case: whether softmax and gaussian are stuck."""
    return rows.assign(stuck=_is_stuck(rows)).pivot(index="seed", columns="kernel", values="stuck")


def judge_movement(lazy: pd.DataFrame) -> Judgement:
    """K3: does the relative movement of the weights fall with D?"""
    slopes = _slopes(lazy, "D", "movement")
    if not slopes:
        return not_run("fewer than three dimensions D in lazy.csv")
    ended = lazy[lazy.sweep == "D"]
    output = np.exp(np.log(ended.movement_O).groupby(ended.D).mean())
    measured = (
        f"|W(t) - W(0)| / |W(0)| goes as D^{_each(slopes)} from D = {ended.D.min()} to "
        f"{ended.D.max()} (falls below {FALLS:g}); W_O alone, which starts small, moves by "
        f"{output.iloc[0]:.0f} to {output.iloc[-1]:.0f} times its start"
    )
    return _falling(slopes, measured)


def judge_kernel(lazy: pd.DataFrame) -> Judgement:
    """K3b: does the relative change of the empirical tangent kernel fall with D as well?"""
    slopes = _slopes(lazy, "D", "ntk_change")
    if not slopes:
        return not_run("fewer than three dimensions D in lazy.csv")
    widest = lazy[(lazy.sweep == "D") & (lazy.D == lazy.D[lazy.sweep == "D"].max())]
    change = np.exp(np.log(widest.ntk_change).groupby(widest.kernel, sort=False).mean())
    heads = _slopes(lazy, "H", "ntk_change")
    measured = (
        f"the tangent kernel's relative change goes as D^{_each(slopes)} (falls below {FALLS:g}); "
        f"at D = {widest.D.iloc[0]} it is "
        + ", ".join(f"{value:.2f} ({kernel})" for kernel, value in change.items())
        + (f"; in the number of heads it goes as H^{_each(heads)}" if heads else "")
    )
    return _falling(slopes, measured)


def _slopes(lazy: pd.DataFrame, sweep: str, measure: str) -> dict[str, Interval]:
    """The exponent of a measure in D or H by kernel, of the runs that reached their goal."""
    runs = lazy[(lazy.sweep == sweep) & (lazy.loss <= lazy.goal * lazy.loss_0)]
    found = {}
    for kernel, rows in runs.groupby("kernel", sort=False):
        if rows[sweep].nunique() >= 3:
            slope = log_log_slope(rows[sweep], rows[measure])
            found[kernel] = Interval(slope.slope, slope.low, slope.high, slope.n)
    return found


def _falling(slopes: Mapping[str, Interval], measured: str) -> Judgement:
    """Supported if every exponent is surely below FALLS, contradicted if one is surely above."""
    decides = max(slopes.values(), key=lambda slope: slope.high)
    if any(slope.low > FALLS for slope in slopes.values()):
        found = CONTRADICTED
    else:
        found = SUPPORTED if decides.high < FALLS else INCONCLUSIVE
    return Judgement(found, decides, measured)


def _share(answers: pd.Series, confidence: float = CONFIDENCE) -> Interval:
    return wilson_interval(int(answers.sum()), len(answers), confidence)


def _counted(share: Interval) -> str:
    return f"{round(share.estimate * share.n)} of {share.n} runs"


def _said(interval: Interval) -> str:
    if math.isnan(interval.low):
        return f"{interval.estimate:.2f} (no interval)"
    return f"{interval.estimate:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def _each(slopes: Mapping[str, Interval]) -> str:
    return ", ".join(f"{_said(slope)} ({kernel})" for kernel, slope in slopes.items())


CLAIMS = [
    Claim(
        "K1",
        "over-parameterised (here D >= N n), gradient descent takes the loss to zero at a linear "
        "rate with softmax and with Gaussian scores",
        f"over-parameterisation D = Omega(N n), B_0 of full rank; {PAPER}",
        judge_convergence,
    ),
    Claim(
        "K1b",
        "the threshold of over-parameterisation is D >= N n",
        f"D = Omega(N n); {PAPER}",
        judge_threshold,
    ),
    Claim(
        "K2",
        "when W_Q and W_K alone are trained, softmax attention can be stuck where the Gaussian "
        "kernel is not",
        f"the softmax's normalisation of a row makes convergence harder; {PAPER}",
        judge_stuck,
    ),
    Claim(
        "K2b",
        "the Gaussian kernel is so in general, whatever the target",
        f"our reading of the same statement; {PAPER}",
        judge_in_general,
    ),
    Claim(
        "K3",
        "the regime is lazy: the weights' relative movement falls as D grows",
        f"'similar to the NTK regime with lazy update'; {PAPER}",
        judge_movement,
    ),
    Claim(
        "K3b",
        "the tangent kernel, too, stays as it is when D grows",
        f"our reading of the same statement; {PAPER}",
        judge_kernel,
    ),
]

if __name__ == "__main__":
    claims.run("kernels", CLAIMS, columns.INPUTS)
