"""The claims of the study: what permuting an image's patches costs, what a ViT makes of it.

Pairs are runs of one seed, on original and on patch-permuted images: they share the test images,
the initial weights (of one model), the order and the shifts.
"""

from collections.abc import Callable

import pandas as pd

from attention_theory import claims
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, SUPPORTED, Claim, Judgement, not_run
from attention_theory.images import columns, transfer_columns
from attention_theory.images.transfer_claims import I4
from attention_theory.statistics import Interval, t_interval

SURVIVES = 0.02  # a drop below this is survival
SUFFERS = 0.01  # a drop above this is damage
HALF_WAY = 0.5  # from chance to ceiling: nearer to the ceiling than to chance
SOURCE = "Sec. 6, Fig. 3"


def judge_permuted_accuracy(accuracy: pd.DataFrame) -> Judgement:
    """I1, for each data set and patch size by itself; the worst decides."""
    return _worst(
        accuracy, _judge_drops, "it needs a ViT and a CNN on original and permuted images"
    )


def _judge_drops(accuracy: pd.DataFrame) -> Judgement | None:
    """The interval is that of the ViT's drop; the verdict rests on both models' drops."""
    vit, cnn = drop(accuracy, "vit", "self"), drop(accuracy, "cnn", "none")
    if vit is None or cnn is None:
        return None
    if vit.high < SURVIVES and cnn.low > SUFFERS:
        verdict = SUPPORTED
    elif vit.low > SURVIVES or cnn.high < SUFFERS:
        verdict = CONTRADICTED
    else:
        verdict = INCONCLUSIVE
    measured = (
        f"{_place(accuracy)}: permuting the patches lowers accuracy by {_interval(vit)} for the "
        f"ViT (survives below {SURVIVES}) and by {_interval(cnn)} for the CNN "
        f"(suffers above {SUFFERS}), {vit.n} and {cnn.n} seeds, one permutation"
    )
    return Judgement(verdict, vit, measured)


def drop(accuracy: pd.DataFrame, model: str, attention: str) -> Interval | None:
    """A model's paired drop, original - patch-permuted accuracy; None without a pair."""
    chosen = accuracy[(accuracy.model == model) & (accuracy.attention == attention)]
    pairs = chosen.pivot(index="seed", columns="permutation", values="accuracy")
    if not {"none", "patch"} <= set(pairs.columns):
        return None
    differences = (pairs["none"] - pairs["patch"]).dropna()
    return t_interval(differences) if len(differences) else None


def judge_recovered_neighbourhoods(similarity: pd.DataFrame) -> Judgement:
    """I2, for each data set and patch size by itself; the worst decides."""
    chosen = similarity.query(
        "model == 'vit' and attention == 'self' and permutation == 'patch' "
        "and measure == 'positions'"
    )
    return _worst(chosen, _judge_recovery, "it needs a ViT trained on patch-permuted images")


def _judge_recovery(similarity: pd.DataFrame) -> Judgement | None:
    """The interval is that of precision@4; the rule's scale: 0 at chance, 1 at the ceiling."""
    final = similarity[similarity.state == "final"]
    if final.empty:
        return None
    precision = t_interval(final.precision_at_4)
    way = t_interval((final.precision_at_4 - final.chance) / (final.ceiling - final.chance))
    verdict = claims.verdict(way, supported_above=HALF_WAY, contradicted_below=HALF_WAY)
    initial = similarity[similarity.state == "initial"].precision_at_4
    before = f", {initial.mean():.2f} before training" if len(initial) else ""
    measured = (
        f"{_place(similarity)}: the positional encodings find true neighbours with precision@4 "
        f"{_interval(precision)}{before} (chance {final.chance.mean():.2f}, ceiling "
        f"{final.ceiling.mean():.2f}), {_interval(way)} of the way (needed: {HALF_WAY}), "
        f"{precision.n} seeds"
    )
    return Judgement(verdict, precision, measured)


def _worst(
    table: pd.DataFrame, judge: Callable[[pd.DataFrame], Judgement | None], need: str
) -> Judgement:
    """Judge each data set and patch size by itself; of several the worst decides."""
    groups = [judge(rows) for _, rows in table.groupby(["dataset", "patch"], sort=False)]
    judgements = [judgement for judgement in groups if judgement is not None]
    return claims.worst(judgements) if judgements else not_run(need)


def _place(table: pd.DataFrame) -> str:
    return f"{table.dataset.iloc[0]}, patch {table.patch.iloc[0]}"


def _interval(interval: Interval) -> str:
    """`.012 [.004, .020]`: an estimate with its 95 % limits, if it has any."""
    if interval.low != interval.low:  # NaN: one seed, or seeds that do not differ
        return f"{interval.estimate:.3f} (no interval)"
    return f"{interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


CLAIMS = [
    Claim(
        "I1",
        "a ViT keeps its accuracy when the image's patches are permuted, a CNN does not",
        SOURCE,
        judge_permuted_accuracy,
    ),
    Claim(
        "I2",
        "a ViT recovers the true neighbourhoods of permuted patches in the similarity of its "
        "positional encodings",
        SOURCE,
        judge_recovered_neighbourhoods,
    ),
    I4,
]

if __name__ == "__main__":
    claims.run("images", CLAIMS, columns.INPUTS | transfer_columns.INPUTS)
