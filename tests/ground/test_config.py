"""A configuration's faults, each in one line that names key, value and what is allowed."""

import copy
from pathlib import Path

import pytest
import yaml

from attention_theory import config, devices, rules
from attention_theory.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "config" / "schema.yaml"
LAPTOP = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())


def changed(key: str, value: object) -> dict:
    """The laptop configuration with one (dotted) key set."""
    result = copy.deepcopy(LAPTOP)
    *parents, last = key.split(".")
    place = result
    for name in parents:
        place = place[name]
    place[last] = value
    return result


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_laptop_run_is_valid():
    config.check(LAPTOP, SCHEMA)


FAULTS = [
    ("sptial", {}, "config key sptial: unknown", "did you mean spatial?"),
    ("spatial.pretraining.setting.etav", 1.0, "pretraining.setting.etav", "did you mean eta_v?"),
    ("run", "../x", "config key run: '../x'", "match"),
    ("base_seed", "abc", "config key base_seed: 'abc'", "integer"),
    ("base_seed", -1, "config key base_seed: -1", "at least 0"),
    ("device", "gpu", "config key device: 'gpu'", "auto, cpu, cuda"),
    ("spatial.pretraining.seeds", 0, "config key spatial.pretraining.seeds: 0", "at least 1"),
    ("spatial.pretraining.seeds", 2.0, "spatial.pretraining.seeds: 2.0", "integer"),
    ("spatial.pretraining.seeds", 10**12, "spatial.pretraining.seeds: 1000", "at most"),
    ("images.datasets", ["digits", "digits"], "config key images.datasets", "twice"),
    ("spatial.pretraining.seeds", True, "spatial.pretraining.seeds: True", "integer"),
    ("spatial.pretraining.setting.q", float("nan"), "setting.q: nan", "finite"),
    ("spatial.pretraining.setting.eta_v", -1.0, "setting.eta_v: -1.0", "above 0"),
    ("spatial.pretraining.setting.eta_A", float("inf"), "setting.eta_A: inf", "finite"),
    ("spatial.pretraining.setting.omega", "1e-3", "setting.omega: '1e-3'", "write 1.0e-3"),
    ("spatial.pretraining.setting.partition", "odd", "setting.partition: 'odd'", "scattered"),
    ("spatial.pretraining.sweeps", {}, "spatial.pretraining.sweeps.main: missing", "set"),
    ("spatial.linear.q", [], "config key spatial.linear.q: []", "at least 1"),
    ("spatial.linear", None, "config key spatial.linear: None", "object"),
]


@pytest.mark.parametrize(("key", "value", "place", "allowed"), FAULTS)
def test_a_fault_is_one_line(key, value, place, allowed):
    with pytest.raises(BadInput) as caught:
        config.check(changed(key, value), SCHEMA)
    message = str(caught.value)
    assert place in message and allowed in message and "\n" not in message


def test_a_missing_key_is_named():
    broken = changed("run", "x")
    del broken["spatial"]["linear"]["N"]
    with pytest.raises(BadInput, match="config key spatial.linear.N: missing"):
        config.check(broken, SCHEMA)


def test_the_results_folder_must_be_a_folder(tmp_path):
    (tmp_path / "results").write_text("a file")
    with pytest.raises(BadInput, match="cannot write to .*results"):
        config.check(LAPTOP, SCHEMA)


@pytest.mark.parametrize("name", ["results", "results/laptop", "results/laptop/spatial/figures"])
def test_an_unwritable_results_folder(tmp_path, monkeypatch, name):
    """Tests may run as root, who may write anywhere: the answer is the operating system's."""
    closed = tmp_path / name
    closed.mkdir(parents=True)
    monkeypatch.setattr(config.os, "access", lambda path, _: Path(path).absolute() != closed)
    with pytest.raises(BadInput, match=f"cannot write to .*{name}; it must be a writable folder"):
        config.check(LAPTOP, SCHEMA)


def test_a_configuration_that_is_none_names_the_file(tmp_path):
    path = tmp_path / "c.yaml"
    for content in (b"", b"- 1", b"text", b"a: [", b"\xff\xfe\x00"):
        path.write_bytes(content)
        with pytest.raises(BadInput, match="c.yaml") as caught:
            config.read(path)
        assert "\n" not in str(caught.value)
    path.write_text("run: x")
    assert config.read(path) == {"run": "x"}


@pytest.mark.parametrize(
    ("device", "gpus", "found", "said"),
    [
        ("cuda", 1, 0, "resource gpu: 1"),
        ("auto", 2, 1, "resource gpu: 2"),
        ("cuda", 0, 0, "config key device: 'cuda'"),
        ("cuda", 0, 1, "GPUS=1"),
    ],
)
def test_a_gpu_that_is_not_there(monkeypatch, device, gpus, found, said):
    monkeypatch.setattr(devices, "count", lambda: found)
    with pytest.raises(BadInput, match=said):
        config.check(changed("device", device), SCHEMA, gpus)


@pytest.mark.parametrize(
    ("device", "gpus", "found", "wanted"),
    [
        ("auto", 0, 1, 0),
        ("auto", 1, 1, 1),
        ("cpu", 1, 1, 0),
        ("auto", 1, 0, 0),
        ("auto", None, 0, 1),
    ],
)
def test_which_jobs_ask_for_a_gpu(monkeypatch, device, gpus, found, wanted):
    monkeypatch.setattr(devices, "count", lambda: found)
    assert rules.gpu({"device": device}, gpus) == wanted


@pytest.mark.parametrize(
    ("gpus", "found", "given"),
    [(4, 4, 4), (2, 4, 2), (4, 0, 0), (None, 0, 4), (3, 4, 2), (8, 3, 2), (1, 1, 1), (0, 4, 0)],
)
def test_a_training_that_wants_four_gpus(monkeypatch, capsys, gpus, found, given):
    """It gets as many as divide its batch as four do, and fewer than four are said aloud."""
    monkeypatch.setattr(devices, "count", lambda: found)
    rules._say_fewer.cache_clear()
    assert [rules.gpu({"device": "auto"}, gpus, 4) for _ in range(2)] == [given] * 2
    said = capsys.readouterr().err
    assert said.count("\n") == (given < 4)
    assert given == 4 or f"gpus: 4 wanted, {given} used" in said


def test_nothing_is_said_of_the_one_gpu_that_is_not_there(monkeypatch, capsys):
    monkeypatch.setattr(devices, "count", lambda: 0)
    assert rules.gpu({"device": "auto"}, 1, 1) == 0
    assert rules.gpu({"device": "cpu"}, 4, 1) == 0
    assert capsys.readouterr().err == ""


def test_no_gpu_is_counted_where_none_is_visible(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert devices.count() == 0


def test_the_hash_does_not_depend_on_order():
    backwards = dict(reversed(LAPTOP.items()))
    assert config.config_hash(backwards) == config.config_hash(LAPTOP)
    assert config.config_hash(changed("base_seed", 2)) != config.config_hash(LAPTOP)
