"""Lists on a step's command line: `0,0.5,1` for numbers."""

from collections.abc import Callable
from math import isfinite

from attention_theory.errors import BadInput, require


def numbers(key: str, text: str, kind: Callable[[str], float] = float) -> list[float]:
    """The numbers of a list such as `0,0.5,1`, each of one `kind` (int or float).

    Raises BadInput, naming the key, for an empty list, a repeated or infinite entry, or no number.
    """
    try:
        values = [kind(word) for word in text.split(",")]
    except ValueError:
        raise BadInput(f"{key}: {text!r} is not allowed; it must be numbers like 0,1,2") from None
    require(all(map(isfinite, values)), key, text, "hold finite numbers only")
    require(len(set(values)) == len(values), key, text, "name no number twice")
    return values
