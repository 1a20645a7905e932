"""The claim on Fig. 1a: positions that a ViT learned on ImageNet are local."""

import pandas as pd

from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, SUPPORTED, Claim, Judgement, not_run
from attention_theory.images.margins import HALF_WAY
from attention_theory.statistics import Interval, t_interval


def judge_local_positions(pretrained: pd.DataFrame) -> Judgement:
    """I5. Precision@4 on the way from chance (0) to the ceiling (1), an interval over tokens: one
    model, whose tokens are not independent; the interval says how much they differ."""
    if pretrained.state.isna().all():
        return not_run(str(pretrained.reason.iloc[0]))
    ways = {state: _way(rows) for state, rows in pretrained.groupby("state")}
    initial, final = ways["initial"], ways["final"]
    if final.low > HALF_WAY and initial.high < HALF_WAY:
        verdict = SUPPORTED
    elif final.high < HALF_WAY or initial.low > HALF_WAY:
        verdict = CONTRADICTED
    else:
        verdict = INCONCLUSIVE
    correlation = pretrained.groupby("state").spearman.mean()
    measured = (
        f"{pretrained.model.iloc[0]}: precision@4 goes {final.estimate:.2f} [{final.low:.2f}, "
        f"{final.high:.2f}] of the way from chance to the ceiling after training (Spearman with "
        f"distance {correlation['final']:.2f}) and {initial.estimate:.2f} [{initial.low:.2f}, "
        f"{initial.high:.2f}] before (needed: {HALF_WAY}), {final.n} tokens of one model"
    )
    return Judgement(verdict, final, measured)


def _way(rows: pd.DataFrame) -> Interval:
    """From chance to the ceiling: the mean over tokens, with Student's interval."""
    span = (rows.ceiling - rows.chance).mean()
    return t_interval((rows.precision_at_4 - rows.chance) / span)


LOCAL_POSITIONS = Claim(
    "I5",
    "the positional encodings of a ViT trained on ImageNet are local, initial ones are not",
    "Fig. 1a",
    judge_local_positions,
)
