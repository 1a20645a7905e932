"""Claims about what training reaches: M2 (risk of the residual flow), M4 (a ViT on digits).

Rules and margins are fixed here; docs/meanfield.md says what was known when they were.
"""

from math import log

import numpy as np
import pandas as pd

from attention_theory import claims
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, SUPPORTED, Claim, Judgement
from attention_theory.meanfield.verdicts import said
from attention_theory.meanfield.vit_settings import CLASSES
from attention_theory.statistics import Interval, t_interval

NEAR_ZERO, FAR = -2, -1  # log10 of a loss in units of one that nothing was learnt for
LATE = 0.75  # share of the time from which on a risk counts as the last


def judge_risk(risk: pd.DataFrame) -> Judgement:
    """M2: is the training risk near zero at the largest size, and below that of the smallest?

    Without decay and with the smallest one, in units of the risk at the start. A run's last risk is
    the geometric mean over the last quarter of its time, because single steps may jump.
    """
    keys = ["L", "M", "decay", "seed"]
    late = risk[risk.tau > LATE * risk.tau.max()]
    ends = np.exp(np.log(late.risk).groupby([late[key] for key in keys]).mean())
    starts = risk[risk.tau == 0].set_index(keys).risk
    decays = sorted(risk.decay.unique())
    sizes = _sizes(risk[risk.decay == 0])
    if len(sizes) < 2 or len(decays) < 2 or risk.seed.nunique() < 2:
        return claims.not_run("no two sizes, no positive decay or no two seeds in risk.csv")
    small, large = sizes[0], sizes[-1]
    if not ((risk.L == large[0]) & (risk.M == large[1]) & (risk.decay == decays[1])).any():
        return claims.not_run("no decay at the largest size in risk.csv")
    parts = []
    for decay in decays[:2]:
        logs = np.log10(ends[(*large, decay)] / starts[(*large, decay)])
        parts.append(_below(t_interval(logs), NEAR_ZERO, FAR))
    falls = t_interval(np.log10(ends[(*large, 0.0)] / ends[(*small, 0.0)]))
    parts.append(_below(falls, 0, 0))
    order = (CONTRADICTED, INCONCLUSIVE, SUPPORTED)
    verdict, decides = min(parts, key=lambda part: order.index(part[0]))

    def told(decay: float, at: list[tuple[int, int]]) -> str:
        means = {size: np.exp(np.log(ends[(*size, decay)]).mean()) for size in at}
        return ", ".join(f"{mean:.1e} (L {L}, M {M})" for (L, M), mean in means.items())

    fresh = np.exp(
        np.log(
            late[(late.L == large[0]) & (late.M == large[1]) & (late.decay == 0)].fresh_risk
        ).mean()
    )
    measured = (
        f"training risk up to tau {risk.tau.max():g}: {told(0.0, sizes)}; "
        f"with decay {decays[1]:g}: {told(decays[1], [large])}; log10 of the "
        f"largest model's in units of the start {said(parts[0][1])}, "
        f"with the decay {said(parts[1][1])} (near zero below {NEAR_ZERO}), "
        f"of largest over smallest {said(falls)}; on fresh prompts the largest's is {fresh:.2f}"
    )
    return Judgement(verdict, decides, measured)


def _sizes(risk: pd.DataFrame) -> list[tuple[int, int]]:
    """The sizes (L, M), by their number of particles."""
    pairs = risk[["L", "M"]].drop_duplicates().itertuples(index=False)
    return sorted(((int(L), int(M)) for L, M in pairs), key=lambda size: size[0] * size[1])


def judge_digits(digits: pd.DataFrame) -> Judgement:
    """M4: does the training loss of the ViT come near zero, in units of guessing's?"""
    ends = digits[digits.step == digits.step.max()]
    interval = t_interval(np.log10(ends.loss / log(CLASSES)))
    verdict, _ = _below(interval, NEAR_ZERO, FAR)
    measured = (
        f"after {ends.step.iloc[0]} steps the training loss is "
        f"{np.exp(np.log(ends.loss).mean()):.1e} (guessing: {log(CLASSES):.2f}), training accuracy "
        f"{ends.accuracy.min():.3f} at least, held-out accuracy {ends.test_accuracy.mean():.2f}; "
        f"log10 of the loss in units of guessing's {said(interval)} (near zero below {NEAR_ZERO})"
    )
    return Judgement(verdict, interval, measured)


def _below(interval: Interval, supported: float, contradicted: float) -> tuple[str, Interval]:
    """Supported if the interval lies below one bound, contradicted if above the other."""
    if interval.high < supported:
        return SUPPORTED, interval
    return (CONTRADICTED if interval.low > contradicted else INCONCLUSIVE), interval


CLAIMS = [
    Claim(
        "M2",
        "gradient flow on a large transformer with a small decay brings the risk near zero",
        "Theorem 4.1 and its corollary (as quoted in the discussion)",
        judge_risk,
    ),
    Claim(
        "M4",
        "a vision transformer fits simple images to near-zero training loss (here digits)",
        "the authors on experiments (discussion)",
        judge_digits,
    ),
]
