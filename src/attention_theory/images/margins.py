"""The margins of the study's claims, fixed before the run; figures show them too."""

SURVIVES = 0.02  # a drop below this is survival
SUFFERS = 0.01  # a drop above this is damage
HALF_WAY = 0.5  # from chance to ceiling: nearer to the ceiling than to chance
MARGIN = 0.02  # a model that is worse by less competes
