"""The example in docs/notebook.md runs as it stands and prints what it says; the public API."""

import re
from pathlib import Path

import numpy as np
import pytest

from attention_theory import spatial
from attention_theory.errors import BadInput

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
    assert variables["X"].shape == (100, 20, 8)
    assert (variables["sets"] == variables["problem"].partition).all(), "one problem throughout"


@pytest.mark.parametrize("name", spatial.__all__)
def test_public_functions_say_what_they_take_and_where_it_is_from(name):
    assert len(getattr(spatial, name).__doc__) > 40


A, SETS = np.zeros((20, 20)), np.repeat(np.arange(5), 4)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"A": np.zeros((10, 10))}, "A: .*shape"),
        ({"partition": np.arange(20)}, "partition: .* sets of 4"),
        ({"partition": SETS[:10]}, "partition: .* sets of 4"),
        ({"samples": 10**9}, "samples: 1000000000"),
    ],
)
def test_what_does_not_fit_is_refused(change, said):
    arguments = {"A": A, "partition": SETS, "samples": 1} | change
    distribution = spatial.Distribution(D=20, C=4, d=8, q=0.3)
    architecture = spatial.Architecture(p=3, nu=0.1, beta=2.0)
    with pytest.raises(BadInput, match=said):
        spatial.finetune(distribution=distribution, architecture=architecture, **arguments)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        spatial.nothing  # noqa: B018
