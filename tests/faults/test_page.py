"""docs/faults.md: a row a test, and a test a row."""

import ast
import re

import pytest
from checkout import ROOT

pytestmark = pytest.mark.faults


def names(folder):
    """The test functions of a folder."""
    found = set()
    for path in folder.rglob("test_*.py"):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        found |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    return {name for name in found if name.startswith("test_")}


def test_the_page_has_a_row_a_test():
    page = (ROOT / "docs" / "faults.md").read_text("utf-8")
    rows = re.findall(r"^\|.*\| `(test_\w+)` \|$", page, flags=re.MULTILINE)
    assert len(rows) == len(set(rows))
    here = names(ROOT / "tests" / "faults") - {"test_the_page_has_a_row_a_test"}
    assert here <= set(rows), f"without a row: {sorted(here - set(rows))}"
    assert set(rows) <= names(ROOT / "tests"), "rows without a test"
