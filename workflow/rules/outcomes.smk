# What every study ends in: gathered tables, figures, claims, costs; and the targets.
# A study's figures are one job, because each would start Python and import seaborn anew; every
# figure is a target all the same and has a caption of its own.

for study, tables in TABLES.items():
    for table, parts in tables.items():

        rule:
            name:
                f"{study}_table_{table}"
            input:
                parts=parts,
                code=ours.piped("tables"),
            output:
                table=f"{RESULTS}/{study}/{table}.csv",
                provenance=f"{RESULTS}/{study}/provenance/table-{table}.json",
            log:
                f"{RESULTS}/{study}/logs/table-{table}.log",
            localrule: True
            conda:
                ENVIRONMENT
            shell:
                "printf '%s\\0' {input.parts:q} | python -m attention_theory.piped tables"
                " --output {output.table:q}"
                " --provenance {output.provenance:q} 2>&1 | tee {log:q}"

        OUTPUTS[study] += getattr(rules, f"{study}_table_{table}").output


for study, figures in FIGURES.items():

    rule:
        name:
            f"{study}_figures"
        input:
            **ours.together(figures),
            code=ours.code(f"{study}.figures"),
        output:
            pdf=expand(f"{RESULTS}/{study}/figures/{{figure}}.pdf", figure=figures),
            png=[
                report(
                    f"{RESULTS}/{study}/figures/{figure}.png",
                    caption=f"../report/{study}/{figure}.rst",
                    category=study,
                    subcategory="figures",
                    labels={"figure": figure.replace("_", " ")},
                )
                for figure in figures
            ],
            table=expand(f"{RESULTS}/{study}/figures/{{figure}}.csv", figure=figures),
            provenance=f"{RESULTS}/{study}/provenance/figures.json",
        log:
            f"{RESULTS}/{study}/logs/figures.log",
        localrule: True
        conda:
            ENVIRONMENT
        params:
            module=f"attention_theory.{study}.figures",
            figures=list(figures),
            inputs=ours.named,
            folder=lambda wildcards, output: str(Path(output.pdf[0]).parent),
        shell:
            "python -m {params.module} {params.figures} {params.inputs}"
            " --output {params.folder:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"

    OUTPUTS[study] += getattr(rules, f"{study}_figures").output


for study, inputs in CLAIMS.items():

    rule:
        name:
            f"{study}_claims"
        input:
            **inputs,
            code=ours.code(f"{study}.claims"),
        output:
            table=f"{RESULTS}/{study}/claims.csv",
            provenance=f"{RESULTS}/{study}/provenance/claims.json",
        log:
            f"{RESULTS}/{study}/logs/claims.log",
        localrule: True
        conda:
            ENVIRONMENT
        params:
            module=f"attention_theory.{study}.claims",
            inputs=ours.named,
        shell:
            "python -m {params.module} {params.inputs} --output {output.table:q}"
            " --provenance {output.provenance:q} 2>&1 | tee {log:q}"

    OUTPUTS[study] += getattr(rules, f"{study}_claims").output


rule ledger:
    input:
        parts=expand(f"{RESULTS}/{{study}}/claims.csv", study=CLAIMS),
        code=ours.code("claims"),
    output:
        table=report(
            f"{RESULTS}/claims.csv",
            caption="../report/claims.rst",
            category="claims",
            labels={"ledger": "as a table (CSV)"},
        ),
        markdown=f"{RESULTS}/claims.md",
        provenance=f"{RESULTS}/provenance/claims.json",
    log:
        f"{RESULTS}/logs/claims.log",
    localrule: True
    conda:
        ENVIRONMENT
    shell:
        "python -m attention_theory.claims {input.parts:q} --csv {output.table:q}"
        " --markdown {output.markdown:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"


rule ledger_page:
    # The ledger for a browser: the first page of the report.
    input:
        table=rules.ledger.output.table,
        code=ours.code("ledger_page"),
    output:
        page=report(
            f"{RESULTS}/claims.html",
            caption="../report/claims.rst",
            category="claims",
            labels={"ledger": "as a page"},
        ),
        provenance=f"{RESULTS}/provenance/claims-page.json",
    log:
        f"{RESULTS}/logs/claims-page.log",
    localrule: True
    conda:
        ENVIRONMENT
    shell:
        "python -m attention_theory.ledger_page {input.table:q} --output {output.page:q}"
        " --provenance {output.provenance:q} 2>&1 | tee {log:q}"


rule costs:
    input:
        records=[
            path
            for path in [
                *sum(OUTPUTS.values(), []),
                *rules.ledger.output,
                *rules.ledger_page.output,
            ]
            if path.endswith(".json")
        ],
        code=ours.piped("costs"),
    output:
        table=report(
            f"{RESULTS}/costs.csv",
            caption="../report/costs.rst",
            category="costs",
            labels={"costs": "of every job (CSV)"},
        ),
        provenance=f"{RESULTS}/provenance/costs.json",
    log:
        f"{RESULTS}/logs/costs.log",
    localrule: True
    conda:
        ENVIRONMENT
    shell:
        "printf '%s\\0' {input.records:q} | python -m attention_theory.piped costs"
        " --output {output.table:q}"
        " --provenance {output.provenance:q} 2>&1 | tee {log:q}"


TABULATED = {
    study: [
        tabulated(study, Path(path).name)
        for path in outputs
        if path.endswith(".csv") and Path(path).parent.name == study
    ]
    for study, outputs in OUTPUTS.items()
}


for study, outputs in OUTPUTS.items():

    rule:
        name:
            study
        input:
            outputs,
            TABULATED[study],
        localrule: True
