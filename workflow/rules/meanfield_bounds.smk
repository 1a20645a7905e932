# The study `meanfield`: the audit of the stated bounds (B3) and of the Lipschitz forms (B5(c)).
# Included after meanfield.smk, to whose entries of OUTPUTS, FIGURES and CLAIMS it adds.

from attention_theory.meanfield import bounds_settings

STATED = ours.checked(bounds_settings.options, config["meanfield"]["bounds"])
MEANFIELD_BOUNDS = f"{RESULTS}/meanfield"


rule meanfield_audit:
    input:
        code=ours.code("meanfield.audit"),
    output:
        table=f"{MEANFIELD_BOUNDS}/bounds.csv",
        searches=f"{MEANFIELD_BOUNDS}/bounds_searches.csv",
        provenance=f"{MEANFIELD_BOUNDS}/provenance/audit.json",
    log:
        f"{MEANFIELD_BOUNDS}/logs/audit.log",
    cache: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=ours.scaled(2000),
        runtime=ours.scaled(30),
    params:
        options=ours.options(STATED["search"] | {"base_seed": config["base_seed"]}),
    shell:
        "python -m attention_theory.meanfield.audit {params.options} --table {output.table:q}"
        " --searches {output.searches:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"


rule meanfield_lipschitz:
    input:
        code=ours.code("meanfield.lipschitz"),
    output:
        table=f"{MEANFIELD_BOUNDS}/lipschitz.csv",
        provenance=f"{MEANFIELD_BOUNDS}/provenance/lipschitz.json",
    log:
        f"{MEANFIELD_BOUNDS}/logs/lipschitz.log",
    cache: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=ours.scaled(2000),
        runtime=ours.scaled(30),
    params:
        options=ours.options(STATED["lipschitz"] | {"base_seed": config["base_seed"]}),
    shell:
        "python -m attention_theory.meanfield.lipschitz {params.options}"
        " --table {output.table:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"


OUTPUTS.setdefault("meanfield", [])
OUTPUTS["meanfield"] += [
    *rules.meanfield_audit.output,
    *rules.meanfield_lipschitz.output,
]
FIGURES.setdefault("meanfield", {}).update(
    bounds={
        "bounds": rules.meanfield_audit.output.table,
        "bounds_searches": rules.meanfield_audit.output.searches,
    },
    lipschitz={"lipschitz": rules.meanfield_lipschitz.output.table},
)
CLAIMS.setdefault("meanfield", {}).update(
    bounds=rules.meanfield_audit.output.table,
    lipschitz=rules.meanfield_lipschitz.output.table,
)
