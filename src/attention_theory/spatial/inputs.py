"""What the study's figures and claims may read: the columns of each experiment's tables.

The columns stand with their experiments, so that a new one reruns no other.
"""

from attention_theory.spatial import (
    beyond_columns,
    columns,
    coupling_columns,
    gaussian_columns,
    phase_settings,
    population_columns,
    transfer_settings,
)

INPUTS = {
    **columns.INPUTS,
    **beyond_columns.INPUTS,
    **population_columns.INPUTS,
    "phase": phase_settings.PHASE_COLUMNS,
    "methods": phase_settings.METHODS_COLUMNS,
    **gaussian_columns.INPUTS,
    "transfer": transfer_settings.COLUMNS,
    **coupling_columns.INPUTS,
}
