"""Particles with weights against explicit copies, and our gradients against autograd."""

import numpy as np
import torch
from harness import Row, compare

from attention_theory.meanfield import drawing
from attention_theory.meanfield.model import Flow, Particles, Weights
from attention_theory.meanfield.settings import Problem

PROBLEM = Problem(d_x=2, n=5, tasks=32, fresh=1, mean=0.3, spread=0.6, neurons=1.25)
SEEDS, L, K, M = 4, 4, 12, 512


def autograd(tasks: torch.Tensor, target: torch.Tensor, particles: Particles, weights: Weights):
    """The gradients of the same flow by torch, the definition read from left to right."""
    parameters = [torch.tensor(array, requires_grad=True) for array in particles]
    V, W, W1, W2 = parameters
    w_attention, w_mlp = map(torch.from_numpy, weights)
    Z = tasks
    for layer in range(L):
        P = torch.einsum("sdib,skde,sejb->skijb", Z, W[:, layer], Z).softmax(2)
        values = torch.einsum("sk,skde,seib->skdib", w_attention[:, layer], V[:, layer], Z)
        Z = Z + torch.einsum("skdib,skijb->sdjb", values, P) / L
        x = torch.einsum("skd,sdjb->skjb", W1[:, layer], Z)
        slope = x.clamp(0, 1)
        neurons = w_mlp[:, layer, :, None] * W2[:, layer]
        Z = Z + torch.einsum("skd,skjb->sdjb", neurons, slope * (x - slope / 2)) / L
    risk = ((Z[:, -1, -1] - target) ** 2).mean(1).sum() / 2
    return torch.autograd.grad(risk, parameters)


def rows() -> list[Row]:
    """A gradient of SEEDS transformers of width M, one thread."""
    torch.set_num_threads(1)
    tasks = drawing.tasks(0, SEEDS, PROBLEM, "train")
    atoms = drawing.atoms(0, SEEDS, PROBLEM, K, L)
    weights = drawing.weights(0, SEEDS, L, K, M, M)
    weights = weights._replace(mlp=weights.attention)  # copies of whole particles
    copies = np.rint(M * weights.mlp).astype(int)

    def copied(array: np.ndarray) -> np.ndarray:
        places = [(seed, layer) for seed in range(SEEDS) for layer in range(L)]
        flat = [np.repeat(array[place], copies[place], axis=0) for place in places]
        return np.stack(flat).reshape(SEEDS, L, M, *array.shape[3:])

    explicit, equal = atoms.map(copied), Weights(*[np.full((SEEDS, L, M), 1 / M)] * 2)
    few, many = Flow(tasks, L, K), Flow(tasks, L, M)
    ours, theirs = few.predict(atoms, weights), many.predict(explicit, equal)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    Z, target = map(torch.from_numpy, tasks)
    return [
        compare(
            f"mean field: {K} atoms with shares against {M} explicit copies (at least 10)",
            lambda: few.gradients(atoms, weights),
            lambda: many.gradients(explicit, equal),
        ),
        compare(
            f"mean field: our gradient of {K} atoms against autograd's",
            lambda: few.gradients(atoms, weights),
            lambda: autograd(Z, target, atoms, weights),
        ),
    ]
