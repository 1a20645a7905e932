"""`make report`: a finished run's ledger, figures, tables and captions in one zip, for a browser.

Snakemake makes it (`--report`), from the results and from its own records in .snakemake/.
"""

import json
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Annotated

import typer

from attention_theory import claims, costs, options, running, step, tables, tidying
from attention_theory.errors import require
from attention_theory.finished import require_finished, snakemake

STYLE = Path("workflow", "report", "style.css")
UNKNOWN = "Missing metadata for file"  # as Snakemake says it


def main(
    gpus: options.Gpus = "all",
    seed: options.Seed = "",
    configuration: options.Config = "",
    profile: options.Profile = "",
    output: Annotated[Path, typer.Option(help="the report to write (a .zip)")] = Path("report.zip"),
) -> None:
    """Write the report of a finished run; say what is missing if it is not finished."""
    require(output.suffix == ".zip", "output", str(output), "end in .zip")
    asked = options.Asked(gpus, seed, configuration, profile)
    with running.alone():
        folder = require_finished(asked)
        with tempfile.TemporaryDirectory(dir=running.LOCK.parent) as place:
            made = Path(place, output.name)  # Snakemake names the folder in the zip after it
            facts = Path(place, "facts.json")  # which is YAML too
            facts.write_text(json.dumps(_facts(folder)), encoding="utf-8")
            words = ["--report", str(made), "--report-metadata", str(facts)]
            said = snakemake([*asked.snakemake(), *words, "--report-stylesheet", str(STYLE)])
            output.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(made, output)
    if unknown := said.count(UNKNOWN):
        tidying.say(
            f"report: Snakemake has no record of {unknown} files of {folder}, which came from "
            "elsewhere: when they were made, and by which configuration, is not known"
        )
    print(_describe(output))


def _facts(folder: Path) -> dict[str, int]:
    """What the front page counts. Numbers alone: Snakemake shows them as they are."""
    ledger = tables.read(folder / "claims.csv", claims.COLUMNS)
    jobs = tables.read(folder / "costs.csv", costs.COLUMNS)
    verdicts = {f"claims {name}": int((ledger.verdict == name).sum()) for name in claims.VERDICTS}
    return verdicts | {"jobs": len(jobs), "CPU seconds": round(jobs.cpu_seconds.sum())}


def _describe(report: Path) -> str:
    """One line: how much the report holds, and how to open it."""
    with zipfile.ZipFile(report) as archive:
        names = archive.namelist()
    figures, rows = (sum(name.endswith(end) for name in names) for end in (".png", ".csv"))
    size = report.stat().st_size / 1e6
    page = next(name for name in names if name.endswith("report.html"))
    return (
        f"{report}: {figures} figures, {rows} tables and the claims ledger ({size:.1f} MB); "
        f"unpack it and open {page} in a browser"
    )


if __name__ == "__main__":
    step.run(main)
