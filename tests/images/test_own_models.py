"""Models and attentions of a user's own: the page's example as it stands, and what is refused."""

import json
import re
import sys
from pathlib import Path

import pytest
import yaml

from attention_theory import config, files, tables
from attention_theory.errors import BadInput
from attention_theory.images import columns, models, sections
from attention_theory.images.settings import Architecture, DataSet
from attention_theory.streams import stream

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "images.md").read_text()
CODE, CONFIG = re.search(r"```python\n(.*?)```.*?```yaml\n(.*?)```", PAGE, re.DOTALL).groups()

TRAINING = (
    "--setting t --data {p}/digits.npz --permutation {p}/patch.npz {model} --epochs 1 --batch 64 "
    "--rate .002 --weight-decay 0 --smoothing 0 --shift 1 --seeds 1 --base-seed 0 --table t.csv "
    "--models m --snapshots s --provenance p.json"
)


def options(values: dict) -> str:
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in values.items())


@pytest.mark.parametrize("name", ["gram", "linear"])
def test_the_pages_example_is_trained_by_the_step(call, prepared, tmp_path, name):
    """`call` runs in the folder that holds mine.py, as a user would."""
    (tmp_path / "mine.py").write_text(CODE)
    given = yaml.safe_load(CONFIG)["images"]["models"]
    whole = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    whole["run"], whole["images"]["models"] = "mine", given
    config.check(whole, ROOT / "config/schema.yaml", gpus=0)
    trainings = sections.trainings(whole["images"])
    permutations = whole["images"]["seeds"]
    assert list(trainings) == [f"digits-{m}-{p}" for m in given for p in permutations]

    chosen = {key: trainings[f"digits-{name}-patch"]["options"][key] for key in ARCHITECTURE}
    words = TRAINING.format(p=prepared, model=options(chosen)).split()
    code, text = call("training", *words)
    assert code == 0, text
    row = tables.read(tmp_path / "t.csv", columns.ACCURACY).iloc[0]
    assert (row.model, row.attention) == (given[name]["model"], given[name]["attention"])
    assert 0 < row.accuracy < 1
    snapshot = files.read_arrays(tmp_path / "s/t-seed0.npz")
    assert ("positions" in snapshot) == (name == "gram")
    record = json.loads((tmp_path / "p.json").read_text())
    assert "mine.py" in record["inputs"], "its checksum is in the record"


ARCHITECTURE = "model attention patch width layers heads mlp position_std recipe".split()
VIT = {"model": "vit", "attention": "", "patch": 2, "width": 8, "layers": 1, "heads": 2, "mlp": 8}
VIT |= {"position_std": 0.02}
MODEL = {"model": "", "attention": "none", "patch": 2}
DIGITS = DataSet(images=1797, size=8, channels=1, classes=10)

BROKEN = """
import torch
from torch import nn

class NoModule: pass

class Bare(nn.Module):
    def __init__(self, *_, **__):
        super().__init__()
        self.layer = nn.Linear(64, 5)

class NoWeights(Bare):
    positions_in_tokens = True
    def forward(self, tokens, positions): return tokens

class Narrow(NoWeights):
    def forward(self, tokens, positions): return positions
    def weights(self, tokens, positions): return positions

class OddWeights(NoWeights):
    def weights(self, tokens, positions): return torch.ones(1, 2, 16, 4)

class Fails(NoWeights):
    def weights(self, tokens, positions): return tokens @ positions

class Five(Bare):
    def forward(self, images): return self.layer(images.flatten(1))

class Empty(nn.Module):
    def __init__(self, classes, **_):
        super().__init__()
        self.classes = classes
    def forward(self, images): return torch.zeros(len(images), self.classes)

class Tied(nn.Module):
    def __init__(self, classes, **_):
        super().__init__()
        self.a, self.b = nn.Linear(64, classes), nn.Linear(64, classes)
        self.b.weight = self.a.weight
    def forward(self, images): return self.a(images.flatten(1)) + self.b(images.flatten(1))

class Strict(nn.Module):
    def __init__(self, channels): super().__init__()
"""


@pytest.mark.parametrize(
    ("model", "name", "said"),
    [
        (MODEL, "gone:A", "model: 'gone:A' cannot be imported (ModuleNotFoundError"),
        (MODEL, "broken:A", "model: 'broken:A' cannot be imported (AttributeError"),
        (MODEL, "broken:NoModule", "'broken:NoModule' is not allowed; it must be a class of torch"),
        (MODEL, "broken:Bare", "'broken:Bare' does not fit (NotImplementedError"),
        (MODEL, "broken:Five", "must return a tensor (2, 10) for two images, not (2, 5)"),
        (MODEL, "broken:Empty", "'broken:Empty' is not allowed; it must have something to train"),
        (MODEL, "broken:Tied", "'broken:Tied' does not fit (RuntimeError"),
        (MODEL, "broken:Strict", "'broken:Strict' cannot be built (TypeError"),
        (MODEL, "no/such:A", "model: 'no/such:A' is not allowed; it must be one of: vit, cnn, res"),
        (VIT, "gone:A", "attention: 'gone:A' cannot be imported (ModuleNotFoundError"),
        (VIT, "broken:NoModule", "must be a class of torch modules with forward"),
        (VIT, "broken:Bare", "must be a class of torch modules with weights"),
        (VIT, "broken:NoWeights", "must be a class of torch modules with weights"),
        (VIT, "broken:Narrow", "its forward must return a tensor (2, 16, 8) for two images, not"),
        (VIT, "broken:OddWeights", "its weights must return a tensor (1, 2, 16, 16) for two"),
        (VIT, "broken:Fails", "'broken:Fails' does not fit (RuntimeError"),
    ],
)
def test_a_class_that_does_not_fit(tmp_path, monkeypatch, model, name, said):
    (tmp_path / "broken.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "broken", raising=False)
    with pytest.raises(BadInput) as caught:
        models.build(Architecture(**(model | {which(model): name})), DIGITS, stream(0, "w"))
    assert said in str(caught.value)


@pytest.mark.parametrize(("model", "name"), [(MODEL, "broken:Five"), (VIT, "broken:Narrow")])
def test_the_step_says_so_in_one_line(call, prepared, tmp_path, model, name):
    (tmp_path / "broken.py").write_text(BROKEN)
    words = TRAINING.format(p=prepared, model=options(model | {which(model): name})).split()
    code, error = call("training", *words)
    assert code == 2 and f"{which(model)}: '{name}' is not allowed" in error, error
    announced = f"{which(model)}: {name} is code of your own, and now runs"
    lines = [line for line in error.splitlines() if line != announced]  # once a process
    assert len(lines) == 1 and "Traceback" not in error
    assert {path.name for path in tmp_path.iterdir()} <= {"broken.py", "__pycache__"}


def which(model: dict) -> str:
    """The key that names the user's class."""
    return "attention" if model["model"] == "vit" else "model"
