# The front door: the configuration and its checks, then the studies' rules. No logic.

import sys
from pathlib import Path

# Where this file lies, also if it is a module of another workflow (docs/module.md).
ROOT = Path(str(workflow.current_basedir))
if not (ROOT / "src").is_dir():
    sys.exit(
        f"{ROOT}: not a folder of this machine; a module needs a clone (git clone)"
    )
sys.path.insert(0, str(ROOT / "src"))

from attention_theory import config as configuration
from attention_theory import rules as ours
from attention_theory import running


configfile: "config/config.yaml"


# A workflow that uses this one as a module may give a part of the configuration.
config = ours.completed(config, ROOT / "config" / "config.yaml")
# The link `profiles` lets Snakemake find workflow/profiles/default beside this file.
GPUS = ours.gpus(workflow)
SCHEMA = ROOT / "config" / "schema.yaml"
ours.checked(configuration.check, config, SCHEMA, GPUS)
ours.prepare_environment(config)
RESULTS = f"results/{config['run']}"


report: "workflow/report/workflow.rst"


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
        *TABULATED.values(),
        rules.ledger.output,
        rules.ledger_page.output,
        rules.costs.output,
    localrule: True


rule claims:
    input:
        rules.ledger.output,
        rules.ledger_page.output,
    localrule: True
