"""Rules that several claims of the study share."""

import pandas as pd

from attention_theory.claims import CONTRADICTED, INCONCLUSIVE, SUPPORTED, Judgement
from attention_theory.statistics import wilson_interval

ACCURACY = 0.99  # a model generalises when its test accuracy is above that
# "With high probability": four of five seeds must suffice. Wilson's lower limit is then .38, and
# .23 for three of five, so that a third tells them apart whatever the number of seeds.
MOST, CERTAIN = 0.8, 1 / 3


def judge_share(runs: pd.DataFrame) -> Judgement:
    """In how many runs (at least one) is every patch associated with its set at the end?"""
    associated, n = int((runs.patch_association == 1).sum()), len(runs)
    interval = wilson_interval(associated, n)
    if interval.estimate >= MOST and interval.low > CERTAIN:
        verdict = SUPPORTED
    else:
        verdict = CONTRADICTED if interval.high < MOST else INCONCLUSIVE
    measured = (
        f"every patch associated with its set in {associated} of {n} seeds "
        f"(lowest share of patches {runs.patch_association.min():.2f}) at D = {runs.D.iloc[0]}"
    )
    return Judgement(verdict, interval, measured)
