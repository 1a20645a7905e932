# The study `meanfield`: the residual flow against its limits in depth and width (experiments B1,
# B2, B5 a and b), and a small ViT on digits (B4).

from attention_theory.meanfield import sections as meanfield_sections

MEANFIELD = f"{RESULTS}/meanfield"
MEANFIELD_FLOWS = ours.checked(meanfield_sections.flows, config["meanfield"])
MEANFIELD_DIGITS = ours.checked(meanfield_sections.digits, config["meanfield"])


rule meanfield_flow:
    # Steps `gap`, `widths`, `horizon` and `risk`.
    input:
        code=lambda wildcards: ours.code(f"meanfield.{wildcards.step}"),
    output:
        table=f"{MEANFIELD}/{{step}}.csv",
        provenance=f"{MEANFIELD}/provenance/{{step}}.json",
    log:
        f"{MEANFIELD}/logs/{{step}}.log",
    wildcard_constraints:
        step="|".join(MEANFIELD_FLOWS),
    cache: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=ours.scaled(1000),
        runtime=ours.scaled(30),
    params:
        options=lambda wildcards: ours.options(
            MEANFIELD_FLOWS[wildcards.step] | {"base_seed": config["base_seed"]}
        ),
    shell:
        "python -m attention_theory.meanfield.{wildcards.step} {params.options}"
        " --table {output.table:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"


rule meanfield_digits:
    input:
        code=ours.code("meanfield.digits"),
    output:
        table=f"{MEANFIELD}/digits.csv",
        provenance=f"{MEANFIELD}/provenance/digits.json",
    log:
        f"{MEANFIELD}/logs/digits.log",
    cache: True
    conda:
        ENVIRONMENT
    resources:
        gpu=ours.gpu(config, GPUS),
        mem_mb=ours.scaled(2000),
        runtime=ours.scaled(60),
    params:
        options=ours.options(MEANFIELD_DIGITS | {"base_seed": config["base_seed"]}),
    shell:
        "python -m attention_theory.meanfield.digits {params.options} --gpu {resources.gpu}"
        " --table {output.table:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"


OUTPUTS["meanfield"] = [
    *expand(rules.meanfield_flow.output, step=MEANFIELD_FLOWS),
    *rules.meanfield_digits.output,
]
FIGURES["meanfield"] = {
    name: {name: f"{MEANFIELD}/{name}.csv"} for name in (*MEANFIELD_FLOWS, "digits")
}
CLAIMS["meanfield"] = {
    name: f"{MEANFIELD}/{name}.csv" for name in (*MEANFIELD_FLOWS, "digits")
}
