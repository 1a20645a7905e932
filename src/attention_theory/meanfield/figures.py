"""The figures of the study `meanfield`: functions from tables to (figure, what it shows)."""

from attention_theory import figures
from attention_theory.meanfield import bounds_columns, bounds_figures

FIGURES = {**bounds_figures.FIGURES}

if __name__ == "__main__":
    figures.run("meanfield", FIGURES, bounds_columns.INPUTS)
