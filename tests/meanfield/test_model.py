"""The residual flow against its definition: explicit copies, loops over columns, autograd."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_theory.meanfield.model import Flow, Particles, Tasks, Weights, hub, hub_slope


def draw(rng, S, L, K, D=3, n=4, B=5):
    """Tasks, particles and weights, some of them 0, of no particular law."""

    def entries(*shape):
        return rng.standard_normal(shape)

    particles = Particles(
        entries(S, L, K, D, D), entries(S, L, K, D, D), entries(S, L, K, D), entries(S, L, K, D)
    )
    copies = [rng.multinomial(2 * K, np.full(K, 1 / K), size=(S, L)) for _ in range(2)]
    weights = Weights(*(count / (2 * K) for count in copies))
    return Tasks(entries(S, D, n, B), entries(S, B)), particles, weights


def by_definition(tasks, particles, weights):
    """Predictions (S, B) by loops over seeds, tasks, layers and particles, for every column."""
    S, L, K = weights.mlp.shape
    found = np.empty_like(tasks.target)
    for s in range(S):
        for b in range(tasks.target.shape[1]):
            Z = tasks.Z[s, :, :, b]
            for layer in range(L):
                added = np.zeros_like(Z)
                for k in range(K):
                    scores = np.exp(Z.T @ particles.W[s, layer, k] @ Z)
                    columns = scores / scores.sum(axis=0)
                    added += weights.attention[s, layer, k] * particles.V[s, layer, k] @ Z @ columns
                Z = Z + added / L
                added = np.zeros_like(Z)
                for k in range(K):
                    x = particles.W1[s, layer, k] @ Z
                    activation = np.where(x <= 0, 0, np.where(x <= 1, x**2 / 2, x - 1 / 2))
                    outer = np.outer(particles.W2[s, layer, k], activation)
                    added += weights.mlp[s, layer, k] * outer
                Z = Z + added / L
            found[s, b] = Z[-1, -1]
    return found


def by_autograd(tasks, particles, weights):
    """Predictions, and the gradient of the risk in every particle, by torch."""
    parameters = [torch.tensor(array, requires_grad=True) for array in particles]
    V, W, W1, W2 = parameters
    w_attention, w_mlp = map(torch.tensor, weights)
    Z, L = torch.tensor(tasks.Z), V.shape[1]
    for layer in range(L):
        P = torch.einsum("sdib,skde,sejb->skijb", Z, W[:, layer], Z).softmax(2)
        shares = (w_attention[:, layer], V[:, layer], Z, P)
        Z = Z + torch.einsum("sk,skde,seib,skijb->sdjb", *shares) / L
        x = torch.einsum("skd,sdjb->skjb", W1[:, layer], Z)
        slope = x.clamp(0, 1)
        shares = (w_mlp[:, layer], W2[:, layer], slope * (x - slope / 2))
        Z = Z + torch.einsum("sk,skd,skjb->sdjb", *shares) / L
    predictions = Z[:, -1, -1]
    risk = ((predictions - torch.tensor(tasks.target)) ** 2).mean(1) / 2
    return predictions.detach().numpy(), Particles(
        *(gradient.numpy() for gradient in torch.autograd.grad(risk.sum(), parameters))
    )


SIZES = st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(1, 4))


@given(SIZES, st.integers(0, 9))
@settings(max_examples=15, deadline=None)
def test_predictions_are_those_of_the_definition(sizes, seed):
    tasks, particles, weights = draw(np.random.default_rng(seed), *sizes)
    found = Flow(tasks, *sizes[1:]).predict(particles, weights)
    np.testing.assert_allclose(found, by_definition(tasks, particles, weights), rtol=1e-9)


@given(SIZES, st.integers(2, 4), st.integers(2, 5), st.integers(0, 9))
@settings(max_examples=25, deadline=None)
def test_gradients_are_autograds_without_the_copies_share(sizes, D, n, seed):
    """dR / d theta_k is dt w_k times ours, for atoms without copies (w = 0) too."""
    tasks, particles, weights = draw(np.random.default_rng(seed), *sizes, D=D, n=n)
    predictions, found = Flow(tasks, *sizes[1:]).gradients(particles, weights)
    wanted_predictions, wanted = by_autograd(tasks, particles, weights)
    np.testing.assert_allclose(predictions, wanted_predictions, rtol=1e-9, atol=1e-12)
    shares = (weights.attention, weights.attention, weights.mlp, weights.mlp)
    for ours, theirs, w in zip(found, wanted, shares, strict=True):
        w = w.reshape(w.shape + (1,) * (ours.ndim - 3)) / sizes[1]
        scale = 1e-10 * (1 + abs(theirs).max())
        np.testing.assert_allclose(w * ours, theirs, rtol=1e-8, atol=scale)


def copied(particles, copies):
    """Particles repeated as often as they have copies, a layer of one seed each."""

    def repeat(array):
        S, L = copies.shape[:2]
        places = [(seed, layer) for seed in range(S) for layer in range(L)]
        flat = [np.repeat(array[place], copies[place], axis=0) for place in places]
        return np.stack(flat).reshape(S, L, -1, *array.shape[3:])

    return particles.map(repeat)


@pytest.mark.parametrize("M", [3, 40])
def test_weights_are_explicit_copies(rng, M):
    """K atoms with multinomial(M) / M shares, against M particles of weight 1 / M."""
    S, L, K = 2, 3, 5
    tasks, atoms, _ = draw(rng, S, L, K)
    copies = rng.multinomial(M, np.full(K, 1 / K), size=(S, L))
    few, many = Flow(tasks, L, K), Flow(tasks, L, M)
    weights = Weights(copies / M, copies / M)
    explicit, equal = copied(atoms, copies), Weights(*[np.full((S, L, M), 1 / M)] * 2)
    one, of_atoms = few.gradients(atoms, weights)
    other, of_copies = many.gradients(explicit, equal)
    np.testing.assert_allclose(one, other, rtol=0, atol=2e-14 * abs(other).max())
    for ours, theirs in zip(copied(of_atoms, copies), of_copies, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * abs(theirs).max())


def test_infinite_width_is_the_mean_over_draws(rng):
    """One layer is linear in the shares up to the MLP's argument: without neurons, exactly."""
    S, K = 1, 4
    tasks, atoms, _ = draw(rng, S, 1, K)
    atoms = atoms._replace(W2=np.zeros_like(atoms.W2))
    flow = Flow(tasks, 1, K)
    each = [
        flow.predict(atoms, Weights(np.eye(K)[k].reshape(1, 1, K), np.full((1, 1, K), 1 / K)))
        for k in range(K)
    ]
    whole = flow.predict(atoms, Weights(*[np.full((1, 1, K), 1 / K)] * 2))
    np.testing.assert_allclose(np.mean(each, axis=0), whole, rtol=1e-12)


def test_a_flow_forgets_what_it_computed_before(rng):
    """Its memory is reused: other particles, then the first again, give the first's bits."""
    tasks, particles, weights = draw(rng, 2, 3, 4)
    flow = Flow(tasks, 3, 4)
    predictions, found = flow.gradients(particles, weights)
    kept = predictions.copy(), found.map(np.copy)
    flow.gradients(particles.map(lambda array: array + 1), weights)
    again = flow.gradients(particles, weights)
    for arrays in ((kept[0], predictions, again[0]), *zip(kept[1], found, again[1], strict=True)):
        assert (arrays[0] == arrays[1]).all() and (arrays[0] == arrays[2]).all()


@given(st.floats(-3, 3))
def test_the_huberised_relu(x):
    wanted = 0 if x <= 0 else x**2 / 2 if x <= 1 else x - 1 / 2
    assert hub(np.array(x)) == pytest.approx(wanted)
    assert hub_slope(np.array(x)) == pytest.approx(min(max(x, 0), 1))
