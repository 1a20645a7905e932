"""The part of the configuration that experiment 4 has (no torch); read by the workflow alone."""

from collections.abc import Mapping

from attention_theory.errors import require, within
from attention_theory.images import sections, transfer_settings
from attention_theory.images.datasets import FOLDER, KNOWN
from attention_theory.images.settings import DataSet
from attention_theory.images.transfer_settings import (
    Draws,
    Finetuning,
    Pretraining,
    Transformer,
)

GROUPS = {"model": Transformer, "pretraining": Pretraining, "finetuning": Finetuning}


def transfer(section: Mapping) -> dict[str, dict]:
    """The options of the transfer step by data set, from the section of the whole study.

    Raises BadInput with the key at fault.
    """
    own, options = section["transfer"], {}
    for name, group in GROUPS.items():
        with within(f"config key images.transfer.{name}"):
            options |= vars(group(**own[name]))
    with within("config key images.transfer"):
        transfer_settings.check_attentions(own["attentions"])
        counts = {name: own[name] for name in ("draws", "tuning_draws", "at_once")}
        options |= vars(Draws(**counts)) | {"attention": own["attentions"]}
    datasets = list(sections.datasets(section))
    if own["draws"]:
        for dataset in datasets:
            _check_data(own, _known(section, dataset))
    return dict.fromkeys(datasets, options)


def _check_data(own: Mapping, data: DataSet) -> None:
    """Raise BadInput unless the settings fit a data set."""
    with within("config key images.transfer.model"):
        Transformer(**own["model"]).check_data(data.size, data.classes)
    with within("config key images.transfer.pretraining"):
        shift = own["pretraining"]["shift"]
        require(shift < data.size, "shift", shift, f"be below the image size {data.size}")


def _known(section: Mapping, dataset: str) -> DataSet:
    """What is known of a data set before it is read."""
    if dataset != FOLDER:
        return KNOWN[dataset].data
    frame = section["imagefolder"]
    return DataSet(0, frame["size"], 3, frame["classes"])
