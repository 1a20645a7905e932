"""Mutated configurations: refused in one line each, and what is accepted makes sense."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import HUGE, WRONG, base, check, checks, leaves, replaced

from attention_theory.errors import BadInput

pytestmark = pytest.mark.faults
CONTENT = base()
PLACES = list(leaves(CONTENT))
# What a wrong value is right for. Zero and true belong to the checks: many keys may be 0.
SIGNED = {"beta", "betas", "gamma", "rho", "alpha_D", "projections"}
FREE_TEXT = {"data_dir", "downloads", "weights", "model"}  # a path, or the name of a model of timm
MAY_BE_NULL = {"data_dir", "mirror", "weights"}
MAY_BE_EMPTY = {"main", "D50", "C3_L8", "checksums"}  # changes to a setting: none


def makes_sense(place, kind):
    """Whether a configuration may be accepted with this in this place."""
    keys = {key for key in place if isinstance(key, str)}
    return (
        kind == "zero"
        or (kind in ("negative", "negative fraction") and bool(keys & SIGNED))
        or (
            kind in ("negative", "negative fraction") and place[:3] == ("kernels", "stuck", "cases")
        )
        or (kind in ("text", "command") and bool(keys & FREE_TEXT) and "models" not in keys)
        or (kind == "text" and place == ("run",))
        or (kind == "null" and bool(keys & MAY_BE_NULL))
        or (kind == "mapping" and bool(keys & MAY_BE_EMPTY))
    )


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


@pytest.mark.parametrize("kind", ["nan", "huge", "nested"])
def test_what_no_key_accepts(kind):
    """One kind in every place of the configuration: a sample would leave some out."""
    for place in PLACES[:: 1 if kind == "nan" else 4]:
        try_out(place, kind)


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
