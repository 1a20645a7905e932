"""What is set outside: locale, home folder, threads, hash seed; names of folders."""

import os
import subprocess
import sys

import pytest
from checkout import OUTSIDE, ROOT
from tiny import Tiny

pytestmark = pytest.mark.faults
PLAIN = {name: value for name, value in OUTSIDE.items() if not name.startswith(("LC_", "LANG"))}
PLAIN |= {"PYTHONPATH": str(ROOT / "src")}
NO_HOME = {"HOME": os.devnull, "XDG_CACHE_HOME": os.devnull, "XDG_CONFIG_HOME": os.devnull}
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
HOSTILE = NO_HOME | ASCII | {"OMP_NUM_THREADS": "3", "PYTHONHASHSEED": "7"}
NAME = "it's a naïve folder"


def test_workflow_in_hostile_surroundings(tmp_path):
    """A quote, a space and an accent in the folder's name; ASCII alone; no home; all at once."""
    tiny = Tiny(tmp_path / NAME)
    done = tiny.launch(**HOSTILE)
    assert done.returncode == 0 and tiny.whole(), done.stderr
    tiny.fault("raise files.BadInput(f'{Path.cwd().name}: \\u2265 1')")
    (tiny.folder / "results" / "tiny" / "study" / "part.csv").unlink()
    done = tiny.launch(**HOSTILE)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("step: it's a na"), "said all the same"
    assert "UnicodeEncodeError" not in done.stderr


TRAIN = (
    "attention_theory.spatial.pretraining --setting main-0 --partition scattered --D 12 --C 3 "
    "--d 4 --q 0.4 --p 3 --nu 0.1 --beta 1.0 --omega 0.01 --N 64 --eta-v 0.001 --eta-A 5.0 "
    "--steps 6 --every 2 --patience 3 --validation 32 --test 64 --seeds 2 "
    "--base-seed 1 --table t.csv --trajectory j.csv --models m --provenance p.json"
)
DRAW = "attention_theory.spatial.figures training --input trajectory=j.csv --output ."


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A training and its figure: in plain surroundings, and in hostile ones."""
    folders = []
    for name, extra in (("plain", {}), (NAME, HOSTILE)):
        folder = tmp_path_factory.mktemp("made") / name
        folder.mkdir()
        for command in (TRAIN, DRAW):
            done = subprocess.run(
                [sys.executable, "-m", *command.split()], cwd=folder, env=PLAIN | extra,
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
        folders.append(folder)
    return folders


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".pdf", ".png"])
def test_bytes_do_not_depend_on_the_surroundings(made, suffix):
    plain, hostile = made
    paths = sorted(path.relative_to(plain) for path in plain.rglob(f"*{suffix}"))
    assert paths
    for path in paths:
        assert (plain / path).read_bytes() == (hostile / path).read_bytes(), path
