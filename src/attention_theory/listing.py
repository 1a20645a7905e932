"""Lists on a step's command line: `0,0.5,1` for numbers, `4x32,8x128` for pairs such as (L, M)."""

from collections.abc import Callable
from math import isfinite

from attention_theory.errors import BadInput, require


def numbers(key: str, text: str, kind: Callable[[str], float] = float) -> list[float]:
    """The finite numbers of a list, each of one `kind` (int or float).

    Raises BadInput, naming the key, for an empty list, a repeated or infinite entry, or no number.
    """
    try:
        values = [kind(word) for word in text.split(",")]
    except ValueError:
        raise BadInput(f"{key}: {text!r} is not allowed; it must be numbers like 1,2,4") from None
    require(all(map(isfinite, values)), key, text, "hold finite numbers only")
    require(len(set(values)) == len(values), key, text, "name no number twice")
    return values


def counts(key: str, text: str) -> list[int]:
    """The whole numbers of a list, each at least 1."""
    values = numbers(key, text, int)
    require(min(values) >= 1, key, text, "hold no number below 1")
    return values


def sizes(key: str, text: str) -> list[tuple[int, int]]:
    """The sizes (L, M) of a list such as `4x32,8x128`."""
    pairs = [word.split("x") for word in text.split(",")]
    allowed = "be sizes LxM like 4x32,8x128"
    whole = all(len(pair) == 2 and all(map(str.isdecimal, pair)) for pair in pairs)
    require(whole, key, text, allowed)
    values = [(int(L), int(M)) for L, M in pairs]
    require(min(map(min, values)) >= 1, key, text, "hold no number below 1")
    require(len(set(values)) == len(values), key, text, "name no size twice")
    return values
