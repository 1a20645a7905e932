"""The columns of the study's tables: what steps write, and what figures and claims may read."""

SETTING = "dataset model attention patch permutation seed".split()
ACCURACY = [*SETTING, *"accuracy parameters setting".split()]
SIMILARITY = [
    *SETTING,
    *"measure epoch state precision_at_4 chance ceiling spearman precision_p spearman_p".split(),
]
PRETRAINED = "model state query precision_at_4 chance ceiling spearman reason".split()
COSTS = "study step setting seconds images_per_second".split()

INPUTS = {"accuracy": ACCURACY, "similarity": SIMILARITY, "pretrained": PRETRAINED, "costs": COSTS}
