# What a study tells the rest of the workflow: outcomes.smk makes rules and targets of it.

ENVIRONMENT = str(ROOT / "envs" / "environment.yaml")

OUTPUTS = {}  # study: every output of its own rules
TABLES = {}  # study: {table: the parts that are stacked to make it}
FIGURES = {}  # study: {figure: {input name: path}}
TIMED = {}  # study: what is made of costs.csv, for `all` alone
CLAIMS = {}  # study: {input name: path}


def tabulated(study, name):
    """A table of a study, as the report shows it: every CSV file in the study's folder itself."""
    return report(
        f"{RESULTS}/{study}/{name}",
        caption=str(ROOT / "workflow" / "report" / "table.rst"),
        category=study,
        subcategory="tables",
        labels={"table": name.removesuffix(".csv").replace("_", " ")},
    )
