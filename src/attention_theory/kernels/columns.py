"""The columns of the study's tables."""

CONVERGENCE = (
    "kernel training H D N n d sigma seed steps loss_0 loss_half loss rate rank condition limit"
).split()
CURVES = "kernel training H D seed step loss".split()
STUCK = (
    "case target size eps kernel H D N n d sigma seed steps threshold loss_0 loss floor "
    "gradient_norm hessian_min"
).split()
BUDGETS = "case kernel H n seed step loss_0 loss threshold".split()
LAZY = (
    "sweep kernel H D N n d sigma seed steps goal loss_0 loss movement movement_Q movement_K "
    "movement_V movement_O ntk_change"
).split()

INPUTS = {
    "convergence": CONVERGENCE,
    "curves": CURVES,
    "stuck": STUCK,
    "budgets": BUDGETS,
    "lazy": LAZY,
}
