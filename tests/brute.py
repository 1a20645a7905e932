"""The population problem without any reduction: every data point, and the full D x D model."""

import itertools

import numpy as np
import torch
from torch.nn.functional import logsigmoid

from attention_theory.spatial import model


def data_points(sets):
    """Every (pattern, label) of Assumption 1 with its probability: z (n, D), y (n,), p (n,).

    The sets are contiguous. Every set in turn carries the signal, with either label.
    """
    D, C, q = sets.D, sets.C, sets.q
    L = D // C
    others = np.array(list(itertools.product((-1, 0, 1), repeat=D - C)), dtype=float)
    zeros = (others == 0).sum(axis=1)
    p = (1 - q) ** zeros * (q / 2) ** (D - C - zeros) / (2 * L)
    z, y = [], []
    for signal, label in itertools.product(range(L), (-1.0, 1.0)):
        z.append(np.insert(others, [signal * C] * C, label, axis=1))
        y.append(np.full(len(others), label))
    return np.concatenate(z), np.concatenate(y), np.tile(p, 2 * L)


def three_valued(sets, architecture, point):
    """The matrix A (D, D) of Lemma 4.1 on contiguous sets, and where two patches share a set."""
    own = np.kron(np.eye(sets.D // sets.C), np.ones((sets.C, sets.C))).astype(bool)
    A = np.where(own, point.gamma, point.rho)
    np.fill_diagonal(A, architecture.beta)
    return A, own


def risk(points, alpha, A, architecture):
    """The mean logistic loss over all data points, v = alpha w* in one dimension; a tensor."""
    z, y, p = (torch.as_tensor(array) for array in points)
    F = model.outputs(alpha * z, torch.softmax(torch.as_tensor(A), dim=1), architecture)
    return -(p * logsigmoid(y * F)).sum()


def gradient(points, alpha, A, architecture):
    """The risk with its derivatives in alpha and in A (D, D), by autograd."""
    alpha = torch.tensor(alpha, dtype=torch.float64, requires_grad=True)
    A = torch.tensor(A, requires_grad=True)
    loss = risk(points, alpha, A, architecture)
    loss.backward()
    return loss.item(), alpha.grad.item(), A.grad.numpy()


def error(points, alpha, A, architecture):
    """The probability that sign F is not y, a tie counting half."""
    z, y, p = points
    S = torch.softmax(torch.as_tensor(A), dim=1)
    margin = y * model.outputs(torch.as_tensor(alpha * z), S, architecture).numpy()
    tie = np.abs(margin) < 1e-12 * np.abs(margin).max()
    return p @ np.where(tie, 0.5, margin < 0)
