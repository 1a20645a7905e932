"""The claims of the study: what permuting an image's patches costs, what a ViT makes of it.

Pairs are runs of one data set, patch size and seed, on original and on patch-permuted images:
they share the test images, the initial weights (of one model), the order and the shifts.
"""

import pandas as pd

from attention_theory import claims
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, SUPPORTED, Claim, Judgement, not_run
from attention_theory.statistics import Interval, t_interval

SURVIVES = 0.02  # a drop below this is survival
SUFFERS = 0.01  # a drop above this is damage
HALF_WAY = 0.5  # from chance to ceiling
SOURCE = "Sec. 6, Fig. 3"


def drop(accuracy: pd.DataFrame, model: str, attention: str) -> Interval | None:
    """A model's paired drop, original - patch-permuted accuracy; None without a pair."""
    chosen = accuracy[(accuracy.model == model) & (accuracy.attention == attention)]
    pairs = chosen.pivot(
        index=["dataset", "patch", "seed"], columns="permutation", values="accuracy"
    )
    if not {"none", "patch"} <= set(pairs.columns):
        return None
    differences = (pairs["none"] - pairs["patch"]).dropna()
    return t_interval(differences) if len(differences) else None


def judge_permuted_accuracy(accuracy: pd.DataFrame) -> Judgement:
    """I1. The interval is that of the ViT's drop; the verdict rests on both models' drops."""
    vit, cnn = drop(accuracy, "vit", "self"), drop(accuracy, "cnn", "none")
    if vit is None or cnn is None:
        return not_run("it needs a ViT and a CNN on original and on patch-permuted images")
    if vit.high < SURVIVES and cnn.low > SUFFERS:
        verdict = SUPPORTED
    elif vit.low > SURVIVES or cnn.high < SUFFERS:
        verdict = CONTRADICTED
    else:
        verdict = INCONCLUSIVE
    measured = (
        f"permuting the patches lowers accuracy by {_interval(vit)} for the ViT "
        f"(survives below {SURVIVES}) and by {_interval(cnn)} for the CNN "
        f"(suffers above {SUFFERS}), {vit.n} and {cnn.n} seeds"
    )
    return Judgement(verdict, vit, measured)


def judge_recovered_neighbourhoods(similarity: pd.DataFrame) -> Judgement:
    """I2. The interval is that of precision@4; the rule's scale: 0 at chance, 1 at the ceiling."""
    chosen = similarity.query(
        "model == 'vit' and attention == 'self' and permutation == 'patch' "
        "and measure == 'positions'"
    )
    final = chosen[chosen.state == "final"]
    if final.empty:
        return not_run("it needs a ViT trained on patch-permuted images")
    precision = t_interval(final.precision_at_4)
    way = t_interval((final.precision_at_4 - final.chance) / (final.ceiling - final.chance))
    if way.low >= HALF_WAY:
        verdict = SUPPORTED
    elif way.high <= 0:
        verdict = CONTRADICTED
    else:
        verdict = INCONCLUSIVE
    initial = chosen[chosen.state == "initial"].precision_at_4
    before = f", {initial.mean():.2f} before training" if len(initial) else ""
    measured = (
        f"on patch-permuted images the positional encodings find true neighbours with precision@4 "
        f"{_interval(precision)}{before} (chance {final.chance.mean():.2f}, ceiling "
        f"{final.ceiling.mean():.2f}), {_interval(way)} of the way, {precision.n} seeds"
    )
    return Judgement(verdict, precision, measured)


def _interval(interval: Interval) -> str:
    """`.012 [.004, .020]`: an estimate with its 95 % limits, or without any from one seed."""
    if interval.n < 2:
        return f"{interval.estimate:.3f} (no interval)"
    return f"{interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


CLAIMS = [
    Claim(
        "I1",
        "A ViT keeps its accuracy when the image's patches are permuted, a CNN does not",
        SOURCE,
        judge_permuted_accuracy,
    ),
    Claim(
        "I2",
        "A ViT recovers the true neighbourhoods of permuted patches in the similarity of its "
        "positional encodings",
        SOURCE,
        judge_recovered_neighbourhoods,
    ),
]

if __name__ == "__main__":
    claims.run("images", CLAIMS)
