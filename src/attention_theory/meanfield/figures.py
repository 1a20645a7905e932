"""The figures of the study `meanfield`: functions from tables to (figure, what it shows)."""

from attention_theory import figures
from attention_theory.meanfield import (
    bounds_columns,
    bounds_figures,
    columns,
    gap_figures,
    risk_figures,
)

FIGURES = {**gap_figures.FIGURES, **risk_figures.FIGURES, **bounds_figures.FIGURES}

if __name__ == "__main__":
    figures.run("meanfield", FIGURES, columns.INPUTS | bounds_columns.INPUTS)
