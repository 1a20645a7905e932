"""The claim behind experiment 7: on Gaussian data, association can fail though the model fits.

The rule and its margins are fixed here; docs/spatial.md says what was known when they were.
"""

import pandas as pd

from attention_theory import claims
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, SUPPORTED, Claim, Judgement
from attention_theory.spatial.gaussian_settings import STRUCTURED
from attention_theory.spatial.verdicts import judge_share
from attention_theory.statistics import CONFIDENCE, Interval, accuracy_interval, t_interval

FIT = 0.9  # a model fits when it surely gets nine labels in ten right


def judge_gaussian(gaussian: pd.DataFrame) -> Judgement:
    """G1: is there a phi that is fitted with A smaller within the sets than across them?

    Only phi with a partition to find are looked at. Association fails surely where gamma - rho is
    surely negative: were every patch associated, it would be positive. Student's intervals over
    seeds, at a confidence that holds for all phi together (Bonferroni): the worst is looked for.
    Contradicted if every phi that is fitted is learned with association (T4.2a's rule).
    """
    runs = {phi: rows for phi, rows in gaussian.groupby("phi", sort=False) if phi in STRUCTURED}
    if not runs:
        return claims.not_run("no phi that depends on the partition in gaussian.csv")
    confidence = 1 - (1 - CONFIDENCE) / len(runs)
    apart = {phi: t_interval(rows.gamma - rows.rho, confidence) for phi, rows in runs.items()}
    fitted = [phi for phi, rows in runs.items() if _accuracy(rows, confidence).low > FIT]
    backwards = [phi for phi in fitted if apart[phi].high < 0]
    decides = min(backwards or fitted or runs, key=lambda phi: apart[phi].estimate)
    if backwards:
        verdict = SUPPORTED
    elif fitted and all(judge_share(runs[phi]).verdict == SUPPORTED for phi in fitted):
        verdict = CONTRADICTED
    else:
        verdict = INCONCLUSIVE
    measured = "; ".join(_describe(phi, rows, apart[phi]) for phi, rows in runs.items())
    return Judgement(verdict, apart[decides], f"{measured}; accuracy to hold against {FIT}")


def _accuracy(rows: pd.DataFrame, confidence: float) -> Interval:
    return accuracy_interval(rows.accuracy, int(rows.test.iloc[0]), confidence)


def _describe(phi: str, rows: pd.DataFrame, apart: Interval) -> str:
    """What was measured at one phi, in words."""
    return (
        f"{phi}: accuracy {rows.accuracy.mean():.3f} (best linear rule "
        f"{rows.linear_accuracy.mean():.3f}), gamma - rho = {apart.estimate:.2f} "
        f"[{apart.low:.2f}, {apart.high:.2f}], patches associated "
        f"{rows.patch_association.mean():.2f}, {len(rows)} seeds"
    )


CLAIMS = [
    Claim(
        "G1",
        "on Gaussian data a ViT does not always learn the structure of the labelling function: "
        "patch association can fail though the model fits",
        "Conclusion, on Definition 2.1; no experiment is given",
        judge_gaussian,
    ),
]
