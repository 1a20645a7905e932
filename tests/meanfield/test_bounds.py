"""Both sides of the audited statements: against definitions in 50 digits, and autograd."""

import inspect
from fractions import Fraction

import numpy as np
import pytest
import torch
from exact import at_precision, to_matrix
from exact_sides import SIDES
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_theory.meanfield import attention_calculus as calculus
from attention_theory.meanfield import auditing, bounds, density, search
from attention_theory.meanfield.bounds import BOUNDS, BY_NAME, DENSITY, IDENTITY
from attention_theory.meanfield.bounds_settings import Size

CHECKED = [bound for bound in BOUNDS if bound.form != DENSITY]
CORRECTED = [bound for bound in CHECKED if not bound.stated]


def points(bound, D, N, number, seed=0, scale=1.0):
    """Random matrices of a statement, entries of order `scale`."""
    rng = np.random.default_rng(seed)
    shapes = {"T": (D, N + 1), "c": (1, 1)}
    return {
        name: torch.from_numpy(scale * rng.standard_normal((number, *shapes.get(name, (D, D)))))
        for name in bound.matrices
    }


def test_every_statement_has_a_name_of_its_own_a_check_and_a_correction_that_exists():
    assert len(BY_NAME) == len(BOUNDS)
    assert set(auditing.CHECKS) == {bound.name for bound in CHECKED}
    for bound in BOUNDS:
        assert bound.statement and bound.where
        assert not bound.correction or not BY_NAME[bound.correction].stated
        if bound.form != DENSITY:
            check = auditing.CHECKS[bound.name]
            assert tuple(inspect.signature(check).parameters) == bound.matrices
            assert check.__doc__.startswith(bound.name), "a check says which statement it is"
    assert len(bounds.STATED) == 35


@pytest.mark.parametrize("name", SIDES)
@pytest.mark.parametrize("scale", [0.3, 1.5])
def test_both_sides_agree_with_their_definitions_in_50_digits(name, scale):
    bound = BY_NAME[name]
    drawn = points(bound, 2, 1, 3, seed=len(name), scale=scale)
    left, right = auditing.CHECKS[name](**drawn)
    for row in range(3):
        own = {key: M[row].tolist() for key, M in drawn.items()}
        exact = at_precision(lambda own: SIDES[name](**{k: to_matrix(m) for k, m in own.items()}))
        wanted = np.array([[float(a), float(b)] for a, b in exact(own)])
        found = np.stack([np.ravel(left[row].numpy()), np.ravel(right[row].numpy())], axis=1)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(1, 4), st.floats(-1, 0.7))
@settings(max_examples=15, deadline=None)
def test_the_jacobian_is_the_derivative_of_f(seed, D, N, exponent):
    drawn = points(BY_NAME["2iii"], D, N, 1, seed, 10**exponent)
    T, V, W = (drawn[name] for name in "TVW")

    def columns_of_f(X):  # (n, D), so that the Jacobian comes out in blocks
        return calculus.encoder(X.T[None], V, W)[0].T

    wanted = torch.autograd.functional.jacobian(columns_of_f, T[0].T.contiguous())
    found = calculus.blocks(T, V, W)[0].transpose(1, 2)
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-9)
    by_step = calculus.jacobian_by_complex_step(T, V, W)[0].transpose(1, 2)
    torch.testing.assert_close(by_step, wanted, rtol=1e-9, atol=1e-9)


def test_near_saturation_small_weights_keep_their_digits():
    T = torch.tensor([[[1.0, 0.0]]], dtype=torch.float64)
    W = torch.tensor([[[60.0]]], dtype=torch.float64)
    small = np.exp(-60.0)
    Q = calculus.covariance(calculus.softmax(T.mT @ W @ T).mT)
    np.testing.assert_allclose(Q[0, 0, 0, 0], small, rtol=1e-12)
    np.testing.assert_allclose(calculus.attend(T, W).C[0, 0, 0, 0], small, rtol=1e-12)


@pytest.mark.parametrize("bound", CORRECTED, ids=lambda bound: bound.name)
@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(1, 5), st.floats(-2, 1))
@settings(max_examples=12, deadline=None)
def test_corrected_bounds_hold_where_no_search_looked(bound, seed, D, N, exponent):
    drawn = points(bound, D, N, 20, seed, 10**exponent)
    limit = 1e-6 if bound.form == IDENTITY else 1 + 1e-9
    assert search.ratios(auditing.CHECKS[bound.name], drawn).max() <= limit


def test_draws_depend_on_size_and_seed_alone():
    first, second = BY_NAME["2i-f"], BY_NAME["2iii"]
    place = Size(2, 3), 7, 5
    a, b = (search.draw(bound, *place, 1) for bound in (first, second))
    assert all(torch.equal(a[name], b[name]) for name in a) and a["T"].shape == (7, 2, 4)
    other = search.draw(first, *place, 2)
    assert not torch.equal(a["T"], other["T"])


def test_ascent_never_ends_lower_and_reaches_a_sharp_constant():
    bound = BY_NAME["2i-h-corrected"]
    check = auditing.CHECKS[bound.name]
    starts = points(bound, 2, 1, 5)
    before = search.ratios(check, starts)
    climbed, steps = search.ascend(check, starts, 150, 3)
    after = search.ratios(check, climbed)
    assert (after >= before).all() and after.max() > 0.98 and 1 <= steps <= 150


def test_a_ratio_that_is_not_sound_counts_for_nothing():
    def check(T):
        return T[:, 0], T[:, 1]

    T = torch.tensor([[[2.0], [0.0]], [[1.0], [2.0]], [[torch.inf], [1.0]], [[1.0], [torch.nan]]])
    assert search.ratios(check, {"T": T}).tolist() == [0, 0.5, 0, 0]


def test_networks_are_annihilated_by_what_is_said_to_annihilate_them():
    def hub(x):
        return Fraction(0) if x <= 0 else x * x / 2 if x <= 1 else x - Fraction(1, 2)

    rng = np.random.default_rng(0)
    for name in ("4ii-bias", "4ii-tokens", "4ii-degree"):
        (task,) = density.tasks(name)
        found = task.annihilator
        for _ in range(20):
            inner, outer = rng.integers(-97, 98, 5).tolist(), rng.integers(-9, 10, 5).tolist()
            units = [(Fraction(w, 97), v) for w, v in zip(inner, outer, strict=True)]
            total = sum(
                Fraction(a) * v * hub(w * Fraction(T[0][found["column"]]))
                for a, T in zip(found["a"], found["T"], strict=True)
                for w, v in units
            )
            assert total == 0, f"{name}: exact, for every network with |W1| <= 1"
