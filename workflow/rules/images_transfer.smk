# The study `images`, continued: fine-tuning transfer (experiment 4), a job a data set.

from attention_theory.images import transfer_sections as image_transfer_sections

IMAGE_TRANSFER = ours.checked(image_transfer_sections.transfer, config["images"])


rule images_transfer:
    input:
        data=f"{IMAGES}/data/{{dataset}}.npz",
        code=ours.code("images.transfer"),
    output:
        table=f"{IMAGES}/transfer/{{dataset}}.csv",
        tuning=f"{IMAGES}/transfer/{{dataset}}-tuning.csv",
        pretrained=f"{IMAGES}/transfer/{{dataset}}-pretraining.csv",
        provenance=f"{IMAGES}/provenance/transfer-{{dataset}}.json",
    log:
        f"{IMAGES}/logs/transfer-{{dataset}}.log",
    wildcard_constraints:
        dataset="|".join(IMAGE_TRANSFER),
    cache: True
    conda:
        ENVIRONMENT
    resources:
        gpu=ours.gpu(config, GPUS),
        mem_mb=ours.scaled(4000),
        runtime=ours.scaled(240),
    params:
        options=lambda wildcards: ours.options(
            IMAGE_TRANSFER[wildcards.dataset] | {"base_seed": config["base_seed"]}
        ),
    shell:
        "python -m attention_theory.images.transfer --data {input.data:q} {params.options}"
        " --gpu {resources.gpu} --table {output.table:q} --tuning {output.tuning:q}"
        " --pretrained {output.pretrained:q} --provenance {output.provenance:q} 2>&1 | tee {log:q}"


OUTPUTS["images"] += expand(rules.images_transfer.output, dataset=IMAGE_TRANSFER)
TABLES["images"]["transfer"] = expand(
    rules.images_transfer.output.table, dataset=IMAGE_TRANSFER
)
if config["images"]["transfer"]["draws"]:
    FIGURES["images"] |= {
        name: {"transfer": f"{IMAGES}/transfer.csv"}
        for name in ("transfer", "transfer_difference")
    }
CLAIMS["images"]["transfer"] = f"{IMAGES}/transfer.csv"
