"""The claims of the study: what permuting an image's patches costs, what a ViT makes of it, and
what positional attention is worth.

Pairs are runs of one seed (pairs.py).
"""

from collections.abc import Callable
from functools import partial

import pandas as pd

from attention_theory import claims
from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, SUPPORTED, Claim, Judgement, not_run
from attention_theory.images import columns, pairs, pretrained_claims, transfer_columns
from attention_theory.images.datasets import KNOWN
from attention_theory.images.margins import HALF_WAY, MARGIN, SUFFERS, SURVIVES
from attention_theory.images.names import label
from attention_theory.images.transfer_claims import I4
from attention_theory.statistics import Interval, equivalent, not_worse, t_interval

SOURCE = "Sec. 6, Fig. 3"
CNNS = ("cnn", "resnet18", "vgg19_bn")


def judge_permuted_accuracy(accuracy: pd.DataFrame) -> Judgement:
    """I1, for each data set and patch size by itself; the worst decides."""
    return _worst(
        accuracy, _judge_drops, "it needs a ViT and a CNN on original and permuted images"
    )


def _judge_drops(accuracy: pd.DataFrame) -> Judgement | None:
    """The interval is that of the ViT's drop; the verdict rests on it and on every CNN's drop."""
    vit = drop(accuracy, "vit", "self")
    found = {name: drop(accuracy, name, "none") for name in CNNS}
    cnns = {name: interval for name, interval in found.items() if interval is not None}
    if vit is None or not cnns:
        return None
    if vit.high < SURVIVES and all(cnn.low > SUFFERS for cnn in cnns.values()):
        verdict = SUPPORTED
    elif vit.low > SURVIVES or any(cnn.high < SUFFERS for cnn in cnns.values()):
        verdict = CONTRADICTED
    else:
        verdict = INCONCLUSIVE
    suffering = " and ".join(
        f"by {_interval(cnn)} for the {label(name, 'none')}" for name, cnn in cnns.items()
    )
    measured = (
        f"{_place(accuracy)}: permuting the patches lowers accuracy by {_interval(vit)} for the "
        f"ViT (survives below {SURVIVES}) and {suffering} (suffers above {SUFFERS}), {vit.n} "
        f"seeds of the ViT, one permutation"
    )
    return Judgement(verdict, vit, measured)


def drop(accuracy: pd.DataFrame, model: str, attention: str) -> Interval | None:
    """A model's paired drop, original - patch-permuted accuracy; None without a pair."""
    differences = pairs.drop(accuracy, model, attention, "patch")
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
    surely = int((final.precision_p <= 0.05).sum())
    measured = (
        f"{_place(similarity)}: the positional encodings find true neighbours with precision@4 "
        f"{_interval(precision)}{before} (chance {final.chance.mean():.2f}, ceiling "
        f"{final.ceiling.mean():.2f}), {_interval(way)} of the way (needed: {HALF_WAY}), "
        f"{precision.n} seeds, {surely} of them above chance by permutation test (5 %)"
    )
    return Judgement(verdict, precision, measured)


def judge_competition(dataset: str, accuracy: pd.DataFrame) -> Judgement:
    """I3 on one data set: every patch size, the worst decides and all are told."""
    chosen = accuracy[accuracy.dataset == dataset]
    found = [_judge_gain(rows) for _, rows in chosen.groupby("patch", sort=False)]
    found = [judgement for judgement in found if judgement is not None]
    if not found:
        return not_run(f"this configuration does not train both ViTs on {dataset}")
    worst = claims.worst(found)
    told = "; ".join(judgement.measured for judgement in found)
    return Judgement(worst.verdict, worst.interval, f"positional - vanilla accuracy: {told}")


def _judge_gain(accuracy: pd.DataFrame) -> Judgement | None:
    """Not worse by the margin, one-sided at 95 %; contradicted if surely worse by more."""
    gains = pairs.gain(accuracy)
    if gains.empty:
        return None
    interval = t_interval(gains)
    competes, same = not_worse(gains, MARGIN), equivalent(gains, MARGIN)
    if competes.passed:
        verdict = SUPPORTED
    else:
        surely_worse = not_worse(-gains, -MARGIN)  # is vanilla - positional above the margin?
        verdict = CONTRADICTED if surely_worse.passed else INCONCLUSIVE
    measured = (
        f"patch {accuracy.patch.iloc[0]}: {_interval(interval)}, {interval.n} seeds (not worse by "
        f"{MARGIN}: p = {competes.p_value:.2g}; equivalent within {MARGIN}: "
        f"{'yes' if same.passed else 'no'}, p = {same.p_value:.2g})"
    )
    return Judgement(verdict, interval, measured)


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
    *(
        Claim(
            f"I3.{dataset}",
            f"a ViT with positional attention competes with a vanilla ViT on {known.title}",
            "Sec. 6, tables",
            partial(judge_competition, dataset),
        )
        for dataset, known in KNOWN.items()
    ),
    I4,
    pretrained_claims.LOCAL_POSITIONS,
]

if __name__ == "__main__":
    claims.run("images", CLAIMS, columns.INPUTS | transfer_columns.INPUTS)
