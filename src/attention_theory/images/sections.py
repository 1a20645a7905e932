"""The study's section of the configuration: what is to be trained (no torch).

Read by the workflow alone, never by a step: a new data set or experiment here reruns nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

from attention_theory.errors import require, within
from attention_theory.images import recipes
from attention_theory.images.settings import (
    NEIGHBOURS,
    Architecture,
    DataSet,
    Split,
    Training,
    check_permutation,
    check_seeds,
)

DATASETS = {"digits": DataSet(images=1797, size=8, channels=1, classes=10)}


def trainings(section: Mapping) -> dict[str, dict]:
    """Every setting to train, keyed by its name, `<dataset>-<model's name>-<permutation>`.

    A setting holds the names `dataset` and `permutation`, `images` (what of its permuted images
    decides the permutation: `<dataset>-<patch>-<permutation>`), its number of `tokens` (0 without),
    and `options`, those of the training step. Raises BadInput with the key at fault.
    """
    with within("config key images"):
        check_seeds(section["seeds"])
        for dataset in section["datasets"]:
            require(dataset in DATASETS, "dataset", dataset, "be one of: " + ", ".join(DATASETS))
        for permutation in section["permutations"]:
            check_permutation(permutation)
    with within("config key images.split"):
        split = Split(**section["split"])
        for dataset in section["datasets"]:
            split.check_images(DATASETS[dataset].images)
    with within("config key images.training"):
        training = Training(**section["training"])
        for dataset in section["datasets"]:
            known = DATASETS[dataset]
            training.check_images(split.sizes(known.images)[0], known.size)
    return {
        f"{dataset}-{name}-{permutation}": {
            "dataset": dataset,
            "permutation": permutation,
            "images": f"{dataset}-{architecture.patch}-{permutation}",
            "tokens": architecture.tokens(DATASETS[dataset].size),
            "options": asdict(architecture) | asdict(training) | {"seeds": section["seeds"]},
        }
        for dataset in section["datasets"]
        for name, architecture in _architectures(section["models"], dataset)
        for permutation in section["permutations"]
    }


def permutations(trainings: Mapping[str, dict]) -> dict[str, dict]:
    """The permutations that settings need, by name: `dataset`, and `options` of their step."""
    return {
        setting["images"]: {
            "dataset": setting["dataset"],
            "options": {
                "permutation": setting["permutation"],
                "patch": setting["options"]["patch"],
            },
        }
        for setting in trainings.values()
    }


def with_similarity(trainings: Mapping[str, dict]) -> list[str]:
    """The settings whose tokens have a place on the true grid, and enough of them to rank."""
    return [
        name
        for name, setting in trainings.items()
        if setting["tokens"] > NEIGHBOURS and setting["permutation"] != "pixel"
    ]


def with_maps(trainings: Mapping[str, dict]) -> str | None:
    """The first setting with similarity on permuted patches, if any: its maps are drawn."""
    names = with_similarity(trainings)
    return next((name for name in names if trainings[name]["permutation"] == "patch"), None)


def _architectures(models: Mapping, dataset: str) -> Iterator[tuple[str, Architecture]]:
    """The models of the configuration by name, checked against the size of the data set."""
    seen: set[tuple] = set()
    for name, sizes in models.items():
        with within(f"config key images.models.{name}"):
            defaults = recipes.sizes(sizes["model"], sizes.get("recipe", "standard"))
            architecture = Architecture(**(defaults | sizes))
            architecture.check_size(DATASETS[dataset].size)
            kind = (architecture.model, architecture.attention, architecture.patch)
            allowed = "differ from the other models in model, attention or patch, as the tables do"
            require(kind not in seen, "model", architecture.model, allowed)
            seen.add(kind)
        yield name, architecture
