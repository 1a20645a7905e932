"""A step's command line, through real processes."""

import json
import subprocess
import sys

import pytest

STEP = """
import dataclasses, time
from pathlib import Path
from attention_theory import step
from attention_theory.errors import BadInput, require

@dataclasses.dataclass(frozen=True)
class Group:
    eta_v: float = step.option("a rate")
    D: int = step.option("patches", 3)
    def __post_init__(self):
        require(self.eta_v > 0, "eta_v", self.eta_v, "be above 0")

def main(group: Group, fail: str = "", provenance: step.Provenance = None):
    '''A step for tests.'''
    with step.record(provenance, "tables", setting="s", study="a", step="b", seeds=[0]) as record:
        if fail == "file":
            Path("/nonexistent/file").read_text()
        if fail == "bad":
            raise BadInput("two\\nlines")
        if fail == "wait":
            print("waiting", flush=True)
            time.sleep(60)
        record["images_per_second"] = group.D * group.eta_v

if __name__ == "__main__":
    step.run(main)
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("step") / "example.py"
    path.write_text(STEP)
    return path


def run(script, *arguments):
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_fields_of_a_dataclass_are_options(script, tmp_path):
    done = run(script, "--eta-v", "0.5", "--D", "4", "--provenance", str(tmp_path / "p.json"))
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "p.json").read_text())
    assert record["images_per_second"] == 2.0
    assert (record["study"], record["step"], record["setting"]) == ("a", "b", "s")
    wanted = {"run", "config_sha256", "source_sha256", "seeds", "versions", "device", "threads"}
    wanted |= {"seconds", "cpu_seconds", "peak_memory_mb", "inputs"}
    assert wanted <= set(record)


def test_help_names_every_option(script):
    done = run(script, "--help")
    assert done.returncode == 0
    assert "--eta-v" in done.stdout and "a rate" in done.stdout and "A step for" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--eta-v"),
        (["--eta-v", "x"], "x"),
        (["--eta-v", "-1"], "eta_v: -1.0 is not allowed; it must be above 0"),
        (["--eta-v", "1", "--unknown", "2"], "--unknown"),
        (["--eta-v", "1", "--fail", "file"], "/nonexistent/file"),
        (["--eta-v", "1", "--fail", "bad"], "two lines"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(script, arguments, said):
    done = run(script, *arguments)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1 and said in done.stderr
    assert done.stdout == "" and "Traceback" not in done.stderr


def test_termination_ends_at_once_without_a_record(script, tmp_path):
    command = [sys.executable, str(script), "--eta-v", "1", "--fail", "wait"]
    command += ["--provenance", str(tmp_path / "p.json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.terminate()
        assert process.wait(timeout=10) == 143
        assert process.stderr.read() == b""
    assert not (tmp_path / "p.json").exists()
