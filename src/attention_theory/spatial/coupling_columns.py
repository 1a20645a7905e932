"""The columns of the tables of experiments 3 and 4: processes side by side, and gradients."""

COUPLING = (
    "process N seed D C d q p nu beta omega alpha_0 eta_v eta_A step loss alpha v_orthogonal gamma "
    "rho gamma_spread rho_spread deviation distance delta_A"
).split()
INVARIANCE = (
    "N seed D C d q p nu beta step alpha gamma rho d_alpha d_orthogonal d_gamma d_rho "
    "d_gamma_spread d_rho_spread"
).split()

INPUTS = {"coupling": COUPLING, "invariance": INVARIANCE}
