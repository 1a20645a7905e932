"""The figures of experiment 4: functions from its table to (figure, table of what is shown)."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attention_theory import style
from attention_theory.images.transfer_columns import difference
from attention_theory.statistics import t_interval

Drawn = tuple[Figure, pd.DataFrame]

ARMS = {  # name in the table: label, marker, colour
    "learned": ("learned", "o", style.PALETTE[0]),
    "shuffled": ("learned, places shuffled", "s", style.PALETTE[1]),
    "random": ("random, as sharp", "^", style.PALETTE[2]),
    "scratch": ("from scratch, all trained", "D", style.PALETTE[3]),
}
ATTENTIONS = {"self": "vanilla attention", "positional": "positional attention"}
CONTROL = "shuffled"


def transfer(transfer: pd.DataFrame) -> Drawn:
    """Accuracy on the new classes against the samples a class, by arm: means, intervals over draws.

    A row a data set, a panel a kind of attention.
    """
    keys = "dataset attention positions samples".split()
    table = _intervals(
        (dict(zip(keys, place, strict=True)), rows.accuracy)
        for place, rows in transfer.groupby(keys, sort=False)
    )
    figure, axes = _panels(table, 2.6)
    for (dataset, attention), axis in axes.items():
        panel = table[(table.dataset == dataset) & (table.attention == attention)]
        for number, (arm, (label, marker, colour)) in enumerate(ARMS.items()):
            _draw(axis, panel[panel.positions == arm], number - 1.5, label, marker, colour)
    _samples_axes(axes, sorted(table.samples.unique()))
    _titles(axes, "test accuracy, new classes")
    _legend(figure, axes)
    return figure, table


def transfer_difference(transfer: pd.DataFrame) -> Drawn:
    """Accuracy of learned - shuffled, paired, against the samples a class: every draw, and means.

    On the right the mean over the numbers of samples, which the claim rests on.
    """
    rows, dots = [], []
    for (dataset, attention), runs in transfer.groupby(["dataset", "attention"], sort=False):
        paired = difference(runs, CONTROL).dropna()
        columns = {f"{k}": paired[k] for k in paired.columns} | {"mean": paired.mean(axis=1)}
        for place, (name, values) in enumerate(columns.items()):
            where = {"dataset": dataset, "attention": attention, "samples": name, "place": place}
            rows.append((where, values))
            dots.append(pd.DataFrame(where | {"seed": values.index, "difference": values.values}))
    table = _intervals(rows)
    figure, axes = _panels(table, 2.6)
    shown = pd.concat(dots, ignore_index=True).merge(table)
    for (dataset, attention), axis in axes.items():
        panel = table[(table.dataset == dataset) & (table.attention == attention)]
        draws = shown[(shown.dataset == dataset) & (shown.attention == attention)]
        spread = 0.12 + 0.02 * (draws.seed % 5)
        axis.plot(draws.place + spread, draws.difference, ".", color="0.6", ms=4, label="a draw")
        look = {"fmt": "o", "color": style.PALETTE[0], "ms": 4.5, "capsize": 3}
        axis.errorbar(panel.place, panel["mean"], _bars(panel), label="mean, 95 %", **look)
        axis.axhline(0, color="0.3", lw=0.8)
        names = [name if name == "mean" else f"$k = {name}$" for name in panel.samples]
        axis.set_xticks(panel.place, names)
    _titles(axes, "accuracy, learned $-$ shuffled")
    _legend(figure, axes)
    return figure, shown.drop(columns="place")


def _intervals(groups) -> pd.DataFrame:
    """A row a group: what names it, the mean of its values, its t interval and n."""
    rows = []
    for place, values in groups:
        mean, low, high, n = t_interval(values)
        rows.append(place | {"mean": mean, "ci_low": low, "ci_high": high, "n": n})
    return pd.DataFrame(rows)


def _panels(table: pd.DataFrame, height: float) -> tuple[Figure, dict[tuple, Axes]]:
    """A row of panels a data set, a panel a kind of attention."""
    datasets, attentions = (list(dict.fromkeys(table[x])) for x in ("dataset", "attention"))
    figure, axes = plt.subplots(
        len(datasets),
        len(attentions),
        figsize=(style.COLUMN * len(attentions), height * len(datasets) + 0.3),
        sharey="row",
        squeeze=False,
    )
    return figure, {
        (dataset, attention): axes[row, column]
        for row, dataset in enumerate(datasets)
        for column, attention in enumerate(attentions)
    }


def _draw(
    axis: Axes, curve: pd.DataFrame, offset: float, label: str, marker: str, colour: tuple
) -> None:
    """A curve on a logarithmic axis, moved aside a little: intervals must not hide each other."""
    look = {"color": colour, "marker": marker, "ms": 4, "lw": 1.2, "capsize": 2.5, "elinewidth": 1}
    axis.errorbar(curve.samples * 1.03**offset, curve["mean"], _bars(curve), label=label, **look)


def _bars(rows: pd.DataFrame) -> list[pd.Series]:
    """Error bars of means, none where there is no interval."""
    return [(rows["mean"] - rows.ci_low).fillna(0), (rows.ci_high - rows["mean"]).fillna(0)]


def _samples_axes(axes: dict[tuple, Axes], ticks: list[int]) -> None:
    """Logarithmic axes of numbers of samples."""
    for axis in axes.values():
        axis.set_xscale("log")
        axis.set_xticks(ticks, [f"{tick}" for tick in ticks])
        axis.minorticks_off()
        axis.set_xlabel("samples a class, $k$")
        axis.yaxis.grid(True, lw=0.4)


def _titles(axes: dict[tuple, Axes], measured: str) -> None:
    """The attention above each panel, what is measured beside each row."""
    first = next(iter(axes))[1]
    for (dataset, attention), axis in axes.items():
        axis.set_title(ATTENTIONS[attention])
        if attention == first:
            axis.set_ylabel(f"{measured}\n{dataset}")


def _legend(figure: Figure, axes: dict[tuple, Axes]) -> None:
    handles, labels = next(iter(axes.values())).get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(handles))


FIGURES = {"transfer": transfer, "transfer_difference": transfer_difference}
