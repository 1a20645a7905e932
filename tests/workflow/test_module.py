"""This workflow as a module of another one, as docs/module.md has it."""

import json
import re
import subprocess
import sys

import pytest
import yaml
from checkout import OUTSIDE, ROOT, Checkout

DESCRIBED = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "module.md").read_text(), re.DOTALL)
TARGET = "results/mine/spatial/planted.csv"


@pytest.fixture(scope="module")
def outer(tmp_path_factory):
    """A workflow of somebody else's, with a clone of ours in its folder."""
    folder = tmp_path_factory.mktemp("outer")
    (folder / "attention-theory").mkdir()
    Checkout(folder / "attention-theory")
    (folder / "Snakefile").write_text(DESCRIBED[1])

    def snakemake(*words: str, cores: str = "--cores") -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "snakemake", cores, "1", *words]
        return subprocess.run(
            command, cwd=folder, env=OUTSIDE | {"PYTHONPATH": ""}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    snakemake.folder = folder
    return snakemake


def refused(done) -> str:
    """The one line of a refusal, before any job."""
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if "is eligible for caching" not in line]
    assert len(lines) == 1, done.stderr
    return lines[0]


def test_it_runs_as_described(outer):
    """One setting is overridden, the others are ours; one target of ours and one of theirs."""
    done = outer()
    assert done.returncode == 0, done.stderr
    sizes = (outer.folder / "sizes.txt").read_text().split()
    assert sizes == ["4", "5", "8"], "those of the samples' curve are ours: 5"
    table = outer.folder / TARGET
    record = json.loads((table.parent / "provenance" / "planted.json").read_text())
    assert record["run"] == "mine" and "../planted.csv" in record["outputs"]
    ours = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["spatial"]["planted"]
    ratios = [line for line in table.read_text().splitlines() if line.startswith("ratio,")]
    assert len(ratios) == 2 * len(ours["ratios"]), "what was not overridden"
    again = outer("--dry-run")
    assert "Nothing to be done" in again.stdout + again.stderr


@pytest.mark.parametrize("cores", ["--cores", "--jobs"])
def test_no_job_wants_a_gpu_unless_some_are_given(outer, cores):
    done = outer("--dry-run", "--printshellcmds", "attention_images", cores=cores)
    assert "--gpu 0" in done.stdout + done.stderr and "--gpu 1" not in done.stdout + done.stderr


def test_everything_can_be_asked_for(outer):
    done = outer("--dry-run", "attention_all", "attention_claims", "attention_images")
    assert done.returncode == 0, done.stderr
    assert "attention_meanfield_audit" in done.stdout + done.stderr


def variant(outer, *changes: tuple[str, str]) -> tuple[str, str]:
    """Options of Snakemake for the described workflow, changed."""
    text = DESCRIBED[1]
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (outer.folder / "Changed").write_text(text)
    return ("--snakefile", "Changed")


def test_below_a_prefix(outer):
    changes = [
        ("    config:", '    prefix:\n        "below"\n    config:'),
        ('"results/', '"below/results/'),
        ('"sizes', '"below/sizes'),
    ]
    done = outer(*variant(outer, *changes), "--dry-run", "all", "attention_all")
    assert done.returncode == 0, done.stderr
    assert "below/results/mine/claims.csv" in done.stdout + done.stderr


def test_a_bad_setting_is_refused_in_one_line(outer):
    done = outer(*variant(outer, ("[4, 8]", '"four"')), "--dry-run")
    assert "config key spatial.planted.C: 'four' is not allowed" in refused(done)


def test_rules_can_be_chosen_and_changed(outer):
    changes = [
        ("use rule * from", "use rule spatial_planted from"),
        ("as attention_*\n", "as planted with:\n    threads: 1\n"),
    ]
    done = outer(*variant(outer, *changes), "--dry-run", "--forceall")
    assert done.returncode == 0, done.stderr
    assert "rule planted:" in done.stdout + done.stderr


def test_the_workflow_catalogue_can_read_its_file():
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert usage["report"] is True and usage["mandatory-flags"]["flags"] == ""
    assert usage["software-stack-deployment"]["conda"] is True
