"""`make crate`: the run's record as RO-Crate, read back by the library that others read it with."""

import sys
import zipfile

import pandas as pd
import pytest
from checkout import SMOKE

from attention_theory import checksums

CRATE = (sys.executable, "-m", "attention_theory.crate")
ASKED = {"CONFIG": "config/smoke.yaml", "GPUS": "0"}


@pytest.fixture(scope="module")
def crate(smoke, tmp_path_factory):
    library = pytest.importorskip("rocrate.rocrate")
    done = smoke.run(*CRATE, **ASKED)
    assert done.returncode == 0, done.stderr
    assert "crate.zip: a Workflow Run RO-Crate of results/smoke with" in done.stdout
    folder = tmp_path_factory.mktemp("crate")
    with zipfile.ZipFile(smoke.folder / "crate.zip") as archive:
        archive.extractall(folder)
    (smoke.folder / "crate.zip").unlink()
    return library.ROCrate(folder), folder


def test_the_workflow_and_its_profile(crate):
    read, folder = crate
    assert read.mainEntity.id == "Snakefile"
    assert read.mainEntity["programmingLanguage"]["name"] == "Snakemake"
    profiles = {profile.id for profile in read.root_dataset["conformsTo"]}
    assert "https://w3id.org/ro/wfrun/workflow/0.5" in profiles
    versions = {
        one["name"]: one["softwareVersion"] for one in read.mainEntity["softwareRequirements"]
    }
    assert {"python", "snakemake", "torch", "numpy"} <= set(versions)
    for name in ("workflow/rules/spatial.smk", "envs/requirements.lock", "config/smoke.yaml"):
        assert (folder / name).is_file() and read.dereference(name)


def test_the_run_and_what_it_was_given(crate):
    run = crate[0].root_dataset["mentions"]
    assert run.type == "CreateAction" and run["instrument"].id == "Snakefile"
    assert pd.Timestamp(run["startTime"]) < pd.Timestamp(run["endTime"])
    given = {one.id: one for one in run["object"]}
    assert {"config/config.yaml", "config/smoke.yaml"} <= set(given)
    assert given["#base_seed-value"]["value"] == "1"


def test_every_table_figure_and_ledger_with_its_checksum(crate, smoke):
    read, folder = crate
    results = {one.id: one["sha256"] for one in read.root_dataset["mentions"]["result"]}
    wanted = [
        str(path.relative_to(smoke.folder))
        for path in (smoke.folder / SMOKE).rglob("*")
        if path.suffix in (".csv", ".pdf", ".png", ".md", ".html")
    ]
    assert set(results) == set(wanted)
    for name, known in results.items():
        assert checksums.sha256(folder / name) == known, name
    records = list((smoke.folder / SMOKE).rglob("provenance/*.json"))
    for path in records:
        entity = read.dereference(str(path.relative_to(smoke.folder)))
        assert entity["about"].id == "#run-smoke"


def test_a_configuration_from_elsewhere(smoke, tmp_path):
    own = tmp_path / "mine.yaml"
    own.write_bytes((smoke.folder / "config" / "smoke.yaml").read_bytes())
    done = smoke.run(*CRATE, **ASKED | {"CONFIG": str(own)})
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(smoke.folder / "crate.zip") as archive:
        assert "config/mine.yaml" in archive.namelist()
        assert not any(name.startswith(("/", "..")) for name in archive.namelist())
    (smoke.folder / "crate.zip").unlink()


def test_a_run_that_is_not_finished(smoke):
    done = smoke.run(*CRATE)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "results/laptop holds no finished run; `make figures` makes it" in done.stderr
