"""The three events of the idealised process (Sec. 4.1, Appendix D), found in a trajectory.

The paper defines them by thresholds up to constants; these rules stand in their place:

- Event I, [0, T0]: alpha grows while A stands still. It ends at the first step whose increment of
  alpha is at most `SETTLED` of the largest.
- Event II, [T0, T1]: gamma grows while the risk stays on its plateau. It ends when the risk has
  fallen to `LEAVES` of what it was at T0.
- Event III, from T1: the risk falls. T2 is where it has come to `FALLEN` of what it was at T0.

The events are *apart* if gamma at T0 is still at most `APART` of its last value.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

SETTLED, LEAVES, FALLEN, APART = 0.01, 0.9, 0.1, 0.1


class Events(NamedTuple):
    """The steps T0, T1, T2 at which the events end; None where one is not reached."""

    T0: int | None
    T1: int | None
    T2: int | None
    gamma_share: float  # gamma at T0 over its last value; NaN without T0

    @property
    def apart(self) -> bool:
        """Whether the three events come one after the other."""
        return self.T2 is not None and self.T0 < self.T1 < self.T2 and self.gamma_share <= APART


def find(trajectory: pd.DataFrame) -> Events:
    """The events of one trajectory, its rows in order of `step` with alpha, gamma and risk."""
    alpha, gamma, risk = (trajectory[name].to_numpy() for name in ("alpha", "gamma", "risk"))
    steps = trajectory.step.to_numpy()
    increment = np.diff(alpha)
    if increment.max(initial=0) <= 0:  # alpha only falls: there is no Event I
        return Events(None, None, None, np.nan)
    largest = int(np.argmax(increment))
    T0 = _first(np.arange(len(increment)) > largest, increment <= SETTLED * increment.max())
    if T0 is None:
        return Events(None, None, None, np.nan)
    after = np.arange(len(risk)) > T0
    T1 = _first(after, risk <= LEAVES * risk[T0])
    T2 = _first(after, risk <= FALLEN * risk[T0])
    share = gamma[T0] / gamma[-1] if gamma[-1] > 0 else np.nan
    return Events(*(None if T is None else int(steps[T]) for T in (T0, T1, T2)), float(share))


def _first(*conditions: np.ndarray) -> int | None:
    """The first place at which every condition holds."""
    found = np.flatnonzero(np.logical_and.reduce(conditions))
    return int(found[0]) if len(found) else None
