"""The figures of the study, from its tables (no torch)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attention_theory import figures, style
from attention_theory.kernels import columns, convergence_figures, stuck_figures
from attention_theory.kernels.drawing import (
    COLOURS,
    KERNELS,
    bands,
    draw_band,
    logarithmic,
    ticks,
)
from attention_theory.statistics import log_log_slope

MEASURES = {
    "movement": "$|W(t) - W(0)| \\,/\\, |W(0)|$",
    "ntk_change": "relative change of the NTK",
}
PARTS = {"movement_Q": "$W_Q$", "movement_K": "$W_K$", "movement_V": "$W_V$", "movement_O": "$W_O$"}
SWEEPS = {"D": "dimension $D$", "H": "number of heads $H$"}


def lazy(lazy: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """Movement of the weights and change of the tangent kernel against D and against H."""
    figure, axes = plt.subplots(2, 3, figsize=(style.PAGE, 4.4))
    shown = []
    for row, sweep in zip(axes, SWEEPS, strict=True):
        runs = lazy[(lazy.sweep == sweep) & (lazy.loss <= lazy.goal * lazy.loss_0)]
        for axis, (measure, label) in zip(row, MEASURES.items(), strict=False):
            for kernel, own in runs.groupby("kernel", sort=False):
                name, line, marker = KERNELS[kernel]
                look = {
                    "color": COLOURS[kernel],
                    "linestyle": line,
                    "marker": marker,
                    "markersize": 3.5,
                }
                name += _slope(own, sweep, measure)
                shown.append(_draw(axis, own, sweep, measure, label=name, **look))
            axis.set_ylabel(label)
        shown += _draw_parts(row[2], runs, sweep)
        other = "H" if sweep == "D" else "D"
        for axis in row:
            axis.set_xlabel(SWEEPS[sweep])
            logarithmic(axis, "y")
            ticks(axis, sorted(runs[sweep].unique()))
            if len(runs):
                axis.legend(fontsize=6.5)
            axis.set_title(f"${other} = {runs[other].iloc[0]}$" if len(runs) else "", fontsize=8)
    if not shown:  # no run got there
        return figure, pd.DataFrame(columns=["sweep", "kernel", "H", "D", "measure"])
    return figure, pd.concat(shown, ignore_index=True)


def _draw_parts(axis: Axes, runs: pd.DataFrame, sweep: str) -> list[pd.DataFrame]:
    """The movement of each weight by itself; softmax solid, Gaussian dashed."""
    shown = []
    for colour, (measure, label) in zip(style.PALETTE[2:], PARTS.items(), strict=False):
        for kernel, own in runs.groupby("kernel", sort=False):
            _, line, _ = KERNELS[kernel]
            name = label if kernel == "softmax" else None
            look = {"color": colour, "linestyle": line, "label": name}
            shown.append(_draw(axis, own, sweep, measure, **look))
    axis.set_ylabel("movement of each weight")
    return shown


def _draw(axis: Axes, runs: pd.DataFrame, sweep: str, measure: str, **look: object) -> pd.DataFrame:
    band = bands(runs.assign(measure=runs[measure]), ["sweep", "kernel", "H", "D"])
    draw_band(axis, band, sweep, **look)
    return band.assign(measure=measure)


def _slope(runs: pd.DataFrame, sweep: str, measure: str) -> str:
    """The fitted exponent, for a legend."""
    if runs[sweep].nunique() < 3 or len(runs) <= 3 or not np.ptp(runs[measure]):
        return ""
    return f", ${sweep}^{{{log_log_slope(runs[sweep], runs[measure]).slope:.2f}}}$"


FIGURES = {
    "convergence": convergence_figures.convergence,
    "rates": convergence_figures.rates,
    "stuck": stuck_figures.stuck,
    "targets": stuck_figures.targets,
    "lazy": lazy,
}

if __name__ == "__main__":
    figures.run("kernels", FIGURES, columns.INPUTS)
