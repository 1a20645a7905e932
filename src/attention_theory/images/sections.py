"""The study's section of the configuration: what is to be trained (no torch).

Read by the workflow alone, never by a step: a new data set or experiment here reruns nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path

from attention_theory.errors import require, within
from attention_theory.images import procedures, recipes
from attention_theory.images.datasets import FOLDER, KNOWN
from attention_theory.images.settings import (
    NEIGHBOURS,
    Architecture,
    Computation,
    DataSet,
    Frame,
    Split,
    Training,
    check_permutation,
    check_seeds,
)


def datasets(section: Mapping) -> dict[str, dict]:
    """The options of each data set's preparation. Raises BadInput with the key at fault."""
    with within("config key images"):
        for dataset in section["datasets"]:
            require(dataset in KNOWN, "datasets", dataset, "be one of: " + ", ".join(KNOWN))
    options = {}
    for dataset in section["datasets"]:
        options[dataset] = asdict(_split(section, dataset))
        if not KNOWN[dataset].embedded:
            places = {key: section[key] for key in ("data_dir", "downloads", "mirror")}
            options[dataset] |= {key: value for key, value in places.items() if value is not None}
            options[dataset]["checksum"] = [
                f"{name}={md5}" for name, md5 in section["checksums"].items()
            ]
        if dataset == FOLDER:
            options[dataset] |= asdict(_frame(section))
    return options


def trainings(section: Mapping) -> dict[str, dict]:
    """Every setting to train, keyed by its name, `<dataset>-<model's name>-<permutation>`.

    A setting holds the names `dataset` and `permutation`, `images` (what of its permuted images
    decides the permutation: `<dataset>-<patch>-<permutation>`), its number of `tokens` (0 without),
    and `options`, those of the training step. Raises BadInput with the key at fault.
    """
    seeds = _seeds(section)
    known = {dataset: _known(section, dataset) for dataset in datasets(section)}
    with within("config key images.training"):
        training = Training(**section["training"])
        for dataset, data in known.items():
            split = _split(section, dataset)
            images = split.sizes(data.images)[0] or split.limit or training.batch
            training.check_images(images, data.size)
            procedures.check_data(training, dataset, data.channels, data.classes)
    computation = _computation(section, training)
    return {
        f"{dataset}-{name}-{permutation}": {
            "dataset": dataset,
            "permutation": permutation,
            "images": f"{dataset}-{architecture.patch}-{permutation}",
            "tokens": architecture.tokens(known[dataset].size),
            "options": asdict(architecture)
            | asdict(training)
            | asdict(computation)
            | {"seeds": seeds[permutation]},
        }
        for dataset in known
        for name, architecture, own in _architectures(_models(section), known[dataset])
        for permutation in seeds
        if own is None or permutation in own
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
    """The settings with enough tokens to rank by their similarity."""
    return [name for name, setting in trainings.items() if setting["tokens"] > NEIGHBOURS]


def with_maps(trainings: Mapping[str, dict], attention: str = "self") -> str | None:
    """The first setting of a kind of attention on permuted patches, if any: its maps are drawn."""
    for name in with_similarity(trainings):
        setting = trainings[name]
        if setting["permutation"] == "patch" and setting["options"]["attention"] == attention:
            return name
    return None


def compares(trainings: Mapping[str, dict]) -> bool:
    """Whether vanilla and positional attention are both trained on some original images."""
    kinds = {
        (setting["images"], setting["options"]["attention"])
        for setting in trainings.values()
        if setting["permutation"] == "none" and setting["options"]["model"] == "vit"
    }
    return any((images, "self") in kinds and (images, "positional") in kinds for images, _ in kinds)


def pretrained(section: Mapping) -> dict[str, object]:
    """The options of the step that looks at a pretrained ViT's positions (Fig. 1a)."""
    with within("config key images.pretrained"):
        weights = section["pretrained"]["weights"]
        known = weights in (None, "timm") or Path(weights).is_file()
        allowed = "be timm, the path of a file that is there, or null: not run"
        require(known, "weights", weights, allowed)
    options = {"model": section["pretrained"]["model"]}
    return options | ({} if weights is None else {"weights": weights})


def _known(section: Mapping, dataset: str) -> DataSet:
    """What is known of a data set; the number of images is 0 where it is not."""
    if dataset != FOLDER:
        return KNOWN[dataset].data
    frame = _frame(section)
    return DataSet(0, frame.size, 3, frame.classes)


def _frame(section: Mapping) -> Frame:
    with within("config key images.imagefolder"):
        return Frame(**section["imagefolder"])


def _split(section: Mapping, dataset: str) -> Split:
    """The split of a data set: `test` is for those that have no test part of their own."""
    with within("config key images.split"):
        split = Split(**section["split"])
        _, data, embedded = KNOWN[dataset]
        if not embedded:
            split = replace(split, test=0.0)
        if data is not None:
            split.check_images(data.images, not embedded)
        return split


def _computation(section: Mapping, training: Training) -> Computation:
    """How trainings are computed; the workflow itself sees to the number of GPUs."""
    with within("config key images.computation"):
        values = dict(section["computation"])
        gpus = values.pop("gpus")
        require(gpus >= 1, "gpus", gpus, "be at least 1")
        computation = Computation(**values)
    with within("config key images.training"):
        computation.check_batch(training.batch, gpus)
    for name, sizes in _models(section).items():
        with within(f"config key images.models.{name}"):
            computation.check_norm(sizes["model"], gpus, "gpus")
    return computation


def _seeds(section: Mapping) -> dict[str, int]:
    """The number of seeds by permutation, those with none left out."""
    with within("config key images.seeds"):
        for permutation, seeds in section["seeds"].items():
            check_permutation(permutation)
            require(seeds >= 0, permutation, seeds, "not be negative")
    seeds = {permutation: n for permutation, n in section["seeds"].items() if n}
    with within("config key images"):
        check_seeds(sum(seeds.values()))
    return seeds


def _models(section: Mapping) -> dict[str, Mapping]:
    """The models by name, but those that are null: so a file laid over another leaves one out."""
    found = {name: sizes for name, sizes in section["models"].items() if sizes is not None}
    with within("config key images"):
        require(bool(found), "models", dict(section["models"]), "have one that is not null")
    return found


def _architectures(
    models: Mapping, data: DataSet
) -> Iterator[tuple[str, Architecture, list[str] | None]]:
    """The models of the configuration by name, checked against the size of the data set, and the
    permutations that they are trained on (None: all)."""
    seen: set[tuple] = set()
    for name, sizes in models.items():
        with within(f"config key images.models.{name}"):
            sizes = dict(sizes)
            permutations = sizes.pop("permutations", None)
            for permutation in permutations or ():
                check_permutation(permutation)
            defaults = recipes.sizes(sizes["model"], sizes.get("recipe", "standard"))
            architecture = Architecture(**(defaults | sizes))
            architecture.check_size(data.size)
            kind = (architecture.model, architecture.attention, architecture.patch)
            allowed = "differ from the others in model, attention or patch, as the tables do "
            allowed += "(they have no column for recipe or sizes: give those a `run` of their own)"
            require(kind not in seen, "model", architecture.model, allowed)
            seen.add(kind)
        yield name, architecture, permutations
