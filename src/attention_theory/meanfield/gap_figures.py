"""Figures of the gaps to the limits in depth and width (experiments B1, B5)."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from attention_theory import style
from attention_theory.meanfield import drawn, growth
from attention_theory.meanfield.drawn import Drawn
from attention_theory.meanfield.gap_claims import HALF_WAY, diagonal_ratios
from attention_theory.meanfield.verdicts import L_LEAST, exponents
from attention_theory.statistics import t_interval

_PROMPTS = {"train": ("training prompts", "o", "-"), "fresh": ("fresh prompts", "s", "--")}
_SAMPLING = {
    "independent": ("drawn in each layer", style.PALETTE[0], "o"),
    "shared": ("shared by all layers", style.PALETTE[1], "s"),
}
_MEASURES = {
    "train": "gap of outputs,\ntraining prompts",
    "fresh": "gap of outputs,\nfresh prompts",
    "parameters": "gap of parameters",
}
_LINES = dict(zip(growth.LAWS, (":", "--", "-", "-."), strict=True))


def gap(gap: pd.DataFrame) -> Drawn:
    """Gaps at start and after training: against L at M = infinity, against M, against L again."""
    figure, axes = plt.subplots(2, 3, figsize=(style.PAGE, 5.0))
    shown = []
    for row, tau in zip(axes, sorted(gap.tau.unique()), strict=True):
        rows = gap[gap.tau == tau]
        shown += _draw_depth(row[0], rows[rows.comparison == "depth"])
        fresh = rows[(rows.comparison != "depth") & (rows.prompts == "fresh")]
        shown += _draw_widths(row[1], fresh, "M", fresh[fresh.L == fresh.L.max()])
        shown += _draw_widths(row[2], fresh, "L", fresh[fresh.M == sorted(fresh.M.unique())[1]])
        when = f"$\\tau = {tau:g}$" if tau else "at the start"
        row[0].set_title(f"$M = \\infty$, {when}", fontsize=8)
        row[1].set_title(f"$L = {fresh.L.max():g}$, {when}", fontsize=8)
        row[2].set_title(f"$M = {sorted(fresh.M.unique())[1]:g}$, {when}", fontsize=8)
    return drawn.laid_out(figure), pd.concat(shown, ignore_index=True)


def _draw_depth(axis: Axes, rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Outputs and risk against L, on both kinds of prompts, with 1 / L."""
    shown = []
    rows = rows[rows.L < rows.limit]
    for colour, (measure, name) in zip(
        style.PALETTE, {"gap": "outputs", "risk_gap": "risk"}.items(), strict=False
    ):
        for prompts, (_, marker, line) in _PROMPTS.items():
            own = rows[rows.prompts == prompts]
            table = drawn.by(own, ["L"], measure, drawn.root_mean_square)
            slope = t_interval(exponents(own[own.L >= L_LEAST], "L", measure))
            label = f"{name}, {prompts}: {_power('L', slope)}"
            look = {"color": colour, "marker": marker, "linestyle": line, "label": label}
            drawn.points(axis, table.L, table, **look)
            shown.append(_named(table, "depth", prompts, slope, rows))
    _scale(axis, rows.L, "depth $L$")
    return shown


def _draw_widths(axis: Axes, rows: pd.DataFrame, x: str, at: pd.DataFrame) -> list[pd.DataFrame]:
    """The gap `at` one value of the other size; exponents are fitted over all values of it."""
    shown = []
    for sampling, (name, colour, marker) in _SAMPLING.items():
        own = at[at.comparison == sampling]
        table = drawn.by(own, [x], "gap", drawn.root_mean_square)
        slope = t_interval(exponents(rows[rows.comparison == sampling], x))
        label = f"{name}: {_power(x, slope)}"
        drawn.points(axis, table[x], table, color=colour, marker=marker, label=label)
        shown.append(_named(table, sampling, "fresh", slope, own))
    if x == "L":
        sizes = np.array(sorted(at.L.unique()))
        start = shown[0]["mean"].iloc[0]
        rate = np.sqrt(np.log(np.maximum(sizes, 2)))
        look = {"color": "0.4", "linestyle": (0, (1, 1.5)), "label": "$\\sqrt{\\log L}$"}
        axis.plot(sizes, start * rate / rate[0], **look)
    _scale(axis, at[x], {"M": "width $M$", "L": "depth $L$"}[x])
    return shown


def _named(
    table: pd.DataFrame, comparison: str, prompts: str, slope: object, rows: pd.DataFrame
) -> pd.DataFrame:
    """A curve's points with what they belong to."""
    one = {name: rows[name].iloc[0] for name in ("tau", "L", "M") if name not in table}
    fitted = {"exponent": slope.estimate, "exponent_low": slope.low, "exponent_high": slope.high}
    return table.assign(comparison=comparison, prompts=prompts, **one, **fitted)


def _power(x: str, slope: object) -> str:
    """A fitted power with the half-width of its interval."""
    half = slope.high - slope.estimate
    error = "" if np.isnan(half) else f" \\pm {half:.2f}"
    return f"${x}^{{{slope.estimate:.2f}{error}}}$"


def _scale(axis: Axes, sizes: pd.Series, label: str) -> None:
    """Logarithmic axes with room for the legend below."""
    drawn.sizes_on(axis, sizes)
    axis.set(xlabel=label, ylabel="root mean square gap", yscale="log")
    low, high = axis.get_ylim()
    axis.set_ylim(low * (low / high) ** 0.75, high)
    axis.legend(fontsize=6, loc="lower left", handlelength=1.6)


def horizon(horizon: pd.DataFrame) -> Drawn:
    """Gaps over a long time, a size a colour, with the law that fits each best."""
    figure, axes = plt.subplots(1, 3, figsize=(style.PAGE, 2.7))
    sizes = list(horizon[["L", "M"]].drop_duplicates().itertuples(index=False, name=None))
    shown = []
    for axis, (measure, label) in zip(axes, _MEASURES.items(), strict=True):
        for colour, (L, M) in zip(style.PALETTE, sizes, strict=False):
            own = horizon[(horizon.L == L) & (horizon.M == M) & (horizon.measure == measure)]
            table = drawn.by(own, ["tau"], "gap", drawn.root_mean_square)
            table = table.assign(L=L, M=M, measure=measure)
            band = table[table["mean"] > 0]  # parameters start as equals
            look = {"color": colour, "label": f"$L = {L:g}$, $M = {M:g}$"}
            drawn.band(axis, band.tau, band, **look)
            fits = {
                law: growth.fit(law, band.tau.to_numpy(), band["mean"].to_numpy())
                for law in growth.LAWS
            }
            best = min(fits, key=lambda law: fits[law][1])
            label_best = f"{best}, off by {100 * fits[best][1]:.0f} %"
            look = {"color": colour, "linestyle": _LINES[best], "linewidth": 0.9}
            axis.plot(band.tau, fits[best][0], label=label_best, **look)
            shown.append(table.assign(**{f"misfit_{law}": off for law, (_, off) in fits.items()}))
        axis.set(xlabel="time $\\tau$", ylabel=label, yscale="log")
        low, high = axis.get_ylim()
        axis.set_ylim(low * (low / high) ** 0.5, high)
        axis.legend(fontsize=6, loc="lower right")
    return drawn.laid_out(figure), pd.concat(shown, ignore_index=True)


def widths(widths: pd.DataFrame) -> Drawn:
    """Squared gaps over both widths, and the ratio that tells a sum from a minimum."""
    figure, axes = plt.subplots(1, 3, figsize=(style.PAGE, 2.9))
    fresh = widths[widths.prompts == "fresh"]
    shown = []
    for axis, tau in zip(axes, sorted(fresh.tau.unique()), strict=False):
        rows = fresh[fresh.tau == tau]
        shown.append(_draw_grid(axis, rows).assign(tau=tau))
        when = f"$\\tau = {tau:g}$" if tau else "at the start"
        axis.set_title(f"$L = {rows.L.iloc[0]:g}$, fresh prompts, {when}", fontsize=8)
    ratios = diagonal_ratios(widths)
    axis = axes[2]
    table = drawn.by(ratios, ["tau", "prompts", "M"], "ratio", drawn.geometric_mean)
    for number, ((tau, prompts), own) in enumerate(table.groupby(["tau", "prompts"])):
        _, marker, line = _PROMPTS[prompts]
        when = f"$\\tau = {tau:g}$" if tau else "start"
        look = {"color": style.PALETTE[2 if tau else 4], "marker": marker, "linestyle": line}
        aside = 2 ** (0.12 * (number - 1.5))  # side by side
        drawn.points(axis, own.M * aside, own, label=f"{when}, {prompts}", **look)
    axis.axhline(1, color="0.3", linewidth=0.9, linestyle="--")
    axis.axhline(1 / 2, color="0.3", linewidth=0.9, linestyle=":")
    drawn.sizes_on(axis, table.M)
    axis.text(table.M.max() * 1.5, 1, "sum", va="bottom", ha="right", fontsize=6.5)
    axis.text(table.M.max() * 1.5, 1 / 2, "minimum", va="bottom", ha="right", fontsize=6.5)
    axis.set(xlabel="both widths $M$", ylabel="gap$^2(M, M)$ / separate gaps$^2$")
    axis.set_ylim(0, max(1.5, axis.get_ylim()[1]))
    axis.legend(fontsize=6, loc="lower left", ncols=2)
    shown.append(table.assign(half_way=HALF_WAY))
    return drawn.laid_out(figure), pd.concat(shown, ignore_index=True)


def _draw_grid(axis: Axes, rows: pd.DataFrame) -> pd.DataFrame:
    """The gap against M_att, a line a M_mlp; infinity stands one place beyond the largest width."""
    table = drawn.by(rows, ["M_att", "M_mlp"], "gap", drawn.root_mean_square)
    finite = sorted(value for value in table.M_att.unique() if np.isfinite(value))
    beyond = finite[-1] ** 2 / finite[-2] if len(finite) > 1 else 4 * finite[-1]
    palette = plt.get_cmap(style.SIMILARITY_MAP)
    for number, M_mlp in enumerate([*finite, np.inf]):
        own = table[table.M_mlp == M_mlp]
        name = f"{M_mlp:g}" if np.isfinite(M_mlp) else "\\infty"
        look = {"color": palette(0.85 * number / len(finite)), "marker": "o"}
        x = own.M_att.replace(np.inf, beyond)
        drawn.points(axis, x, own, label=f"$M_{{mlp}} = {name}$", **look)
    axis.set(xlabel="$M_{att}$", ylabel="root mean square gap", yscale="log")
    drawn.sizes_on(axis, [*finite, beyond])
    axis.set_xticks([*finite, beyond], [*(f"{value:g}" for value in finite), "$\\infty$"])
    low, high = axis.get_ylim()
    axis.set_ylim(low * (low / high) ** 0.4, high)
    axis.legend(fontsize=6, loc="lower left")
    return table


FIGURES = {"gap": gap, "widths": widths, "horizon": horizon}
