"""docs/extending.md, followed literally in one copy of the project."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import recipes
from checkout import OUTSIDE, ROOT, Checkout

RECIPES = recipes.read(ROOT / "docs" / "extending.md")
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def extended(tmp_path_factory) -> Checkout:
    """A copy in which every recipe's edits are made."""
    checkout = Checkout(tmp_path_factory.mktemp("extended"))
    for recipe in RECIPES.values():
        recipes.apply(recipe, checkout.folder)
    return checkout


def sh(checkout: Checkout, script: str) -> str:
    """Run commands as a user does, the project being installed; everything that they said."""
    path = os.pathsep.join([str(BIN), OUTSIDE["PATH"]])
    found = os.pathsep.join([str(checkout.folder / "src"), OUTSIDE.get("PYTHONPATH", "")])
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=checkout.folder,
        env=OUTSIDE | {"PATH": path, "PYTHONPATH": found.rstrip(os.pathsep)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout[-3000:]}"
    return done.stdout


def test_there_are_five():
    assert list(RECIPES) == ["A phi", "A data set", "An attention", "A claim", "A study"]


def test_what_the_page_shows_is_looked_for_in_order():
    output = "read 3 files\nseed,accuracy\n0,0.5\n1,-2e-16\n"
    assert recipes.first_missing(["seed,accuracy", "7,0.25", "1,..."], output) is None
    assert recipes.first_missing(["0,0.5", "seed,accuracy"], output) == "seed,accuracy"
    assert recipes.first_missing(["seed,error"], output) == "seed,error"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Look at this:\n\n```python\nx = 1\n```\n", "what is this block for"),
        ("In `a`, `x = 1` becomes `x = 2`.\n\n```sh\nls\n```\n", "a has 'x = 1' 2 times"),
        ("Create `a`:\n\n```python\nx = 1\n```\n", "a is there already"),
    ],
)
def test_a_recipe_that_cannot_be_followed_is_refused(tmp_path, text, said):
    (tmp_path / "a").write_text("x = 1\nx = 1\n")
    (tmp_path / "page.md").write_text(f"# Page\n\n## One\n\n{text}")
    with pytest.raises((ValueError, AssertionError), match=said):
        recipes.apply(recipes.read(tmp_path / "page.md")["One"], tmp_path)


@pytest.mark.parametrize("name", RECIPES)
def test_the_recipe_shows_what_the_page_says(extended, name):
    recipe = RECIPES[name]
    assert recipe.edits and recipe.commands and recipe.shown
    output = "".join(sh(extended, script) for script in recipe.commands)
    missing = recipes.first_missing(recipe.shown, output)
    assert missing is None, f"the page shows, and these commands do not: {missing}\n{output}"


def test_what_was_added_is_in_the_whole_run(extended):
    """Jobs, claims, and the new study's part of the ledger."""
    dry = sh(extended, "snakemake --configfile config/smoke.yaml --cores 1 --dry-run")
    assert {"collapse_depth", "collapse_figures", "collapse_claims"} <= {
        line.split()[-1].rstrip(":") for line in dry.splitlines() if "rule collapse" in line
    }
    ledger = dry.partition("rule ledger:")[2].partition("output:")[0]
    assert "results/smoke/collapse/claims.csv" in ledger
    assert "results/smoke/images/training/photographs-cnn-patch.csv" in dry
    code = "from attention_theory.images import claims as a; "
    code += "from attention_theory.spatial import claims as b; "
    code += "print([claim.id for claim in a.CLAIMS + b.CLAIMS])"
    listed = sh(extended, f"python -c '{code}'")
    assert "'I3.photographs'" in listed and "'G2'" in listed


def test_the_result_is_clean(extended):
    sh(extended, "ruff check && ruff format --check && snakefmt --check Snakefile workflow")
    sh(extended, "snakemake --lint")
