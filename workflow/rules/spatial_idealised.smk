# The study `spatial`, continued: the idealised process (experiments 2 to 4), alone and beside the
# realistic one.

POPULATION = ours.checked(spatial_sections.population, config["spatial"]["population"])


rule spatial_population:
    input:
        code=ours.code("spatial.population"),
    output:
        table=f"{SPATIAL}/population.csv",
        provenance=f"{SPATIAL}/provenance/population.json",
    log:
        f"{SPATIAL}/logs/population.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=ours.scaled(1000),
        runtime=ours.scaled(30),
    params:
        options=ours.options(
            POPULATION["trajectories"] | {"base_seed": config["base_seed"]}
        ),
    shell:
        "python -m attention_theory.spatial.population trajectories {params.options}"
        " --table {output.table:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"


rule spatial_population_map:
    # Steps `phase` and `methods`: where trajectories end, and what a gradient costs.
    input:
        code=lambda wildcards: ours.code(f"spatial.{wildcards.step}"),
    output:
        table=f"{SPATIAL}/{{step}}.csv",
        provenance=f"{SPATIAL}/provenance/{{step}}.json",
    log:
        f"{SPATIAL}/logs/{{step}}.log",
    wildcard_constraints:
        step="phase|methods",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=ours.scaled(2000),
        runtime=ours.scaled(30),
    params:
        options=lambda wildcards: ours.options(
            POPULATION[wildcards.step] | {"base_seed": config["base_seed"]}
        ),
    shell:
        "python -m attention_theory.spatial.{wildcards.step} {params.options}"
        " --table {output.table:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"


COUPLING = ours.checked(spatial_sections.coupling, config["spatial"]["coupling"])


rule spatial_coupling:
    # Experiments 3 and 4: realistic processes beside the idealised one.
    input:
        code=ours.code("spatial.coupling"),
    output:
        table=f"{SPATIAL}/coupling.csv",
        invariance=f"{SPATIAL}/invariance.csv",
        provenance=f"{SPATIAL}/provenance/coupling.json",
    log:
        f"{SPATIAL}/logs/coupling.log",
    cache: True
    conda:
        ENVIRONMENT
    resources:
        gpu=ours.gpu(config, GPUS),
        mem_mb=ours.scaled(2000),
        runtime=ours.scaled(60),
    params:
        options=ours.options(COUPLING | {"base_seed": config["base_seed"]}),
    shell:
        "python -m attention_theory.spatial.coupling {params.options} --gpu {resources.gpu}"
        " --table {output.table:q} --invariance {output.invariance:q}"
        " --provenance {output.provenance:q} 2>&1 | tee {log:q}"


OUTPUTS["spatial"] += [
    *rules.spatial_population.output,
    *expand(rules.spatial_population_map.output, step=["phase", "methods"]),
]
OUTPUTS["spatial"] += rules.spatial_coupling.output
COUPLED = {
    "coupling": rules.spatial_coupling.output.table,
    "invariance": rules.spatial_coupling.output.invariance,
}
FIGURES["spatial"] |= {
    "invariance": COUPLED,
    "idealised_realistic": {"coupling": COUPLED["coupling"]},
    "induction": {"coupling": COUPLED["coupling"]},
}
CLAIMS["spatial"] |= COUPLED
FIGURES["spatial"] |= {
    name: {"population": f"{SPATIAL}/population.csv"}
    for name in ("trajectories", "increments")
}
FIGURES["spatial"] |= {
    name: {name: f"{SPATIAL}/{name}.csv"} for name in ("phase", "methods")
}
CLAIMS["spatial"]["population"] = f"{SPATIAL}/population.csv"
