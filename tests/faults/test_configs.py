"""Mutated configurations: refused in one line each, and what is accepted makes sense."""

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import HUGE, WRONG, base, check, checks, leaves, replaced

from attention_theory.errors import BadInput

pytestmark = pytest.mark.faults
CONTENT = base()
PLACES = list(leaves(CONTENT))
# What a wrong value is right for.
SIGNED = {"beta", "betas", "gamma", "rho", "alpha_D", "projections"}
FREE_TEXT = {"data_dir", "downloads", "weights", "model"}  # a path, or the name of a model of timm
MAY_BE_NULL = {"data_dir", "mirror", "weights"}
MAY_BE_ZERO = set(  # a real number, or a count that switches something off
    "base_seed beta betas nu cap gamma rho alpha_0 alpha_D projections starts stop_risk full "
    "probes limit weight_decay smoothing shift checkpoint_every none patch pixel draws hessians "
    "eps mean decay decays sweep".split()
)
MAY_BE_LARGE = {"base_seed"}  # of the whole numbers
MAY_BE_EMPTY = {"main", "D50", "C3_L8", "checksums"}  # changes to a setting: none


def makes_sense(place, kind):
    """Whether a configuration may be accepted with this in this place."""
    keys = {key for key in place if isinstance(key, str)}
    return (
        (kind == "zero" and bool(keys & MAY_BE_ZERO))
        or (kind == "large" and (is_real(place) or bool(keys & MAY_BE_LARGE)))
        or (kind in ("negative", "negative fraction") and bool(keys & SIGNED))
        or (
            kind in ("negative", "negative fraction") and place[:3] == ("kernels", "stuck", "cases")
        )
        or (kind in ("text", "command") and bool(keys & FREE_TEXT) and "models" not in keys)
        or (kind == "text" and place == ("run",))
        or (kind == "null" and bool(keys & MAY_BE_NULL))
        or (kind == "mapping" and bool(keys & MAY_BE_EMPTY))
    )


@functools.cache
def is_real(place):
    """Whether a number at this place may have a fraction: the configuration takes one there."""
    study = place[0] if isinstance(CONTENT[place[0]], dict) else None
    try:
        check(replaced(CONTENT, place, 1.5), study)
    except BadInput as error:
        return "type" not in str(error)
    return True


def try_out(place, kind):
    """Check the configuration with a wrong value in a place. No other error than BadInput."""
    study = place[0] if isinstance(CONTENT[place[0]], dict) else None
    try:
        check(replaced(CONTENT, place, WRONG[kind]), study)
    except BadInput as error:
        assert len(str(error).splitlines()) == 1, f"{place} {kind}: {error!r}"
        assert str(error).startswith("config key "), f"{place} {kind}: {error}"
    else:
        assert makes_sense(place, kind), f"{place}: {WRONG[kind]!r} was accepted"


@settings(max_examples=500, deadline=None)
@given(place=st.sampled_from(PLACES), kind=st.sampled_from(sorted(WRONG)))
def test_a_wrong_leaf_is_refused_in_one_line(place, kind):
    try_out(place, kind)


@pytest.mark.parametrize("kind", ["nan", "large", "huge", "nested"])
def test_one_kind_in_every_place(kind):
    """One kind in every place of the configuration: a sample would leave some out."""
    for place in PLACES[:: 1 if kind == "nan" else 4]:
        try_out(place, kind)


def test_what_yaml_alone_can_write():
    """A mapping that holds itself, a key of two lines, a name with the end of its line."""
    itself = {}
    itself["x"] = itself
    wrong = [
        CONTENT | {"images": itself},
        CONTENT | {"a\nb": 1},
        CONTENT | {"run": "laptop\n"},
        CONTENT | {"images": CONTENT["images"] | {"data_dir": "a\nb"}},
    ]
    for content in wrong:
        with pytest.raises(BadInput) as error:
            check(content)
        assert str(error.value).startswith("config key ") and "\n" not in str(error.value)


def test_a_section_or_a_key_too_few_or_too_many():
    for study in ("spatial", "images"):
        for key in CONTENT[study]:
            fewer = {name: value for name, value in CONTENT[study].items() if name != key}
            for section in (fewer, CONTENT[study] | {key: {}}, CONTENT[study] | {key: HUGE}):
                try:
                    check(CONTENT | {study: section}, study)
                except BadInput as error:
                    assert len(str(error).splitlines()) == 1
                else:
                    assert key == "checksums" and section[key] == {}


def test_the_configuration_itself_is_accepted_and_every_study_is_checked():
    check(CONTENT)
    studies = [key for key, value in CONTENT.items() if isinstance(value, dict)]
    assert len(studies) >= 2 and all(len(checks(study)) >= 2 for study in studies)


if __name__ == "__main__":  # every kind in every place: some minutes
    for place in PLACES:
        for kind in WRONG:
            try_out(place, kind)
