"""The claim of experiment 4. The rule is fixed here, before the run."""

import pandas as pd

from attention_theory import claims
from attention_theory.claims import Claim, Judgement
from attention_theory.images.transfer_columns import difference
from attention_theory.statistics import Interval, t_interval

CONTROLS = ("shuffled", "random", "scratch")
DECIDES = CONTROLS[0]


def judge_transfer(transfer: pd.DataFrame) -> Judgement:
    """I4, for each data set and kind of attention by itself; the worst decides, all are told.

    Of a draw, the difference between two arms is the mean over its numbers of samples; the interval
    is over draws. Supported if that of learned - shuffled lies above 0, contradicted if it lies
    below. The other two controls are told and decide nothing: beating training from scratch may
    come from sharpness, or from having fewer numbers to train.
    """
    judgements, told = [], []
    for (dataset, attention), rows in transfer.groupby(["dataset", "attention"], sort=False):
        found = {control: _paired(rows, control) for control in CONTROLS}
        interval = found[DECIDES]
        if interval is None:
            continue
        verdict = claims.verdict(interval, supported_above=0, contradicted_below=0)
        above = ", ".join(
            f"{control} by {_said(value)}" for control, value in found.items() if value is not None
        )
        counts = ", ".join(f"{k}" for k in sorted(rows.samples.unique()))
        told.append(
            f"{dataset}, {attention}: learned beats {above} ({interval.n} draws, mean over "
            f"{counts} samples a class)"
        )
        judgements.append(Judgement(verdict, interval, told[-1]))
    if not judgements:
        return claims.not_run("it needs fine-tuning with learned and with shuffled encodings")
    decides = claims.worst(judgements)
    return Judgement(decides.verdict, decides.interval, "; ".join(told))


def _paired(rows: pd.DataFrame, control: str) -> Interval | None:
    """The paired difference in accuracy, learned - control, over draws; None without a pair.

    A draw counts if it has both arms at every number of samples.
    """
    differences = difference(rows, control).dropna()
    return t_interval(differences.mean(axis=1)) if len(differences) else None


def _said(interval: Interval) -> str:
    if interval.low != interval.low:  # NaN: one draw, or draws that do not differ
        return f"{interval.estimate:.3f} (no interval)"
    return f"{interval.estimate:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


I4 = Claim(
    "I4",
    "spatial structure that was learned transfers: frozen positional encodings, W_Q and W_K serve "
    "new classes better than the same with the encodings' places shuffled",
    "Sec. 5, Theorem 5.1; Sec. 6",
    judge_transfer,
)
