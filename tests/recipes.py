"""Reads a page of recipes: the edits that it asks for, the commands, and what it says they show.

A recipe is a section (`## `). An edit is one of these sentences, and the block below its colon:

    Create `FILE`:                           At the end of `FILE`, add:
    In `FILE`, above (below) `LINE`, add:    In `FILE`, `OLD` becomes `NEW`.

Any other block is `sh`, to be run, or `text`, what that shows: its lines, in that order, among
others, where a number stands for any number and `...` for anything.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEW = re.compile(r"Create `([^`]+)`[^`]*:$")
END = re.compile(r"At the end of `([^`]+)`, add:$")
BESIDE = re.compile(r"In `([^`]+)`, (above|below) `([^`]+)`, add:$")
BECOMES = re.compile(r"In `([^`]+)`, `([^`]+)` becomes\s+`([^`]+)`\.")
NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"


@dataclass
class Recipe:
    """Edits as functions' names with their arguments, and commands with the lines they show."""

    edits: list[tuple] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)


def read(page: Path) -> dict[str, Recipe]:
    """The recipes by title. Raises ValueError for a block that no sentence explains."""
    title, *rest = re.split(r"^## (.+)\n", page.read_text("utf-8"), flags=re.MULTILINE)
    return {name: _recipe(text) for name, text in zip(rest[::2], rest[1::2], strict=True)}


def _recipe(text: str) -> Recipe:
    recipe, start = Recipe(), 0
    for block in BLOCK.finditer(text):
        _add_prose(recipe, text[start : block.start()], *block.groups())
        start = block.end()
    recipe.edits += [("replace", *found) for found in BECOMES.findall(text[start:])]
    return recipe


def _add_prose(recipe: Recipe, prose: str, language: str, content: str) -> None:
    """What a stretch of prose asks for, the block after it being what its last sentence means."""
    prose = " ".join(prose.split())
    recipe.edits += [("replace", *found) for found in BECOMES.findall(prose)]
    if found := NEW.search(prose):
        recipe.edits.append(("create", found[1], content))
    elif found := END.search(prose):
        recipe.edits.append(("append", found[1], content))
    elif found := BESIDE.search(prose):
        recipe.edits.append((found[2], found[1], found[3], content))
    elif language == "sh":
        recipe.commands.append(content)
    elif language == "text":
        recipe.shown += content.splitlines()
    else:
        raise ValueError(f"what is this block for? {prose[-80:]}\n{content[:200]}")


def apply(recipe: Recipe, folder: Path) -> None:
    """Make a recipe's edits in a folder."""
    for kind, name, *words in recipe.edits:
        path = folder / name
        if kind == "create":
            assert not path.exists(), f"{name} is there already"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(words[0], "utf-8")
        else:
            path.write_text(_edited(path.read_text("utf-8"), name, kind, *words), "utf-8")


def _edited(text: str, name: str, kind: str, *words: str) -> str:
    if kind == "append":
        return text + words[0]
    old, new = words
    assert text.count(old) == 1, f"{name} has {old!r} {text.count(old)} times"
    if kind == "replace":
        return text.replace(old, new)
    start = text.rindex("\n", 0, text.index(old)) + 1
    end = text.index("\n", text.index(old)) + 1
    place = start if kind == "above" else end
    return text[:place] + new + text[place:]


def first_missing(shown: list[str], output: str) -> str | None:
    """The first line that the page shows and the output lacks, in this order; or None."""
    lines = iter(output.splitlines())
    for line in shown:
        parts = [re.sub(NUMBER, lambda _: "\0", part) for part in line.split("...")]
        parts = [re.escape(part).replace("\0", NUMBER) for part in parts]
        form = re.compile(".*".join(parts))
        if not any(form.fullmatch(each) for each in lines):
            return line
    return None
