"""Figures of the idealised process: trajectories, increments, phase diagram, methods."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attention_theory import style
from attention_theory.spatial import events

Drawn = tuple[Figure, pd.DataFrame]

SHOWN = ("D400", "D120", "D50", "literal")  # with their events, where the run has them
_BANDS = (("I", "0.93"), ("II", "0.86"), ("III", "0.79"))
_METHODS = {  # method: label, marker
    "exact": ("enumeration", "s"),
    "fourier": ("Fourier quadrature", "o"),
    "monte-carlo": ("common sample", "^"),
    "full model": ("full $D \\times D$ model,\nsame sample", "x"),
}


def _by_name(population: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {
        name: rows.sort_values("step").reset_index(drop=True)
        for name, rows in population.groupby("trajectory", sort=False)
    }


def trajectories(population: pd.DataFrame) -> Drawn:
    """alpha D, gamma, rho, risk and test error along trajectories, the three events as bands."""
    found = _by_name(population)
    names = [name for name in SHOWN if name in found] or list(found)[:4]
    figure, axes = plt.subplots(
        2, len(names), figsize=(style.PAGE, 3.6), sharex="col", squeeze=False
    )
    for column, name in enumerate(names):
        rows = found[name]
        top, bottom = axes[:, column]
        _draw_events(axes[:, column], rows)
        _draw_scalars(top, rows)
        _draw_risk(bottom, rows)
        setting = f"$D = {rows.D[0]}$, $\\beta = {rows.beta[0]:g}$"
        top.set_title(f"{setting}\n$\\alpha_0 = {rows.alpha_0[0]:.2g}$", fontsize=8)
        bottom.set_xlabel("step")
    axes[0, 0].set_ylabel("coefficient")
    axes[1, 0].set_ylabel("risk, test error")
    for row, place in ((0, "outside upper center"), (1, "outside lower center")):
        handles, labels = axes[row, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc=place, ncols=3, fontsize=7)
    shown = "trajectory D beta method step alpha gamma rho risk error error_low error_high "
    shown = (shown + "error_method").split()
    return figure, population[population.trajectory.isin(names)][shown]


def _draw_events(axes: np.ndarray, rows: pd.DataFrame) -> None:
    """Grey bands for Events I, II and III, as far as they are found and come in order."""
    found, last = events.find(rows), rows.step.iloc[-1]
    if not found.apart:
        if found.T0:  # they overlap: only the end of alpha's growth can be told
            for axis in axes:
                axis.axvline(found.T0, color="0.4", linewidth=0.8, linestyle="--")
            axes[0].text(
                found.T0,
                0.98,
                " $T_0$",
                va="top",
                fontsize=8,
                transform=axes[0].get_xaxis_transform(),
            )
        return
    edges = (0, found.T0, found.T1, last)
    for axis in axes:
        for (name, grey), start, stop in zip(_BANDS, edges, edges[1:], strict=False):
            axis.axvspan(start, stop, color=grey, linewidth=0)
            if axis is axes[0]:
                look = {"ha": "center", "va": "top", "fontsize": 8}
                place = axis.get_xaxis_transform()
                axis.text((start + stop) / 2, 0.98, name, transform=place, **look)


def _draw_scalars(axis: Axes, rows: pd.DataFrame) -> None:
    for colour, (values, label) in zip(
        style.PALETTE,
        ((rows.alpha * rows.D, "$\\alpha D$"), (rows.gamma, "$\\gamma$"), (rows.rho, "$\\rho$")),
        strict=False,
    ):
        axis.plot(rows.step, values, color=colour, label=label)
    axis.margins(x=0)


def _draw_risk(axis: Axes, rows: pd.DataFrame) -> None:
    axis.plot(rows.step, rows.risk, color=style.PALETTE[3], label="population risk")
    tested = rows[rows.error.notna()]
    found, none = tested[tested.error > 0], tested[tested.error == 0]
    spread = np.stack([found.error - found.error_low, found.error_high - found.error])
    look = {"fmt": "o", "markersize": 2.5, "color": style.PALETTE[4], "elinewidth": 0.8}
    axis.errorbar(found.step, found.error, np.abs(spread), label="test error (95 %)", **look)
    # No error in the sample: only the interval's upper end can be shown.
    axis.plot(none.step, none.error_high, "v", markersize=2.5, color=style.PALETTE[4])
    axis.set_yscale("log")
    axis.margins(x=0)


def increments(population: pd.DataFrame) -> Drawn:
    """The increments of gamma and rho at every step (Lemma 4.3), a panel a trajectory."""
    found = _by_name(population[(population.method != "monte-carlo") & (population.beta > 0)])
    columns = 5
    height = -(-len(found) // columns)
    figure, axes = plt.subplots(
        height, columns, figsize=(style.PAGE, 1.5 * height), squeeze=False, sharey=True
    )
    tables = []
    for axis, (name, rows) in zip(axes.flat, found.items(), strict=False):
        steps = rows.step[:-1]
        moves = {"gamma": np.diff(rows.gamma), "rho": np.diff(rows.rho)}
        for colour, label in ((style.PALETTE[1], "gamma"), (style.PALETTE[2], "rho")):
            axis.plot(steps, moves[label], color=colour, label=f"$\\Delta\\{label}$")
        axis.axhline(0, color="0.5", linewidth=0.6)
        axis.set_yscale("symlog", linthresh=1e-4)
        axis.set_yticks([-1e-2, 0, 1e-2])
        axis.set_title(name.replace("_", " "), fontsize=8)
        tables.append(pd.DataFrame({"trajectory": name, "step": steps, **moves}))
    for axis in list(axes.flat)[len(found) :]:
        axis.remove()
    for axis in axes[:, 0]:
        axis.set_ylabel("increment")
    figure.supxlabel("step", fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure, pd.concat(tables, ignore_index=True)


def phase(phase: pd.DataFrame) -> Drawn:
    """Final risk and patch association over (beta, q D), the linear models' error as contours."""
    figure, axes = plt.subplots(1, 2, figsize=(style.PAGE * 0.85, 2.8), sharey=True)
    for axis, (column, label, look) in zip(
        axes,
        (
            ("risk", "final population risk", {"cmap": style.SIMILARITY_MAP + "_r", "vmin": 0}),
            ("patch_association", "patch association", {"vmin": 0, "vmax": 1}),
        ),
        strict=True,
    ):
        grid = phase.pivot(index="q_D", columns="beta", values=column)
        _draw_cells(axis, grid, look)
        _draw_linear(axis, phase, grid, labelled=axis is axes[1])
        axis.set(title=label, xlabel="diagonal, $\\beta$")
    axes[0].set_ylabel("spurious features, $q\\,D$")
    shown = "D C p nu steps beta q_D alpha gamma rho risk patch_association linear_error".split()
    return figure, phase[shown]


def _draw_cells(axis: Axes, grid: pd.DataFrame, look: dict) -> None:
    values = grid.to_numpy()
    look = {"cmap": style.SIMILARITY_MAP} | look
    image = axis.imshow(values, origin="lower", aspect="auto", **look)
    for (row, column), value in np.ndenumerate(values):
        text = f"{value:.3f}".removeprefix("0") if 0 < value < 1 else f"{value:g}"
        red, green, blue, _ = image.to_rgba(value)
        dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.5
        colour = "white" if dark else "black"
        axis.text(column, row, text, ha="center", va="center", fontsize=6, color=colour)
    axis.set_xticks(range(grid.shape[1]), [f"{value:g}" for value in grid.columns])
    axis.set_yticks(range(grid.shape[0]), [f"{value:g}" for value in grid.index])
    axis.spines[["top", "right"]].set_visible(True)


def _draw_linear(axis: Axes, phase: pd.DataFrame, grid: pd.DataFrame, labelled: bool) -> None:
    """Contours of the error of the best linear model tried: it depends on q D alone, so they are
    level, and their labels stand outside."""
    errors = phase.groupby("q_D").linear_error.first().reindex(grid.index).to_numpy()
    levels = np.arange(0.05, 0.5, 0.05)
    levels = levels[(levels > errors.min()) & (levels < errors.max())]
    for level, height in zip(levels, np.interp(levels, errors, range(len(errors))), strict=True):
        axis.axhline(height, color=style.PALETTE[3], linewidth=1, linestyle="--")
        if labelled:
            look = {"va": "center", "fontsize": 7, "color": style.PALETTE[3]}
            axis.text(grid.shape[1] - 0.45, height, f"{level:.2f}", **look)


def methods(methods: pd.DataFrame) -> Drawn:
    """Work and error of a population gradient by each method, against D."""
    figure, axes = plt.subplots(1, 2, figsize=(style.PAGE * 0.85, 2.6))
    labels = ("operations a gradient", "error, relative to the\nsum of absolute terms")
    for axis, column, label in zip(axes, ("work", "difference"), labels, strict=True):
        for colour, (method, (name, marker)) in zip(style.PALETTE, _METHODS.items(), strict=False):
            rows = methods[methods.method == method].sort_values("D")
            look = {"color": colour, "marker": marker, "markersize": 4}
            axis.plot(rows.D, rows[column], label=name, **look)
            if column == "difference" and method == "fourier":
                reported = {"color": colour, "linestyle": ":", "linewidth": 1}
                axis.plot(rows.D, rows.reported, label="its bound", **reported)
        axis.set(xscale="log", yscale="log", xlabel="patches, $D$", ylabel=label)
    handles, names = axes[1].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right center", fontsize=7)
    return figure, methods["D method work reported difference".split()]


FIGURES = {
    "trajectories": trajectories,
    "increments": increments,
    "phase": phase,
    "methods": methods,
}
