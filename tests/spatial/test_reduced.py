"""Set types and the reduced F against the full D x D model, pattern by pattern."""

import itertools

import numpy as np
import pytest
import torch
from brute import three_valued
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_theory.spatial import model, reduced
from attention_theory.spatial.population_settings import Point, Sets
from attention_theory.spatial.reduced import Types
from attention_theory.spatial.settings import Architecture

LOGITS = st.floats(-4, 4)


@st.composite
def problems(draw):
    """Sets, architecture, a point and a pattern z (D,) whose first set carries the signal."""
    C, L = draw(st.integers(1, 5)), draw(st.integers(2, 4))
    sets = Sets(D=C * L, C=C, q=0.3)
    architecture = Architecture(
        p=draw(st.sampled_from([3, 5])), nu=draw(st.floats(0, 1)), beta=draw(LOGITS)
    )
    point = Point(draw(st.floats(-2, 2)) / sets.D, draw(LOGITS), draw(LOGITS))
    others = draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=C * L - C, max_size=C * L - C))
    return sets, architecture, point, np.array([1.0] * C + others)


def by_types(sets, architecture, point, z):
    """F and its derivatives in alpha, gamma, rho (4,), from the types of the pattern's sets."""
    types, Z = Types(sets), int(z.sum())
    terms = reduced.terms(sets, architecture, point, types, np.array([Z]))
    linear = architecture.nu * sets.D * Z
    found = np.array([point.alpha * linear, linear, 0.0, 0.0])
    for own in z.reshape(-1, sets.C):
        (k,) = np.flatnonzero((types.a == (own == 1).sum()) & (types.b == (own == -1).sum()))
        found += [array[0, k] for array in terms]
    return found


@settings(deadline=None, max_examples=150)
@given(problems())
def test_F_and_its_derivatives_are_the_full_models(problem):
    sets, architecture, point, z = problem
    A, own = three_valued(sets, architecture, point)
    alpha = torch.tensor(point.alpha, dtype=torch.float64, requires_grad=True)
    A = torch.tensor(A, requires_grad=True)
    u = alpha * torch.from_numpy(z)[None]
    F = model.outputs(u, torch.softmax(A, dim=1), architecture)
    d_alpha, d_A = torch.autograd.grad(F.sum(), (alpha, A))
    within = own & ~np.eye(sets.D, dtype=bool)
    wanted = [F.item(), d_alpha.item(), d_A.numpy()[within].sum(), d_A.numpy()[~own].sum()]
    # The full model's sums run over D patches with |x| <= D each: so large are its roundings.
    p, D, size = architecture.p, sets.D, abs(point.alpha) * sets.D
    largest = (1 + abs(point.alpha)) * D**2 * (architecture.nu + p * size ** (p - 1))
    assert (np.abs(by_types(*problem) - wanted) <= 1e-13 * largest).all()


@pytest.mark.parametrize("C", [1, 2, 3, 4])
@pytest.mark.parametrize("q", [1e-6, 0.3, 1 - 1e-6])
def test_the_law_of_the_types_is_the_patches(C, q):
    types = Types(Sets(D=2 * C, C=C, q=q))
    law = dict.fromkeys(zip(types.a.tolist(), types.b.tolist(), strict=True), 0.0)
    for z in itertools.product((1, -1, 0), repeat=C):
        law[z.count(1), z.count(-1)] += (1 - q) ** z.count(0) * (q / 2) ** (C - z.count(0))
    np.testing.assert_allclose(types.probability, list(law.values()), rtol=1e-12)
    assert len(types.a) == (C + 1) * (C + 2) // 2
    assert (types.a[-1], types.b[-1]) == (C, 0), "the signal set's type comes last"
    assert (types.s == types.a - types.b).all()


@settings(deadline=None, max_examples=50)
@given(problems())
def test_softmax_is_a_row_of_the_full_matrix(problem):
    sets, architecture, point, _ = problem
    A, own = three_valued(sets, architecture, point)
    S = torch.softmax(torch.from_numpy(A), dim=1).numpy()
    Lambda, Gamma, Xi = reduced.softmax(sets, architecture, point)
    wanted = np.where(own, Gamma, Xi)
    np.fill_diagonal(wanted, Lambda)
    np.testing.assert_allclose(S, wanted, rtol=1e-13)


def test_softmax_does_not_overflow_and_ignores_an_entry_that_is_not_there():
    sets, architecture = Sets(D=6, C=2, q=0.3), Architecture(p=3, nu=0.1, beta=2.0)
    assert reduced.softmax(sets, architecture, Point(0, 1e5, -1e5)) == (0, 1, 0)
    assert reduced.softmax(sets, architecture, Point(0, -1e5, 1e5)) == (0, 0, 1 / 4)
    assert reduced.softmax(sets, architecture, Point(0, -1e5, -1e5)) == (1, 0, 0)
    alone = Sets(D=6, C=1, q=0.3)
    one, other = (reduced.softmax(alone, architecture, Point(0, g, 0)) for g in (0.0, 1e5))
    assert (one.Lambda, one.Xi) == (other.Lambda, other.Xi), "C = 1: there is no gamma"


def test_the_linear_part_is_no_part_of_the_derivatives_in_A():
    """Else it cancels: at D = 1e6 it is 1e9 times what is left."""
    sets, types = Sets(D=10**6, C=5, q=2e-5), Types(Sets(D=10**6, C=5, q=2e-5))
    point, Z = Point(1e-6, 1.0, -0.1), np.arange(-20, 30)
    with_nu, without = (
        reduced.terms(sets, Architecture(p=3, nu=nu, beta=2.0), point, types, Z) for nu in (0.1, 0)
    )
    for one, other in zip(with_nu, without, strict=True):
        assert one.tobytes() == other.tobytes()


def test_derivatives_are_per_entry():
    values = np.array([1.0, 2.0, 3.0, 4.0])
    assert reduced.per_entry(Sets(D=12, C=3, q=0.3), values) == (1, 2, 3 / 24, 4 / 108)
    assert reduced.per_entry(Sets(D=12, C=1, q=0.3), values) == (1, 2, 0, 4 / 132)
