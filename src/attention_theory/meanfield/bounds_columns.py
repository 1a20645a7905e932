"""The columns of the audit's tables: the verdicts, the searches behind them, Lipschitz constants.

`evaluations` counts points at which both sides were computed (of a density: fitted networks).
`holds` is true, false, or empty where a violation found is too close to rounding to be one.
"""

BOUNDS = (
    "bound stated form statement where_stated holds sup_ratio limit sup_D sup_N evaluations sizes "
    "seeds correction counterexample counterexample_D counterexample_N left right"
).split()
SEARCHES = "bound stated form D N seed search evaluations sup_ratio".split()
LIPSCHITZ = "attention D N norm seed search evaluations J".split()

INPUTS = {"bounds": BOUNDS, "bounds_searches": SEARCHES, "lipschitz": LIPSCHITZ}
