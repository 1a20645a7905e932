"""The columns of the study's tables: what steps write and others may read."""

_PROBLEM = "d_x n tasks fresh mean spread neurons"
_DESCENT = "d_tau decay steps"

GAP = f"comparison L M tau prompts seed gap risk_gap K limit {_PROBLEM} {_DESCENT}".split()
WIDTHS = f"M_att M_mlp L tau prompts seed gap K {_PROBLEM} {_DESCENT}".split()
HORIZON = f"L M tau measure seed gap K limit {_PROBLEM} {_DESCENT}".split()
RISK = f"L M decay tau seed risk fresh_risk norm {_PROBLEM} d_tau steps".split()
DIGITS = (
    "seed step loss accuracy test_accuracy images parameters patch width layers heads mlp batch "
    "rate steps"
).split()

INPUTS = {"gap": GAP, "widths": WIDTHS, "horizon": HORIZON, "risk": RISK, "digits": DIGITS}
