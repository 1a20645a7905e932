"""What a user can put right, said in one line."""

from collections.abc import Iterator
from contextlib import contextmanager


class BadInput(Exception):
    """Bad input, or a run that cannot go on: one line that says what, where and what is allowed."""


def require(condition: bool, key: str, value: object, allowed: str) -> None:
    """Raise BadInput for `key` unless `condition` holds."""
    if not condition:
        raise BadInput(f"{key}: {value!r} is not allowed; it must {allowed}")


@contextmanager
def within(place: str) -> Iterator[None]:
    """Prefix the key that a BadInput names with the place it stands in: `q` becomes `spatial.q`."""
    try:
        yield
    except BadInput as error:
        raise BadInput(f"{place}.{error}") from None
