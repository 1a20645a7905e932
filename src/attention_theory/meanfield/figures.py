"""The figures of the study `meanfield`: functions from tables to (figure, what it shows)."""

from attention_theory import figures
from attention_theory.meanfield import gap_figures, risk_figures
from attention_theory.meanfield.columns import INPUTS

FIGURES = {**gap_figures.FIGURES, **risk_figures.FIGURES}

if __name__ == "__main__":
    figures.run("meanfield", FIGURES, INPUTS)
