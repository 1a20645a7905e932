# The study `spatial`: pretraining (experiment 1) and linear models (experiment 5).

from attention_theory.spatial import sections as spatial_sections

SPATIAL = f"{RESULTS}/spatial"
PRETRAINING = config["spatial"]["pretraining"]
PRETRAINING_SETTINGS = ours.checked(spatial_sections.pretraining, PRETRAINING)
LINEAR_SETTINGS = ours.checked(spatial_sections.linear, config["spatial"]["linear"])


rule spatial_pretraining:
    input:
        code=ours.code("spatial.pretraining"),
    output:
        **ours.each_seed(
            "model",
            f"{SPATIAL}/pretraining/{{setting}}-seed{{seed}}.npz",
            PRETRAINING["seeds"],
        ),
        table=f"{SPATIAL}/pretraining/{{setting}}.csv",
        trajectory=f"{SPATIAL}/pretraining/{{setting}}-trajectory.csv",
        provenance=f"{SPATIAL}/provenance/pretraining-{{setting}}.json",
    log:
        f"{SPATIAL}/logs/pretraining-{{setting}}.log",
    wildcard_constraints:
        setting="|".join(PRETRAINING_SETTINGS),
    cache: True
    conda:
        ENVIRONMENT
    resources:
        gpu=ours.gpu(config, GPUS),
    params:
        options=lambda wildcards: ours.options(
            PRETRAINING_SETTINGS[wildcards.setting]
            | {"seeds": PRETRAINING["seeds"], "base_seed": config["base_seed"]}
        ),
        models=lambda wildcards, output: str(Path(output.table).parent),
    shell:
        "python -m attention_theory.spatial.pretraining --setting {wildcards.setting}"
        " {params.options} --table {output.table:q} --trajectory {output.trajectory:q}"
        " --models {params.models:q} --gpu {resources.gpu}"
        " --provenance {output.provenance:q} 2>&1 | tee {log:q}"


rule spatial_linear:
    input:
        code=ours.code("spatial.linear"),
    output:
        table=f"{SPATIAL}/linear/{{setting}}.csv",
        provenance=f"{SPATIAL}/provenance/{{setting}}.json",
    log:
        f"{SPATIAL}/logs/{{setting}}.log",
    wildcard_constraints:
        setting="|".join(LINEAR_SETTINGS),
    conda:
        ENVIRONMENT
    params:
        options=lambda wildcards: ours.options(
            LINEAR_SETTINGS[wildcards.setting] | {"base_seed": config["base_seed"]}
        ),
    shell:
        "python -m attention_theory.spatial.linear {params.options}"
        " --table {output.table:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"


OUTPUTS["spatial"] = [
    *expand(rules.spatial_pretraining.output, setting=PRETRAINING_SETTINGS),
    *expand(rules.spatial_linear.output, setting=LINEAR_SETTINGS),
]
TABLES["spatial"] = {
    "pretraining": expand(
        rules.spatial_pretraining.output.table, setting=PRETRAINING_SETTINGS
    ),
    "trajectory": expand(
        rules.spatial_pretraining.output.trajectory, setting=PRETRAINING_SETTINGS
    ),
    "linear": expand(rules.spatial_linear.output.table, setting=LINEAR_SETTINGS),
}
FIGURES["spatial"] = {
    "data": {},
    "attention": {"model": f"{SPATIAL}/pretraining/main-0-seed0.npz"},
    "training": {"trajectory": f"{SPATIAL}/trajectory.csv"},
    "linear": {
        "linear": f"{SPATIAL}/linear.csv",
        "pretraining": f"{SPATIAL}/pretraining.csv",
    },
}
CLAIMS["spatial"] = {
    "linear": f"{SPATIAL}/linear.csv",
    "pretraining": f"{SPATIAL}/pretraining.csv",
}
