"""The columns of the Gaussian experiment's table, and the arrays beside it."""

GAUSSIAN = (
    "phi partition D C d p nu beta omega N eta_v eta_A cap test seed steps patch_association "
    "precision_at_c train_accuracy accuracy linear_accuracy alpha gamma rho contrast"
).split()
ATTENTION = "phi A".split()  # names (K,); means over seeds (K, D, D), patches ordered by set

INPUTS = {"gaussian": GAUSSIAN, "gaussian_attention": ATTENTION}
