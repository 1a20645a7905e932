# The study `spatial`: pretraining and its sweeps (experiment 1), linear models (5), transfer (6),
# Gaussian data (7), and what lies beyond the text (8).

from attention_theory.spatial import sections as spatial_sections

SPATIAL = f"{RESULTS}/spatial"
PRETRAINING = config["spatial"]["pretraining"]
PRETRAINING_SETTINGS = ours.checked(spatial_sections.pretraining, PRETRAINING)
PRETRAINING_NAMES = ours.numbered(
    {sweep: len(changes) for sweep, changes in PRETRAINING["sweeps"].items()}
)
TRANSFER = config["spatial"]["transfer"]
TRANSFER_SETTINGS = ours.checked(
    spatial_sections.transfer, TRANSFER, PRETRAINING_SETTINGS, PRETRAINING["seeds"]
)
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
        setting=PRETRAINING_NAMES,
    cache: True
    conda:
        ENVIRONMENT
    resources:
        gpu=ours.gpu(config, GPUS),
        mem_mb=ours.scaled(2000),
        runtime=ours.scaled(60),
    params:
        options=lambda wildcards: ours.options(
            PRETRAINING_SETTINGS[wildcards.setting]
            | {"seeds": PRETRAINING["seeds"], "base_seed": config["base_seed"]}
        ),
    shell:
        "python -m attention_theory.spatial.pretraining --setting {wildcards.setting}"
        " {params.options} --table {output.table:q} --trajectory {output.trajectory:q}"
        ' --models "$(dirname {output.table:q})" --gpu {resources.gpu}'
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
    resources:
        mem_mb=ours.scaled(1000),
        runtime=ours.scaled(30),
    params:
        options=lambda wildcards: ours.options(
            LINEAR_SETTINGS[wildcards.setting] | {"base_seed": config["base_seed"]}
        ),
    shell:
        "python -m attention_theory.spatial.linear {params.options}"
        " --table {output.table:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"


rule spatial_transfer:
    input:
        model=expand(
            f"{SPATIAL}/pretraining/{{{{setting}}}}-seed{{seed}}.npz",
            seed=range(TRANSFER["seeds"]),
        ),
        code=ours.code("spatial.transfer"),
    output:
        table=f"{SPATIAL}/transfer/{{setting}}.csv",
        provenance=f"{SPATIAL}/provenance/transfer-{{setting}}.json",
    log:
        f"{SPATIAL}/logs/transfer-{{setting}}.log",
    wildcard_constraints:
        setting="|".join(TRANSFER_SETTINGS),
    conda:
        ENVIRONMENT
    resources:
        gpu=ours.gpu(config, GPUS),
        mem_mb=ours.scaled(2000),
        runtime=ours.scaled(120),
    params:
        options=lambda wildcards, input: ours.options(
            {"model": list(input.model)}
            | TRANSFER_SETTINGS[wildcards.setting]
            | {"base_seed": config["base_seed"]}
        ),
    shell:
        "python -m attention_theory.spatial.transfer {params.options}"
        " --table {output.table:q} --gpu {resources.gpu}"
        " --provenance {output.provenance:q} 2>&1 | tee {log:q}"


GAUSSIAN = ours.checked(spatial_sections.gaussian, config["spatial"]["gaussian"])


rule spatial_gaussian:
    input:
        code=ours.code("spatial.gaussian"),
    output:
        table=f"{SPATIAL}/gaussian.csv",
        attention=f"{SPATIAL}/gaussian_attention.npz",
        provenance=f"{SPATIAL}/provenance/gaussian.json",
    log:
        f"{SPATIAL}/logs/gaussian.log",
    cache: True
    conda:
        ENVIRONMENT
    resources:
        gpu=ours.gpu(config, GPUS),
        mem_mb=ours.scaled(2000),
        runtime=ours.scaled(60),
    params:
        options=ours.options(GAUSSIAN | {"base_seed": config["base_seed"]}),
    shell:
        "python -m attention_theory.spatial.gaussian {params.options} --gpu {resources.gpu}"
        " --table {output.table:q} --attention {output.attention:q}"
        " --provenance {output.provenance:q} 2>&1 | tee {log:q}"


ENCODINGS = ours.checked(spatial_sections.encodings, config["spatial"]["encodings"])
UNASSOCIATED = ours.checked(
    spatial_sections.unassociated, config["spatial"]["unassociated"]
)
PLANTED = ours.checked(spatial_sections.planted, config["spatial"]["planted"])


rule spatial_encodings:
    input:
        code=ours.code("spatial.encodings"),
    output:
        table=f"{SPATIAL}/encodings.csv",
        provenance=f"{SPATIAL}/provenance/encodings.json",
    log:
        f"{SPATIAL}/logs/encodings.log",
    cache: True
    conda:
        ENVIRONMENT
    resources:
        gpu=ours.gpu(config, GPUS),
        mem_mb=ours.scaled(2000),
        runtime=ours.scaled(60),
    params:
        options=ours.options(ENCODINGS | {"base_seed": config["base_seed"]}),
    shell:
        "python -m attention_theory.spatial.encodings {params.options} --gpu {resources.gpu}"
        " --table {output.table:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"


rule spatial_unassociated:
    # Steps `constructed` and `competition`: models written down, and trained from a biased start.
    input:
        code=lambda wildcards: ours.code(f"spatial.{wildcards.step}"),
    output:
        table=f"{SPATIAL}/unassociated/{{step}}.csv",
        provenance=f"{SPATIAL}/provenance/{{step}}.json",
    log:
        f"{SPATIAL}/logs/{{step}}.log",
    wildcard_constraints:
        step="|".join(UNASSOCIATED),
    conda:
        ENVIRONMENT
    resources:
        gpu=ours.gpu(config, GPUS),
        mem_mb=ours.scaled(2000),
        runtime=ours.scaled(60),
    params:
        options=lambda wildcards: ours.options(
            UNASSOCIATED[wildcards.step] | {"base_seed": config["base_seed"]}
        ),
    shell:
        "python -m attention_theory.spatial.{wildcards.step} {params.options}"
        " --gpu {resources.gpu} --table {output.table:q}"
        " --provenance {output.provenance:q} 2>&1 | tee {log:q}"


rule spatial_planted:
    input:
        code=ours.code("spatial.planted"),
    output:
        table=f"{SPATIAL}/planted.csv",
        provenance=f"{SPATIAL}/provenance/planted.json",
    log:
        f"{SPATIAL}/logs/planted.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=ours.scaled(1000),
        runtime=ours.scaled(30),
    params:
        options=ours.options(PLANTED),
    shell:
        "python -m attention_theory.spatial.planted {params.options}"
        " --table {output.table:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"


rule spatial_costs:
    # For the figure `cost` alone: the run's costs.csv waits for every job, that figure's too.
    input:
        records=expand(
            rules.spatial_pretraining.output.provenance, setting=PRETRAINING_SETTINGS
        ),
        code=ours.piped("costs"),
    output:
        table=f"{SPATIAL}/costs.csv",
        provenance=f"{SPATIAL}/provenance/costs.json",
    log:
        f"{SPATIAL}/logs/costs.log",
    localrule: True
    conda:
        ENVIRONMENT
    shell:
        "printf '%s\\0' {input.records:q} | python -m attention_theory.piped costs"
        " --output {output.table:q}"
        " --provenance {output.provenance:q} 2>&1 | tee {log:q}"


OUTPUTS["spatial"] = [
    *rules.spatial_costs.output,
    *expand(rules.spatial_transfer.output, setting=TRANSFER_SETTINGS),
    *expand(rules.spatial_pretraining.output, setting=PRETRAINING_SETTINGS),
    *expand(rules.spatial_linear.output, setting=LINEAR_SETTINGS),
]
TABLES["spatial"] = {
    "transfer": expand(rules.spatial_transfer.output.table, setting=TRANSFER_SETTINGS),
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
FIGURES["spatial"]["sweeps"] = {"pretraining": f"{SPATIAL}/pretraining.csv"}
FIGURES["spatial"]["cost"] = {
    "costs": f"{SPATIAL}/costs.csv",
    "pretraining": f"{SPATIAL}/pretraining.csv",
}
FIGURES["spatial"] |= {
    name: {"transfer": f"{SPATIAL}/transfer.csv"}
    for name in ("transfer", "transfer_scaling", "one_step")
}
CLAIMS["spatial"] = {
    "transfer": f"{SPATIAL}/transfer.csv",
    "linear": f"{SPATIAL}/linear.csv",
    "pretraining": f"{SPATIAL}/pretraining.csv",
}
OUTPUTS["spatial"] += [
    *rules.spatial_encodings.output,
    *expand(rules.spatial_unassociated.output, step=UNASSOCIATED),
    *rules.spatial_planted.output,
]
TABLES["spatial"]["unassociated"] = expand(
    rules.spatial_unassociated.output.table, step=UNASSOCIATED
)
BEYOND = {
    name: f"{SPATIAL}/{name}.csv" for name in ("encodings", "unassociated", "planted")
}
FIGURES["spatial"] |= {name: {name: path} for name, path in BEYOND.items()}
CLAIMS["spatial"] |= BEYOND
OUTPUTS["spatial"] += rules.spatial_gaussian.output
FIGURES["spatial"]["gaussian"] = {
    "gaussian": rules.spatial_gaussian.output.table,
    "gaussian_attention": rules.spatial_gaussian.output.attention,
}
CLAIMS["spatial"]["gaussian"] = rules.spatial_gaussian.output.table
