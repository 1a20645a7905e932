"""The example in docs/notebook.md runs as it stands and prints what it says; the public API."""

import re
from pathlib import Path

import pytest

from attention_theory import spatial

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "notebook.md").read_text()


def test_the_example_prints_what_the_page_says(capsys):
    code, printed = re.search(r"```python\n(.*?)```.*?```\n(.*?)```", TEXT, re.DOTALL).groups()
    variables = {}
    exec(code, variables)
    found = capsys.readouterr().out
    # The last digit depends on the processor: numbers agree to rounding, words exactly.
    numbers = [list(map(float, re.findall(r"\d\.\d+", text))) for text in (found, printed)]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.01)
    assert re.sub(r"\d", "0", found) == re.sub(r"\d", "0", printed)
    assert variables["X"].shape == (100, 20, 8) and variables["sets"].shape == (20,)


@pytest.mark.parametrize("name", spatial.__all__)
def test_public_functions_say_what_they_take_and_where_it_is_from(name):
    assert len(getattr(spatial, name).__doc__) > 40


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        spatial.nothing  # noqa: B018
