# The study `kernels`: convergence (experiment A1), training W_Q and W_K alone (A2), the lazy
# regime (A3). Problems of a few thousand numbers, in float64: always on the CPU.

from attention_theory.kernels import sections as kernel_sections

KERNELS = f"{RESULTS}/kernels"
KERNEL_OPTIONS = {
    "convergence": ours.checked(
        kernel_sections.convergence, config["kernels"]["convergence"]
    ),
    "stuck": ours.checked(kernel_sections.stuck, config["kernels"]["stuck"]),
    "lazy": ours.checked(kernel_sections.lazy, config["kernels"]["lazy"]),
}


rule kernels_convergence:
    input:
        code=ours.code("kernels.convergence"),
    output:
        table=f"{KERNELS}/convergence.csv",
        curves=f"{KERNELS}/curves.csv",
        provenance=f"{KERNELS}/provenance/convergence.json",
    log:
        f"{KERNELS}/logs/convergence.log",
    cache: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=ours.scaled(2000),
        runtime=ours.scaled(30),
    params:
        options=ours.options(
            KERNEL_OPTIONS["convergence"] | {"base_seed": config["base_seed"]}
        ),
    shell:
        "python -m attention_theory.kernels.convergence {params.options}"
        " --table {output.table:q} --curves {output.curves:q}"
        " --provenance {output.provenance:q} 2>&1 | tee {log:q}"


rule kernels_stuck:
    input:
        code=ours.code("kernels.stuck"),
    output:
        table=f"{KERNELS}/stuck.csv",
        budgets=f"{KERNELS}/budgets.csv",
        provenance=f"{KERNELS}/provenance/stuck.json",
    log:
        f"{KERNELS}/logs/stuck.log",
    cache: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=ours.scaled(2000),
        runtime=ours.scaled(30),
    params:
        options=ours.options(
            KERNEL_OPTIONS["stuck"] | {"base_seed": config["base_seed"]}
        ),
    shell:
        "python -m attention_theory.kernels.stuck {params.options}"
        " --table {output.table:q} --losses {output.budgets:q}"
        " --provenance {output.provenance:q} 2>&1 | tee {log:q}"


rule kernels_lazy:
    input:
        code=ours.code("kernels.lazy"),
    output:
        table=f"{KERNELS}/lazy.csv",
        provenance=f"{KERNELS}/provenance/lazy.json",
    log:
        f"{KERNELS}/logs/lazy.log",
    cache: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=ours.scaled(2000),
        runtime=ours.scaled(30),
    params:
        options=ours.options(
            KERNEL_OPTIONS["lazy"] | {"base_seed": config["base_seed"]}
        ),
    shell:
        "python -m attention_theory.kernels.lazy {params.options}"
        " --table {output.table:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"


OUTPUTS["kernels"] = [
    *rules.kernels_convergence.output,
    *rules.kernels_stuck.output,
    *rules.kernels_lazy.output,
]
KERNEL_TABLES = {
    "convergence": rules.kernels_convergence.output.table,
    "curves": rules.kernels_convergence.output.curves,
    "stuck": rules.kernels_stuck.output.table,
    "budgets": rules.kernels_stuck.output.budgets,
    "lazy": rules.kernels_lazy.output.table,
}
FIGURES["kernels"] = {
    figure: {name: KERNEL_TABLES[name] for name in names}
    for figure, names in {
        "convergence": ["convergence"],
        "rates": ["convergence", "curves"],
        "stuck": ["stuck"],
        "targets": ["stuck", "budgets"],
        "lazy": ["lazy"],
    }.items()
}
CLAIMS["kernels"] = {
    name: KERNEL_TABLES[name] for name in ("convergence", "stuck", "lazy")
}
