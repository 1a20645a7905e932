"""How every figure looks and how it is saved: PDF, PNG and the table of what it shows."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from attention_theory import files, tables

COLUMN = 3.4  # inches: one column of a two-column page
PAGE = 7.0  # inches: both columns
PALETTE = sns.color_palette("colorblind")
SIMILARITY_MAP = "viridis"  # sequential
DIFFERENCE_MAP = "vlag"  # diverging, symmetric about zero

# Equal tables must give equal bytes: no dates, no random identifiers, no version strings.
METADATA = {
    ".pdf": {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None},
    ".png": {"Software": None},
}


def use() -> None:
    """Set seaborn's theme for print: small type, thin lines, fonts embedded as outlines."""
    sns.set_theme(
        context="paper",
        style="ticks",
        palette="colorblind",
        rc={
            "figure.constrained_layout.use": True,
            "figure.dpi": 100,
            "savefig.dpi": 200,
            "pdf.fonttype": 42,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "legend.frameon": False,
        },
    )


def save(figure: Figure, table: pd.DataFrame, stem: Path) -> None:
    """Write `stem`.pdf, `stem`.png and `stem`.csv (the numbers that the figure shows)."""
    for suffix, metadata in METADATA.items():
        with files.replacing(stem.with_suffix(suffix)) as temporary:
            figure.savefig(temporary, metadata=metadata)
    tables.write(stem.with_suffix(".csv"), table, list(table.columns))
    plt.close(figure)
