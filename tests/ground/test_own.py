"""Classes of a user's own: found without an import, loaded, refused in one line."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_theory import own, rules
from attention_theory.errors import BadInput


@pytest.mark.parametrize("name", ["mine:A", "a.b_c.d:E1", "_m:_C"])
def test_names_of_the_form(name):
    assert own.is_own(name)


@pytest.mark.parametrize(
    "name", ["mine", "mine:", ":A", "a..b:C", ".a:C", "a:B.c", "a b:C", "1a:C", "a:1", "a:B\n", ""]
)
def test_other_names(name):
    assert not own.is_own(name) and own.files(name) == []


@given(st.text())
def test_any_text_is_answered(name):
    assert own.is_own(name) in (True, False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A package and a module on the path, which leave a mark when they are run."""
    (tmp_path / "box" / "deep").mkdir(parents=True)
    for name in ("box/__init__.py", "box/deep/__init__.py", "box/deep/thing.py", "flat.py"):
        mark = tmp_path / (name.replace("/", "-") + ".ran")
        (tmp_path / name).write_text(f"open({str(mark)!r}, 'w').close()\nclass A: pass\nB = 3\n")
    (tmp_path / "broken.py").write_text("x = 1\nraise ValueError('two\\nlines')\n")
    (tmp_path / "wrong.py").write_text("def (:\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("box", "box.deep", "box.deep.thing", "flat", "broken", "wrong"):
        sys.modules.pop(name, None)


def test_files_are_found_without_running_them(folder):
    names = ["box.deep.thing:A", "self", "box:A", "flat:A", "flat:B", "gone:A", "box.gone:A"]
    found = [str(path.relative_to(folder)) for path in own.files(*names)]
    assert found == ["box/deep/thing.py", "box/__init__.py", "flat.py"]
    assert not list(folder.glob("*.ran"))


def test_a_rules_code_holds_the_users_file(folder, monkeypatch):
    monkeypatch.chdir(folder)
    code = rules.code("images.training", {"model": "flat:A", "width": 3, "recipe": "standard"})
    assert code == [*rules.code("images.training"), str(folder / "flat.py")]


def test_a_class_is_loaded(folder):
    assert own.load("model", "box.deep.thing:A").__name__ == "A"
    assert (folder / "box-__init__.py.ran").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gone:A", r"model: 'gone:A' cannot be imported \(ModuleNotFoundError: No module named"),
        ("flat:C", r"'flat:C' cannot be imported \(AttributeError: .*'C'"),
        ("flat:B", r"model: 'flat:B' is not allowed; it must name a class"),
        ("broken:A", r"'broken:A' cannot be imported \(ValueError: two\nlines \[broken.py:2\]"),
        ("wrong:A", r"'wrong:A' cannot be imported \(SyntaxError"),
    ],
)
def test_what_cannot_be_loaded(folder, name, words):
    with pytest.raises(BadInput, match=words):
        own.load("model", name)
