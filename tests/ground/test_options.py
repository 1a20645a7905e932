"""make's variables as options of Snakemake, and back."""

import pytest
from checkout import ROOT

from attention_theory.errors import BadInput
from attention_theory.options import Asked


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    """A folder with the project's configurations and two profiles."""
    (tmp_path / "config").symlink_to(ROOT / "config")
    for name, text in (("own", "cores: 2"), ("cluster", "executor: slurm")):
        folder = tmp_path / "profiles" / name
        folder.mkdir(parents=True)
        (folder / "config.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")


@pytest.mark.parametrize(
    ("asked", "words", "command"),
    [
        (Asked(), "--resources gpu=0", "make figures"),
        (Asked(gpus="2"), "--resources gpu=2", "make figures GPUS=2"),
        (
            Asked(seed="7", configuration="config/smoke.yaml"),
            "--configfile config/smoke.yaml --resources gpu=0 --config base_seed=7",
            "make figures CONFIG=config/smoke.yaml SEED=7",
        ),
        (
            Asked(profile="own"),
            "--workflow-profile profiles/own --resources gpu=0",
            "make figures PROFILE=own",
        ),
        (
            Asked(profile="cluster"),
            "--workflow-profile profiles/cluster",
            "make figures PROFILE=cluster",
        ),
        (
            Asked(profile="cluster", gpus="0", seed="7"),
            "--workflow-profile profiles/cluster --config base_seed=7 device=cpu",
            "make figures SEED=7 PROFILE=cluster GPUS=0",
        ),
    ],
)
def test_options(asked, words, command):
    assert " ".join(asked.snakemake()) == words
    assert asked.make("figures") == command


def test_the_base_seed_is_the_last_layers_or_the_one_given(tmp_path):
    (tmp_path / "mine.yaml").write_text("base_seed: 5")
    assert Asked().base_seed == 1
    assert Asked(configuration="mine.yaml").base_seed == 5
    assert Asked(configuration="mine.yaml", seed="010").base_seed == 10


def test_the_folder_is_the_last_layers():
    assert str(Asked().folder) == "results/laptop"
    assert str(Asked(configuration="config/smoke.yaml").folder) == "results/smoke"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"gpus": "-1"}, "GPUS: '-1' is not allowed"),
        ({"seed": "x"}, "SEED: 'x' is not allowed"),
    ],
)
def test_values_that_are_none(values, said):
    with pytest.raises(BadInput, match=said):
        Asked(**values)


def test_a_profile_or_a_configuration_that_is_not_there():
    with pytest.raises(BadInput, match="PROFILE: 'none' is not allowed.* cluster, own"):
        _ = Asked(profile="none").folder
    with pytest.raises(BadInput, match="none.yaml: no readable"):
        _ = Asked(configuration="none.yaml").folder
