"""The columns of the tables of experiment 4.

`seed` is the number of a draw; `rate`, `steps` and `train_loss` are those of the fine-tuning;
`keys_initial` and `keys_final` the effective number of keys before and after it. `pretraining` has a
row a pretrained model, its precision@4 that of its encodings and of its attention matrices.
"""

RUN = "dataset attention positions samples seed rate steps train_loss accuracy".split()
TRANSFER = [*RUN, "keys_initial", "keys_final"]
PRETRAINING = (
    "dataset attention role seed train_loss accuracy precision_positions precision_attention "
    "chance ceiling keys"
).split()

INPUTS = {"transfer": TRANSFER}
