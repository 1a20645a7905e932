"""The columns of the tables of experiments 1 and 5: what steps write and others may read."""

LINEAR = "D C q d N seed classifier error".split()
PRETRAINING = (
    "sweep setting partition D C d q p nu beta omega N eta_v eta_A test seed steps "
    "patch_association patch_association_max precision_at_c accuracy train_loss alpha gamma rho"
).split()
TRAJECTORY = (
    "sweep setting seed step train_loss validation_loss validation_accuracy patch_association "
    "precision_at_c alpha v_orthogonal gamma rho"
).split()
MODEL = "A v feature partition A_initial".split()  # arrays of a trained model

COSTS = "setting cpu_seconds startup_cpu_seconds".split()

INPUTS = {
    "costs": COSTS,
    "linear": LINEAR,
    "pretraining": PRETRAINING,
    "trajectory": TRAJECTORY,
    "model": MODEL,
}
