# What a study tells the rest of the workflow: outcomes.smk makes rules and targets of it.

ENVIRONMENT = str(Path(workflow.basedir, "envs", "environment.yaml"))

OUTPUTS = {}  # study: every output of its own rules
TABLES = {}  # study: {table: the parts that are stacked to make it}
FIGURES = {}  # study: {figure: {input name: path}}
TIMED = {}  # study: what is made of costs.csv, for `all` alone
CLAIMS = {}  # study: {input name: path}
