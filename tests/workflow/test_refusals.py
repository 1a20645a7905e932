"""Bad input through the front door: one line, a non-zero exit, before any job."""

import os
import subprocess
import sys

import pytest
from checkout import ROOT, Checkout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return Checkout(tmp_path_factory.mktemp("refusals"))


CHANGES = [
    (
        "{spatial: {pretraining: {setting: {D: 51}}}}",
        "config key spatial.pretraining.setting.D: 51",
    ),
    ("{spatial: {pretraining: {sweeps: {q: [{D: 52}]}}}}", "pretraining.sweeps.q.0.D: 52"),
    ("{spatial: {pretraining: {setting: {p: 4}}}}", "p: 4 is not allowed; it must be odd"),
    ("{spatial: {pretraining: {setting: {p: 2}}}}", "setting.p: 2 is not allowed"),
    ("{spatial: {pretraining: {setting: {q: 1.0}}}}", "setting.q: 1.0 is not allowed"),
    ("{spatial: {pretraining: {setting: {eta_v: -1}}}}", "eta_v: -1 is not allowed"),
    ("{spatial: {pretraining: {setting: {eta_v: .nan}}}}", "eta_v: nan is not allowed"),
    ("{spatial: {pretraining: {seeds: 0}}}", "seeds: 0 is not allowed; it must be at least 1"),
    ("{spatial: {pretraining: {seed: 5}}}", "spatial.pretraining.seed: unknown"),
    ("{spatial: {linear: {D: 7}}}", "config key spatial.linear.D: 7 is not allowed"),
    ("{spatial: {gaussian: {setting: {D: 31}}}}", "config key spatial.gaussian.setting.D: 31"),
    (
        "{spatial: {gaussian: {setting: {q: 0.5}}}}",
        "spatial.gaussian.setting.q: Gaussian data have",
    ),
    ("{spatial: {gaussian: {phis: [sine]}}}", "config key spatial.gaussian.phis: 'sine'"),
    ("{images: {models: {vit: {patch: 3}}}}", "config key images.models.vit.patch: 3"),
    ("{images: {models: {vit: {heads: 3}}}}", "config key images.models.vit.heads: 3"),
    ("{images: {models: {cnn: {model: vgg}}}}", "config key images.models.cnn.model: 'vgg'"),
    ("{images: {models: {vit: {recipe: usual}}}}", "config key images.models.vit.recipe: 'usual'"),
    (
        "{images: {models: {big: {model: vgg19_bn, attention: none, patch: 2}}}}",
        "images.models.big.model: 'vgg19_bn' is not allowed; it must be another for images of 8",
    ),
    ("{images: {datasets: [mnist]}}", "config key images.datasets: 'mnist'"),
    ("{images: {datasets: [cifar10], models: {vit: {patch: 5}}}}", "models.vit.patch: 5"),
    ("{images: {data_dir: 3}}", "config key images.data_dir: 3 is not allowed; it must be of type"),
    ("{images: {mirror: ftp://x}}", "config key images.mirror: 'ftp://x' is not allowed"),
    ("{images: {checksums: {a.gz: 12ab}}}", "config key images.checksums.a.gz: '12ab'"),
    ("{images: {datasets: [imagefolder], imagefolder: {resize: 8}}}", "imagefolder.resize: 8"),
    ("{images: {split: {limit: -1}}}", "config key images.split.limit: -1 is not allowed"),
    ("{images: {seeds: {patch: -1}}}", "config key images.seeds.patch: -1 is not allowed"),
    ("{images: {training: {shift: 8}}}", "config key images.training.shift: 8"),
    ("{images: {split: {test: 1.0e-4}}}", "config key images.split.test: 0.0001"),
    (
        "{images: {seeds: 2.0}}",
        "config key images.seeds: 2.0 is not allowed; it must be of type object",
    ),
    ("{images: {computation: {accumulate: 2}}}", "config key images.models.cnn.model: 'cnn'"),
    ("{spatial: {pretraining: {setting: {N: 1.0e+300}}}}", "setting.N: 1e+300 is not allowed"),
    ("{spatial: {pretraining: {setting: {D: 1000000000000000000}}}}", "setting.D: 1000000000000"),
    ("{spatial: {pretraining: {sweeps: {main: [{}, {}]}}}}", "sweeps.main: [{}, {}]"),
    ("{spatial: {linear: {q: [0.4, 0.4]}}}", "config key spatial.linear.q: [0.4, 0.4]"),
    ("{spatial: {linear: {q: 0.4}}}", "config key spatial.linear.q: 0.4 is not allowed"),
    ("{spatial: []}", "config key spatial: [] is not allowed"),
    ("{meanfield: {gap: {width_depths: [5]}}}", "config key meanfield.gap.width_depths: '5'"),
    ("{meanfield: {risk: {decays: [-1]}}}", "config key meanfield.risk.decays.0: -1"),
    ("{meanfield: {digits: {heads: 3}}}", "config key meanfield.digits.heads: 3"),
    ("{kernels: {convergence: {sigma: 3}}}", "config key kernels.convergence.sigma: 3 is not"),
    ("{kernels: {stuck: {D: 15}}}", "config key kernels.stuck.D: 15 is not allowed"),
    ("{kernels: {stuck: {cases: {own: {target: other}}}}}", "stuck.cases.own.target: 'other'"),
    ("{kernels: {lazy: {method: newton}}}", "config key kernels.lazy.method: 'newton'"),
    ("{device: tpu}", "config key device: 'tpu' is not allowed; it must be one of"),
    ("{device: cuda}", "config key device: 'cuda' is not allowed"),
]


@pytest.mark.parametrize(("change", "said"), CHANGES)
def test_a_bad_configuration(checkout, change, said):
    (checkout.folder / "change.yaml").write_text(change)
    done = checkout.snakemake("change.yaml", "--cores", 1, CUDA_VISIBLE_DEVICES="")
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if not _is_information(line)]
    assert len(lines) == 1 and said in lines[0], done.stderr
    assert [path.name for path in checkout.folder.glob("results/*")] == [".gitkeep"]


def _is_information(line: str) -> bool:
    return line.startswith(("Using workflow specific profile", "Config file "))


def test_a_seed_that_is_none(checkout):
    done = checkout.snakemake("--cores", 1, "--config", "base_seed=abc")
    assert done.returncode != 0 and "base_seed: 'abc'" in done.stderr


def test_a_gpu_where_there_is_none(checkout):
    done = checkout.snakemake("--cores", 1, "--resources", "gpu=1", CUDA_VISIBLE_DEVICES="")
    assert done.returncode != 0
    assert "resource gpu: 1 is not allowed; it must be at most 0" in done.stderr


def test_results_that_are_no_folder(checkout):
    (checkout.folder / "results").rename(checkout.folder / "kept")
    try:
        (checkout.folder / "results").write_text("a file")
        done = checkout.snakemake("--cores", 1)
        assert done.returncode != 0 and "writable folder" in done.stderr
    finally:
        (checkout.folder / "results").unlink()
        (checkout.folder / "kept").rename(checkout.folder / "results")


@pytest.mark.parametrize("name", ["config", "smoke", "paper", "imagenet", "fashion"])
def test_a_dry_run_of_each_configuration_is_clean(checkout, name):
    command = [sys.executable, "-m", "snakemake", "--cores", 2, "--dry-run"]
    command += ["--configfile", f"config/{name}.yaml"]
    done = checkout.run(*command)
    assert done.returncode == 0, done.stderr
    assert "output files have to be generated" in done.stdout + done.stderr


def test_the_file_of_a_users_class_is_an_input_and_is_not_run(checkout):
    """Of the trainings that use it alone; the workflow only plans them."""
    (checkout.folder / "mine.py").write_text("raise RuntimeError('run')\n")
    change = "{images: {models: {own: {model: 'mine:Model', attention: none, patch: 2}}}}"
    (checkout.folder / "change.yaml").write_text(change)
    done = checkout.snakemake("change.yaml", "--cores", 1, "--dry-run")
    assert done.returncode == 0, done.stderr
    jobs = (done.stdout + done.stderr).split("\nrule ")
    users = [job for job in jobs if "mine.py" in job]
    assert len(users) == 3, "original, patches and pixels permuted"
    assert all(job.startswith("images_training_") and "digits-own-" in job for job in users)


FIGURE = "results/smoke/spatial/figures/linear.pdf"


@pytest.mark.parametrize(
    "target", ["spatial", "claims", "images_figures", "images", "kernels", FIGURE]
)
def test_targets(checkout, target):
    done = checkout.snakemake("--cores", 1, "--dry-run", target)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("CORES=0", "launch: CORES: '0' is not allowed; it must be all or a whole number above 0"),
        ("CORES=many", "launch: CORES: 'many' is not allowed"),
        ("GPUS=-1", "launch: GPUS: '-1' is not allowed"),
        ("GPUS=1", "resource gpu: 1 is not allowed; it must be at most 0"),
        ("SEED=x", "launch: SEED: 'x' is not allowed; it must be a whole number"),
        ("CONFIG=nosuch.yaml", "launch: nosuch.yaml: no readable configuration"),
        ("CONFIG=config", "launch: config: no readable configuration"),
        ("CONFIG=README.md", "launch: README.md: no YAML"),
        ("CONFIG=results/.gitkeep", "launch: results/.gitkeep: None is not allowed"),
        ("CONFIG=a bad name's.yaml", "config key device: 'tpu' is not allowed"),
        ("PROFILE=pbs", "PROFILE: 'pbs' is not allowed; it must be one of: default, kubernetes"),
        ("PROFILE=../profiles/slurm", "PROFILE: '../profiles/slurm' is not allowed"),
    ],
)
def test_options_of_make_figures(checkout, option, said):
    """Through the launcher as make calls it: make's variables reach it in the environment."""
    (checkout.folder / "a bad name's.yaml").write_text("device: tpu\n")
    name, value = option.split("=", 1)
    environment = {name: value, "CUDA_VISIBLE_DEVICES": ""}
    done = checkout.run(sys.executable, "-m", "attention_theory.launch", **environment)
    lines = [line for line in done.stderr.splitlines() if not _is_information(line)]
    assert done.returncode != 0
    assert len(lines) == 1 and said in lines[0], done.stderr


@pytest.mark.parametrize(
    ("sbatch", "said"),
    [
        (False, "PROFILE: 'slurm' is not allowed; it must be another where Slurm's sbatch"),
        (True, "GPUS: '0' is not allowed; it must be another where the configuration demands"),
    ],
)
def test_a_cluster_that_cannot_do_what_is_asked(checkout, tmp_path, sbatch, said):
    if sbatch:
        (tmp_path / "sbatch").write_text("#!/bin/sh\n")
        (tmp_path / "sbatch").chmod(0o755)
    (checkout.folder / "cuda.yaml").write_text("device: cuda\n")
    environment = {"PATH": str(tmp_path), "PROFILE": "slurm", "CONFIG": "cuda.yaml", "GPUS": "0"}
    done = checkout.run(sys.executable, "-m", "attention_theory.launch", **environment)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and said in done.stderr


def test_make_hands_its_options_to_the_launcher(checkout):
    shown = checkout.run("make", "--dry-run", "figures", "CORES=3", "SEED=7")
    assert (
        "export CORES GPUS SEED CONFIG PROFILE TFLOPS" in (checkout.folder / "Makefile").read_text()
    )
    assert "attention_theory.launch" in shown.stdout


def fake_python(folder, program):
    """A command that stands for another Python."""
    path = folder / "fakepython"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{program}" "$@"\n')
    path.chmod(0o755)
    return path


CHECK = "exec(open('envs/check.py').read())"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import sys; sys.version_info = (3, 9, 2); " + CHECK, "Python 3.9 is not allowed"),
        ("import sys; sys.modules['ensurepip'] = None; " + CHECK, "has no venv"),
        ("import platform; platform.machine = lambda: 'arm64'; " + CHECK, "arm64 is not allowed"),
    ],
)
def test_set_up_refuses_in_one_line(checkout, tmp_path, program, said):
    python = fake_python(tmp_path, program)
    done = checkout.run("make", "figures", f"PYTHON={python}")
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
    assert len(lines) == 1 and said in lines[0], done.stderr
    assert not (checkout.folder / ".venv").exists()


def test_set_up_without_any_python(checkout):
    done = checkout.run("make", "test", "PYTHON=python-that-is-not-there")
    assert done.returncode != 0 and "python-that-is-not-there not found" in done.stderr


def test_lock_and_conda_environment_agree():
    locked = {
        line.split(" ")[0]
        for line in (ROOT / "envs" / "requirements.lock").read_text().splitlines()
        if not line.startswith("#")
    }
    import yaml

    environment = yaml.safe_load((ROOT / "envs" / "environment.yaml").read_text())
    assert set(environment["dependencies"][-1]["pip"]) == locked
    assert "python=3.11" in environment["dependencies"]


def test_the_tests_run_with_the_locked_versions():
    done = subprocess.run(
        [sys.executable, "-m", "pip", "freeze", "--exclude-editable"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    installed = {line.lower().replace("_", "-") for line in done.stdout.splitlines()}
    for line in (ROOT / "envs" / "requirements.lock").read_text().splitlines():
        if not line.startswith(("#", "setuptools")):
            assert line.split(" ")[0] in installed
