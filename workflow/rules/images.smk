# The study `images`: data, permutations, training (every seed of a setting a job), similarity.

import shlex

from attention_theory.images import sections as image_sections

IMAGES = f"{RESULTS}/images"
IMAGE_DATA = ours.checked(image_sections.datasets, config["images"])
IMAGE_SETTINGS = ours.checked(image_sections.trainings, config["images"])
IMAGE_PERMUTATIONS = image_sections.permutations(IMAGE_SETTINGS)
IMAGE_GPUS = config["images"]["computation"]["gpus"]
WITH_SIMILARITY = image_sections.with_similarity(IMAGE_SETTINGS)
WITH_MAPS = image_sections.with_maps(IMAGE_SETTINGS)
WITH_ATTENTION = image_sections.with_maps(IMAGE_SETTINGS, "positional") or WITH_MAPS
PRETRAINED = ours.checked(image_sections.pretrained, config["images"])
PRETRAINED_FILES = [
    path for key, path in PRETRAINED.items() if key == "weights" and path != "timm"
]


rule images_data:
    input:
        code=lambda wildcards: ours.code(f"images.{wildcards.dataset}"),
    output:
        data=f"{IMAGES}/data/{{dataset}}.npz",
        provenance=f"{IMAGES}/provenance/data-{{dataset}}.json",
    log:
        f"{IMAGES}/logs/data-{{dataset}}.log",
    wildcard_constraints:
        dataset="|".join(IMAGE_DATA),
    cache: True
    localrule: True
    conda:
        ENVIRONMENT
    params:
        options=lambda wildcards: ours.options(
            IMAGE_DATA[wildcards.dataset] | {"base_seed": config["base_seed"]}
        ),
    shell:
        "python -m attention_theory.images.{wildcards.dataset} {params.options}"
        " --output {output.data:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"


rule images_permutation:
    input:
        data=lambda wildcards: (
            f"{IMAGES}/data/{IMAGE_PERMUTATIONS[wildcards.images]['dataset']}.npz"
        ),
        code=ours.code("images.permutation"),
    output:
        permutation=f"{IMAGES}/permutations/{{images}}.npz",
        provenance=f"{IMAGES}/provenance/permutation-{{images}}.json",
    log:
        f"{IMAGES}/logs/permutation-{{images}}.log",
    wildcard_constraints:
        images="|".join(IMAGE_PERMUTATIONS),
    cache: True
    localrule: True
    conda:
        ENVIRONMENT
    params:
        options=lambda wildcards: ours.options(
            IMAGE_PERMUTATIONS[wildcards.images]["options"]
            | {"base_seed": config["base_seed"]}
        ),
    shell:
        "python -m attention_theory.images.permutation --data {input.data:q} {params.options}"
        " --output {output.permutation:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"


# A permutation has a number of seeds of its own, and so a rule: a cached one names every output.
# No path is a parameter of a cached rule: with --cache, runs of another name share its jobs.

for permutation, seeds in config["images"]["seeds"].items():
    settings = [
        name
        for name, setting in IMAGE_SETTINGS.items()
        if setting["permutation"] == permutation
    ]
    if not settings:
        continue

    rule:
        name:
            f"images_training_{permutation}"
        input:
            data=lambda wildcards: (
                f"{IMAGES}/data/{IMAGE_SETTINGS[wildcards.setting]['dataset']}.npz"
            ),
            permutation=lambda wildcards: (
                f"{IMAGES}/permutations/{IMAGE_SETTINGS[wildcards.setting]['images']}.npz"
            ),
            code=lambda wildcards: ours.code(
                "images.training", IMAGE_SETTINGS[wildcards.setting]["options"]
            ),
        output:
            **ours.each_seed(
                "model",
                f"{IMAGES}/models/{{setting}}-seed{{seed}}.safetensors",
                seeds,
            ),
            **ours.each_seed(
                "snapshot",
                f"{IMAGES}/snapshots/{{setting}}-seed{{seed}}.npz",
                seeds,
            ),
            table=f"{IMAGES}/training/{{setting}}.csv",
            provenance=f"{IMAGES}/provenance/training-{{setting}}.json",
        log:
            f"{IMAGES}/logs/training-{{setting}}.log",
        wildcard_constraints:
            setting="|".join(settings),
        cache: True
        conda:
            ENVIRONMENT
        resources:
            gpu=ours.gpu(config, GPUS, IMAGE_GPUS),
            mem_mb=ours.scaled(4000),
            runtime=ours.scaled(240),
        params:
            device=lambda wildcards, resources: ours.options(
                {"gpu": min(resources.gpu, 1), "processes": max(resources.gpu, 1)}
            ),
            options=lambda wildcards: ours.options(
                IMAGE_SETTINGS[wildcards.setting]["options"]
                | {"base_seed": config["base_seed"]}
            ),
        shell:
            "python -m attention_theory.images.training --setting {wildcards.setting}"
            " --data {input.data:q} --permutation {input.permutation:q} {params.options}"
            ' --table {output.table:q} --models "$(dirname {output.model_0:q})"'
            ' --snapshots "$(dirname {output.snapshot_0:q})" {params.device}'
            ' --checkpoints "$(dirname "$(dirname {output.table:q})")"/checkpoints/{wildcards.setting}'
            " --provenance {output.provenance:q} 2>&1 | tee {log:q}"


rule images_similarity:
    input:
        snapshots=[
            f"{IMAGES}/snapshots/{name}-seed{seed}.npz"
            for name in WITH_SIMILARITY
            for seed in range(IMAGE_SETTINGS[name]["options"]["seeds"])
        ],
        permutations=expand(
            f"{IMAGES}/permutations/{{images}}.npz",
            images=sorted(
                {IMAGE_SETTINGS[name]["images"] for name in WITH_SIMILARITY}
            ),
        ),
        code=ours.piped("images.measuring"),
    output:
        table=f"{IMAGES}/similarity.csv",
        provenance=f"{IMAGES}/provenance/similarity.json",
    log:
        f"{IMAGES}/logs/similarity.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        permutations=lambda wildcards, input: shlex.join(
            f"--permutation={path}" for path in input.permutations
        ),
        base_seed=config["base_seed"],
    shell:
        "printf '%s\\0' {input.snapshots:q} | python -m attention_theory.piped images.measuring"
        " {params.permutations} --base-seed {params.base_seed}"
        " --output {output.table:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"


rule images_pretrained:
    input:
        weights=PRETRAINED_FILES,
        code=ours.code("images.pretrained"),
    output:
        table=f"{IMAGES}/pretrained.csv",
        maps=f"{IMAGES}/pretrained.npz",
        provenance=f"{IMAGES}/provenance/pretrained.json",
    log:
        f"{IMAGES}/logs/pretrained.log",
    localrule: True
    conda:
        ENVIRONMENT
    params:
        options=ours.options(PRETRAINED | {"base_seed": config["base_seed"]}),
    shell:
        "python -m attention_theory.images.pretrained {params.options}"
        " --table {output.table:q} --maps {output.maps:q}"
        " --provenance {output.provenance:q} 2>&1 | tee {log:q}"


IMAGE_TABLES = [f"{IMAGES}/training/{name}.csv" for name in IMAGE_SETTINGS]
OUTPUTS["images"] = [
    *expand(rules.images_data.output, dataset=IMAGE_DATA),
    *expand(rules.images_permutation.output, images=IMAGE_PERMUTATIONS),
    *[
        path
        for name, setting in IMAGE_SETTINGS.items()
        for path in expand(
            getattr(rules, f"images_training_{setting['permutation']}").output,
            setting=name,
        )
    ],
    *rules.images_similarity.output,
    *rules.images_pretrained.output,
]
TABLES["images"] = {"accuracy": IMAGE_TABLES}
FIGURES["images"] = {"accuracy": {"accuracy": f"{IMAGES}/accuracy.csv"}}
if any(setting["permutation"] != "none" for setting in IMAGE_SETTINGS.values()):
    FIGURES["images"]["drops"] = {"accuracy": f"{IMAGES}/accuracy.csv"}
if image_sections.compares(IMAGE_SETTINGS):
    FIGURES["images"]["competition"] = {"accuracy": f"{IMAGES}/accuracy.csv"}
if WITH_SIMILARITY:
    FIGURES["images"]["recovery"] = {"similarity": f"{IMAGES}/similarity.csv"}
if WITH_MAPS:
    for figure in ("similarity_maps", "similarity_tiles"):
        FIGURES["images"][figure] = {
            "snapshot": f"{IMAGES}/snapshots/{WITH_MAPS}-seed0.npz",
            "permutation": f"{IMAGES}/permutations/{IMAGE_SETTINGS[WITH_MAPS]['images']}.npz",
        }
if WITH_ATTENTION:
    for figure in ("attention_maps", "attention_layers"):
        FIGURES["images"][figure] = {
            "attention_snapshot": f"{IMAGES}/snapshots/{WITH_ATTENTION}-seed0.npz",
            "attention_permutation": f"{IMAGES}/permutations/{IMAGE_SETTINGS[WITH_ATTENTION]['images']}.npz",
        }
if "weights" in PRETRAINED:
    FIGURES["images"]["pretrained"] = {"pretrained_maps": f"{IMAGES}/pretrained.npz"}
if image_sections.compares(IMAGE_SETTINGS):

    rule images_cost:
        input:
            accuracy=f"{IMAGES}/accuracy.csv",
            costs=f"{RESULTS}/costs.csv",
            code=ours.code("images.figures"),
        output:
            pdf=f"{IMAGES}/figures/cost.pdf",
            png=report(
                f"{IMAGES}/figures/cost.png",
                caption="../report/images/cost.rst",
                category="images",
                subcategory="figures",
                labels={"figure": "cost"},
            ),
            table=f"{IMAGES}/figures/cost.csv",
            provenance=f"{IMAGES}/provenance/cost.json",
        log:
            f"{IMAGES}/logs/cost.log",
        localrule: True
        conda:
            ENVIRONMENT
        params:
            inputs=ours.named,
            folder=lambda wildcards, output: str(Path(output.pdf).parent),
        shell:
            "python -m attention_theory.images.figures cost {params.inputs}"
            " --output {params.folder:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"

    TIMED["images"] = rules.images_cost.output


CLAIMS["images"] = {
    "accuracy": f"{IMAGES}/accuracy.csv",
    "similarity": f"{IMAGES}/similarity.csv",
    "pretrained": f"{IMAGES}/pretrained.csv",
}
