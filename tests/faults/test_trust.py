"""What may run code, and what may not: source, configurations, and what they hand to a shell.

Hostile pickles and archives: tests/images/test_sources.py and test_similarity.py.
"""

import ast
import subprocess
import sys

import mutations
import pytest
from checkout import ROOT
from tiny import Tiny

from attention_theory import config, own, rules
from attention_theory.errors import BadInput
from attention_theory.images import sections

pytestmark = pytest.mark.faults
SOURCES = sorted((ROOT / "src").rglob("*.py"))
# Calls that can run what a file or a string says, or write where an archive says.
DANGEROUS = {
    "eval", "exec", "compile", "__import__", "system", "popen", "getoutput", "extract",
    "extractall", "unpack_archive", "full_load", "unsafe_load", "load_module",
}  # fmt: skip
READS = {"pickle", "_pickle", "joblib", "dill", "shelve", "marshal", "runpy", "code"}
# The first's unpickler knows two names, and makes them nothing but arrays; the second runs a step
# of this package, by its name in a rule.
ALLOWED = {"cifar.py", "piped.py"}


def calls(path):
    """Every call of a file: its last name, its first name, and its keywords."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            whole = ast.unparse(node.func)
            words = {word.arg: ast.unparse(word.value) for word in node.keywords}
            yield whole.rpartition(".")[2], whole.partition(".")[0], whole, words


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_file_or_text_is_run(path):
    for name, module, whole, words in calls(path):
        builtin = name not in ("eval", "exec", "compile") or whole == name  # not model.eval()
        dangerous = name in DANGEROUS and builtin
        assert not dangerous, f"{path.name}: {whole}"
        assert (
            words.get("shell", "False") == "False"
            and "allow_pickle" not in words
            or (words["allow_pickle"] == "False")
        ), f"{path.name}: {whole}"
        if whole == "torch.load":
            assert words["weights_only"] == "True", path.name
        if whole in ("np.load", "numpy.load"):
            assert words["allow_pickle"] == "False", path.name
        if module == "yaml":
            assert whole in ("yaml.safe_load", "yaml.safe_dump"), f"{path.name}: {whole}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_nothing_is_unpickled(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) else []
        found = {(name or "").partition(".")[0] for name in names} & READS
        assert not found or path.name in ALLOWED, f"{path.name}: {found}"


def test_a_configuration_that_asks_for_an_object(tmp_path):
    """Neither the launcher nor Snakemake makes it."""
    tiny = Tiny(tmp_path / "tiny")
    hostile = "run: !!python/object/apply:os.system ['touch pwned']\n"
    (tiny.folder / "config" / "config.yaml").write_text(hostile)
    first, second = tiny.launch(), tiny.snakemake()
    assert first.returncode == 2 and len(first.stderr.splitlines()) == 1, first.stderr
    assert second.returncode != 0
    assert not (tiny.folder / "pwned").exists()


HOSTILE = ["$(touch pwned)", "`touch pwned`", "'; touch pwned; '", "{config}"]
TWO_LINES = "a\ntouch pwned"  # refused wherever it stands


@pytest.mark.parametrize("text", HOSTILE)
def test_a_shell_runs_nothing_that_a_configuration_says(text, tmp_path):
    """Where free text is allowed, it is an argument, letter by letter."""
    content = mutations.base()
    content["images"] |= {"datasets": ["cifar10"], "data_dir": text}
    content["images"]["models"] = {"vit": content["images"]["models"]["vit"]}
    config.check(content, mutations.SCHEMA)
    options = sections.datasets(content["images"])["cifar10"]
    words = subprocess.run(
        ["sh", "-c", f"printf '%s\\0' {rules.options(options)}"], cwd=tmp_path,
        capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    assert words[words.index("--data-dir") + 1] == text
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", [*HOSTILE, TWO_LINES])
def test_names_that_reach_a_path_or_a_shell_bare_are_plain(text):
    content = mutations.base()

    def spatial(*place):
        return mutations.replaced(content["spatial"], place[:-1], place[-1])

    changes = [
        {"run": text},
        {"images": content["images"] | {"models": {text: content["images"]["models"]["vit"]}}},
        {"images": content["images"] | {"datasets": [text]}},
        {"images": mutations.replaced(content["images"], ("models", "vit", "model"), text)},
        {"images": mutations.replaced(content["images"], ("models", "vit", "attention"), text)},
        {"spatial": spatial("pretraining", "sweeps", text, [{}])},
        {"spatial": spatial("population", "trajectories", text, {})},
        {"spatial": spatial("transfer", "settings", [text])},
    ]
    for change in changes:
        with pytest.raises(BadInput):
            mutations.check(content | change)


def test_the_one_place_where_a_configuration_runs_code_says_so(tmp_path, monkeypatch, capsys):
    (tmp_path / "mine_that_says_so.py").write_text("class Model: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    for _ in range(2):
        own.load("model", "mine_that_says_so:Model")
    assert capsys.readouterr().err == (
        "model: mine_that_says_so:Model is code of your own, and now runs\n"
    )
    sys.modules.pop("mine_that_says_so")
    imports = [path.name for path in SOURCES if "import_module" in path.read_text("utf-8")]
    # The others by names of their own, or of a study's folder.
    assert set(imports) <= {"own.py", "__init__.py", "planning.py"}
