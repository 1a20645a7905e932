"""--cache: a second checkout takes data preparation and training from the first.

A job that would run in the second is recorded and ended before it does anything: it is a miss.
"""

import json
import shutil

import pytest
from checkout import SMOKE, Checkout

STUDIES = {
    "data": "images/data/digits.npz",
    "permutation": "images/permutations/digits-2-patch.npz",
    "training": "images/training/digits-cnn-patch.csv",
    "pretraining": "spatial/pretraining/q-0.csv",
}
STEPS = {
    "attention_theory.images.digits": "data",
    "attention_theory.images.permutation": "permutation",
    "attention_theory.images.training": "training",
    "attention_theory.spatial.pretraining": "pretraining",
}
# Python imports it before all else: a step is named in the file, and ends.
MISSES = """
import os, sys
module = next((word for word in sys.orig_argv if word.startswith("attention_theory.")), None)
if module:
    with open(os.environ["MISSES"], "a") as file:
        print(module, file=file)
    os._exit(3)
"""


class Cached:
    """Two checkouts, one of which filled a cache that both use."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.first, self.second = (Checkout(folder / name) for name in ("the first", "it's other"))
        (folder / "cache").mkdir()
        (folder / "site").mkdir()
        (folder / "site" / "sitecustomize.py").write_text(MISSES)

    def run(self, checkout, results=SMOKE, cores=1, change=None, **environment):
        (checkout.folder / "change.yaml").write_text(json.dumps(change or {"device": "auto"}))
        targets = [results / path for path in STUDIES.values()]
        return checkout.snakemake(
            "change.yaml", "--cache", "--keep-going", "--cores", cores, "--", *targets,
            SNAKEMAKE_OUTPUT_CACHE=str(self.folder / "cache"), **environment,
        )  # fmt: skip

    def misses(self, results=SMOKE, **options) -> set[str]:
        """The jobs that the second checkout would run itself, from nothing."""
        for name in ("results", ".snakemake"):
            shutil.rmtree(self.second.folder / name, ignore_errors=True)
        record = self.folder / "misses"
        record.write_text("")
        site = str(self.folder / "site")
        done = self.run(self.second, results, PYTHONPATH=site, MISSES=str(record), **options)
        found = {STEPS[module] for module in record.read_text().split()}
        assert (done.returncode == 0) == (not found), done.stderr[-3000:]
        return found


@pytest.fixture(scope="module")
def cached(tmp_path_factory):
    both = Cached(tmp_path_factory.mktemp("cached"))
    done = both.run(both.first)
    assert done.returncode == 0, done.stderr[-3000:]
    return both


def test_the_second_checkout_computes_nothing(cached):
    assert cached.misses(cores=2) == set()
    one, other = (checkout.folder / SMOKE for checkout in (cached.first, cached.second))
    for path in STUDIES.values():
        assert (one / path).read_bytes() == (other / path).read_bytes()
    models = {path.name: path.read_bytes() for path in one.rglob("*.safetensors")}
    assert len(models) == 2
    assert models == {path.name: path.read_bytes() for path in other.rglob("*.safetensors")}


def test_what_does_not_matter_hits(cached):
    """The name of the run, other studies' and later jobs' settings, claims, figures."""
    change = {"run": "renamed", "spatial": {"linear": {"N": 500}, "gaussian": {"seeds": 1}}}
    change["images"] = {"models": {"vit": {"width": 32}}}
    edited = ("spatial/claims.py", "images/claims.py", "style.py", "spatial/linear.py")
    with edits(cached.second, *edited):
        assert cached.misses(SMOKE.with_name("renamed"), change=change) == set()


@pytest.mark.parametrize(
    ("edited", "change", "missed"),
    [
        (["images/digits.py", "spatial/association.py"], {}, {"data", "pretraining"}),
        (
            ["images/fitting.py"],
            {"spatial": {"pretraining": {"setting": {"beta": 2.0}}}},
            {"training", "pretraining"},
        ),
        ([], {"images": {"training": {"epochs": 3}}}, {"training"}),
        ([], {"base_seed": 2}, {"data", "pretraining"}),
    ],
)
def test_what_matters_misses(cached, edited, change, missed):
    """What depends on a missed job waits for it, and so is not run either."""
    with edits(cached.second, *edited):
        assert cached.misses(change=change) == missed


class edits:
    """Edit modules of a checkout for a while."""

    def __init__(self, checkout, *modules) -> None:
        folder = checkout.folder / "src" / "attention_theory"
        self.kept = {folder / name: (folder / name).read_text() for name in modules}

    def __enter__(self) -> None:
        for path, text in self.kept.items():
            path.write_text(text + "\n# an edit\n")

    def __exit__(self, *_) -> None:
        for path, text in self.kept.items():
            path.write_text(text)
