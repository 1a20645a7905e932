"""What the profile asks of a cluster, read from dry runs: no Slurm is needed."""

import re

import pytest
import yaml
from checkout import Checkout

# A dry run does not say which jobs stay on the machine that submits.
HERE = "all|ledger|ledger_page|costs|.*_(figures|claims|costs?|table_.*)"
HERE += "|images_(data|permutation|similarity|pretrained)"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return Checkout(tmp_path_factory.mktemp("profiles"))


@pytest.fixture(scope="module")
def asked(checkout):
    """A GPU is demanded here, where there may be none; and the profile's defaults are 1."""
    options = ["--config", "device=cuda", "--resources", "gpu=2"]
    return planned(checkout, *options, "--default-resources", "mem_mb=1", "runtime=1")


def planned(checkout, *options):
    """The resources of a job of each rule of the smoke run, as a dry run shows them."""
    done = checkout.snakemake("--workflow-profile", "profiles/slurm", "--dry-run", *options)
    assert done.returncode == 0, done.stderr
    found, rule = {}, ""
    for line in (done.stdout + done.stderr).splitlines():
        if start := re.match(r" *rule (\w+):", line):
            rule = start[1]
        elif line.strip().startswith("resources: "):
            found[rule] = dict(re.findall(r"(\w+)=([^,\s]+)", line))
    return found


def test_every_job_on_a_node_says_what_it_needs(asked):
    own = {rule for rule, needs in asked.items() if not re.fullmatch(HERE, rule)}
    assert len(own) >= 18
    assert [rule for rule in own if int(asked[rule]["mem_mb"]) < 500] == []
    assert [rule for rule in own if int(asked[rule]["runtime"]) < 10] == []


def test_gpus_are_asked_of_the_cluster(checkout, asked):
    with_gpu = {rule for rule, needs in asked.items() if "gpu" in needs}
    assert {"spatial_pretraining", "images_training_none", "meanfield_digits"} <= with_gpu
    assert {asked[rule]["gpu"] for rule in with_gpu} == {"1"}
    on_cpu = planned(checkout, "--config", "device=cpu")
    assert {on_cpu[rule]["gpu"] for rule in with_gpu} == {"0"}


def test_small_jobs_are_those_that_use_no_gpu(checkout, asked):
    profile = yaml.safe_load((checkout.folder / "profiles/slurm/config.yaml").read_text())
    assert set(profile["groups"]) <= set(asked), "a rule's name is spelt wrongly"
    assert [rule for rule in profile["groups"] if "gpu" in asked[rule]] == []
