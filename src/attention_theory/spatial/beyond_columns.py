"""The columns of the tables of experiment 8: encodings, unassociated models, the planted set."""

ENCODINGS = (
    "partition D C d q p nu beta omega N eta_v eta_A size cap test parametrisation diagonal m seed "
    "steps patch_association patch_association_max precision_at_c accuracy gamma rho"
).split()
UNASSOCIATED = (
    "kind D C q p nu beta g_0 gamma alpha_D N test seed steps patch_association precision_at_c "
    "partner_association accuracy lowest_eigenvalue"
).split()
PLANTED = "curve C q m degree knowledge n tv error".split()

INPUTS = {"encodings": ENCODINGS, "unassociated": UNASSOCIATED, "planted": PLANTED}
