# The front door: the configuration and its checks, then the studies' rules. No logic.

import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir, "src")))

from attention_theory import config as configuration
from attention_theory import rules as ours
from attention_theory import running


configfile: "config/config.yaml"


# The link `profiles` lets Snakemake find workflow/profiles/default beside this file.
GPUS = ours.gpus(workflow)
SCHEMA = Path(workflow.basedir, "config", "schema.yaml")
ours.checked(configuration.check, config, SCHEMA, GPUS)
ours.prepare_environment(config)
RESULTS = f"results/{config['run']}"


onstart:
    running.hold()


include: "workflow/rules/common.smk"
include: "workflow/rules/spatial.smk"
include: "workflow/rules/spatial_idealised.smk"
include: "workflow/rules/images.smk"
include: "workflow/rules/images_transfer.smk"
include: "workflow/rules/kernels.smk"
include: "workflow/rules/meanfield.smk"
include: "workflow/rules/meanfield_bounds.smk"
include: "workflow/rules/outcomes.smk"


rule all:
    default_target: True
    input:
        *OUTPUTS.values(),
        *TIMED.values(),
        rules.ledger.output,
        rules.costs.output,
    localrule: True


rule claims:
    input:
        rules.ledger.output,
    localrule: True
