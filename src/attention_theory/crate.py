"""`make crate`: a finished run as a Workflow Run RO-Crate, for archives and other people's tools.

The profile is Workflow Run Crate 0.5 (https://w3id.org/ro/wfrun/workflow/0.5) on RO-Crate 1.1, the
newest for which a validator exists. rocrate writes it; it is imported late, for this alone.
"""

import json
import mimetypes
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attention_theory import checksums, config, files, options, running, step
from attention_theory.errors import BadInput, require
from attention_theory.finished import require_finished

if TYPE_CHECKING:
    from rocrate.rocrate import ROCrate

WORKFLOW = Path("Snakefile")
# What the workflow is besides its main file: enough to run it again.
PARTS = ("workflow", "src", "config", "envs", "pyproject.toml", "Makefile", "LICENSE", "README.md")
RESULTS = (".csv", ".html", ".json", ".md", ".pdf", ".png")  # trained models stay where they are
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
TERMS = "https://w3id.org/ro/terms/workflow-run/context"  # for sha256
LICENSE = "https://spdx.org/licenses/MIT"


def main(
    gpus: options.Gpus = "all",
    seed: options.Seed = "",
    configuration: options.Config = "",
    profile: options.Profile = "",
    output: Annotated[Path, typer.Option(help="the crate to write (a .zip)")] = Path("crate.zip"),
) -> None:
    """Write a finished run as a Workflow Run RO-Crate, or say what is missing of it."""
    require(output.suffix == ".zip", "output", str(output), "end in .zip")
    asked = options.Asked(gpus, seed, configuration, profile)
    try:
        from rocrate.rocrate import ROCrate
    except ImportError:
        raise BadInput("rocrate is not installed: pip install rocrate") from None
    with running.alone():
        folder = require_finished(asked)
        crate = ROCrate(version="1.1")
        _describe(crate, folder, asked)
        with files.replacing(output) as temporary:
            crate.write_zip(temporary)
    entries, size = len(crate.data_entities), output.stat().st_size / 1e6
    print(f"{output}: a Workflow Run RO-Crate of {folder} with {entries} files ({size:.1f} MB)")


def _describe(crate: "ROCrate", folder: Path, asked: options.Asked) -> None:
    """Fill the crate: the workflow, what went in, what came out, and the run that made it."""
    records = {path: json.loads(path.read_text("utf-8")) for path in _records(folder)}
    started, ended = _times(records)
    _head(crate, folder, ended)
    workflow = _workflow(crate, records)
    action = crate.add_action(
        workflow,
        identifier=f"#run-{folder.name}",
        object=_inputs(crate, workflow, asked),
        result=[_file(crate, path, known) for path, known in _results(records).items()],
        properties={
            "name": f"the run {folder.name}",
            "startTime": started,
            "endTime": ended,
            "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
        },
    )
    crate.root_dataset["mentions"] = action
    for path in records:
        _file(crate, path)["about"] = action


def _head(crate: "ROCrate", folder: Path, published: str) -> None:
    """What the crate is, by which profiles and under which licence."""
    crate.name = f"attention-theory: the run {folder.name}"
    crate.description = (
        "Experiments on how attention learns, run again: a ledger that says claim by claim what "
        "the theory states, what this run measured, whether it holds; with figures and tables"
    )
    crate.datePublished = published
    crate.license = _add(crate, LICENSE, "CreativeWork", name="MIT License", identifier=LICENSE)
    for profile, name in PROFILES.items():
        version = profile.rsplit("/", 1)[1]
        entity = _add(crate, profile, "CreativeWork", name=name, version=version)
        crate.root_dataset.append_to("conformsTo", entity)
    crate.metadata.extra_contexts.append(TERMS)


def _workflow(crate: "ROCrate", records: dict[Path, dict]) -> Any:
    """Add the workflow's files; the main one, with the versions of the software that ran it."""
    versions = {}
    for record in records.values():
        versions |= record.get("versions", {})
    properties = {
        "name": "attention-theory",
        "license": {"@id": LICENSE},
        "encodingFormat": "text/plain",
        "sha256": checksums.sha256(WORKFLOW),
    }
    workflow = crate.add_workflow(
        WORKFLOW, str(WORKFLOW), main=True, lang="snakemake", lang_version=versions["snakemake"],
        properties=properties, record_size=True,
    )  # fmt: skip
    workflow["softwareRequirements"] = [
        _add(crate, f"#{name}", "SoftwareApplication", name=name, softwareVersion=version)
        for name, version in versions.items()
    ]
    for path in _sources():
        _file(crate, path)
    return workflow


def _add(crate: "ROCrate", id_: str, type_: str, **properties: Any) -> Any:
    """Add an entity that is no file."""
    from rocrate.model import ContextEntity

    return crate.add(ContextEntity(crate, id_, {"@type": type_} | properties))


def _file(crate: "ROCrate", path: Path, sha256: str | None = None) -> Any:
    """Add a file under its own path, with its SHA-256, type and size; or find it there.

    One from elsewhere, such as a configuration of the user's, goes to the folder `config`.
    """
    inside = Path.cwd() in path.absolute().resolve().parents
    place = os.path.relpath(path) if inside else str(Path("config", path.name))
    found = crate.dereference(place)
    if found is not None:
        return found
    properties = {
        "name": place,
        "sha256": sha256 or checksums.sha256(path),
        "encodingFormat": mimetypes.guess_type(path)[0] or "text/plain",
    }
    return crate.add_file(path, place, properties=properties, record_size=True)


def _inputs(crate: "ROCrate", workflow: Any, asked: options.Asked) -> list[Any]:
    """What the run was given: its configuration files and the base seed."""
    default = config.read(options.DEFAULT)["base_seed"]
    parameter = crate.add_formal_parameter(
        "base_seed", "Integer", identifier="#base_seed", defaultValue=str(default),
        description="the seed that every random stream derives from",
    )  # fmt: skip
    workflow["input"] = parameter
    value = _add(
        crate, "#base_seed-value", "PropertyValue", name="base_seed", value=str(asked.base_seed),
        exampleOfWork=parameter,
    )  # fmt: skip
    return [*(_file(crate, path) for path in asked.layers), value]


def _records(folder: Path) -> list[Path]:
    """The provenance records of a run, a job each."""
    return sorted(folder.rglob(f"{checksums.RECORDS}/*.json"))


def _times(records: dict[Path, dict]) -> tuple[str, str]:
    """When the first job began and the last one ended: a record is written as its job ends."""
    ended = {path: path.stat().st_mtime for path in records}
    started = min(ended[path] - record.get("seconds", 0) for path, record in records.items())
    return tuple(
        datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
        for seconds in (started, max(ended.values()))
    )


def _results(records: dict[Path, dict]) -> dict[Path, str]:
    """Tables, figures and the ledger with the SHA-256 that their job recorded."""
    return {
        Path(os.path.normpath(record.parent / name)): known
        for record, content in records.items()
        for name, known in content.get("outputs", {}).items()
        if Path(name).suffix in RESULTS and (record.parent / name).is_file()
    }


def _sources() -> Iterator[Path]:
    """The files that the workflow consists of, but for the main one."""
    for part in map(Path, PARTS):
        for path in sorted(part.rglob("*")) if part.is_dir() else [part]:
            made = any(name == "__pycache__" or name.endswith(".egg-info") for name in path.parts)
            if path.is_file() and not made:
                yield path


if __name__ == "__main__":
    step.run(main)
