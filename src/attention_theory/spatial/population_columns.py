"""The columns of the tables of experiments 2, 3 and 4: the idealised process."""

POPULATION = (
    "trajectory D C q p nu beta alpha_0 eta_v eta_A method step alpha gamma rho risk "
    "d_gamma_error d_rho_error error error_low error_high error_method"
).split()

INPUTS = {"population": POPULATION}
