"""How large |J|_2 of softmax, l2 and l1 attention can be: searches over tokens (B5(c)).

Tokens X (batch, D, n) with columns x_i, n tokens in all, no parameters (identity weights):

- `softmax`: f_i = sum_k P_ik x_k, logits x_k . x_i / sqrt(D), as f with V = I, W = I / sqrt(D);
- `l2`: f_i = sum_k P_ik x_k / sqrt(D), logits -|x_i - x_k|^2 / sqrt(D): R2's attention with tied
  weights W_Q = W_K, whose values carry W_Q W_Q^T / sqrt(D) as well;
- `l1`: f_i = sum_k P_ik x_k, logits -|x_i - x_k|_1: one reading of what R3 is quoted for.
"""

import numpy as np
import torch
from torch import Tensor

from attention_theory.meanfield import attention_calculus as calculus
from attention_theory.meanfield.attention_calculus import frobenius, spectral
from attention_theory.meanfield.search import ascend, ratios
from attention_theory.streams import stream

REACH = 4.0  # powers of ten that the tokens' norm may move, either side of 1


def jacobian(attention: str, X: Tensor) -> Tensor:
    """J (batch, n D, n D) of one kind of attention."""
    D = X.shape[-2]
    if attention == "softmax":
        eye = calculus.identity(X)
        return calculus.whole(calculus.blocks(X, eye, eye / D**0.5))
    apart = X[..., :, None] - X[..., None, :]  # x_i - x_k, (batch, D, i, k)
    if attention == "l2":
        logits, slope = -apart.pow(2).sum(1) / D**0.5, 2 * apart / D**0.5
    else:
        logits, slope = -apart.abs().sum(1), apart.sign()
    S, XQ, _ = calculus.from_weights(X, calculus.softmax(logits.mT))
    # slope is minus d logit_ik / d x_i, and d logit_ik / d x_k.
    slope = slope.permute(0, 2, 3, 1)  # (batch, i, k, D)
    of_key = XQ.mT[..., None] * slope[:, :, :, None]
    same = torch.eye(X.shape[-1], dtype=X.dtype)[:, :, None, None]
    of_query = same * (XQ @ slope)[:, :, None]
    J = of_key - of_query + S.mT[..., None, None] * calculus.identity(X)[:, None, None]
    return calculus.whole(J) / (D**0.5 if attention == "l2" else 1)


def climb(
    attention: str, starts: Tensor, steps: int, norm: float | None = None
) -> tuple[Tensor, Tensor, int]:
    """Gradient ascent on |J|: the best tokens and |J| (batch,) from each start; steps taken.

    With a `norm`, among tokens of |X|_F = norm.
    """

    def rescaled(T: Tensor) -> Tensor:
        return T if norm is None else T * (norm / frobenius(T))[:, None, None]

    def size(T: Tensor) -> tuple[Tensor, Tensor]:
        left = spectral(jacobian(attention, rescaled(T)))
        return left, torch.ones_like(left)

    climbed, steps = ascend(size, {"T": starts}, steps, REACH, enough=np.inf)
    return rescaled(climbed["T"]), ratios(size, climbed), steps


def starts(D: int, n: int, number: int, base_seed: int, seed: int) -> Tensor:
    """Random tokens (number, D, n) whose scales differ, from token to token and as a whole."""
    rng = stream(base_seed, "meanfield.lipschitz", D, n, seed)
    X = rng.standard_normal((number, D, n))
    X *= 10 ** rng.uniform(-1, 0.5, size=(number, 1, n)) * 10 ** rng.uniform(
        -0.5, 0.5, size=(number, 1, 1)
    )
    return torch.from_numpy(X)


def softmax_family(D: int, norm: float) -> tuple[float, int]:
    """The largest |J| among tokens b e_1, c e_1 +- a e_2 with |X|_F = norm; points evaluated.

    Query b e_1 sees the other two with weights near 1/2 each once b c is large, and the variance
    a^2 of the tokens that it sees then comes near |X|_F^2 / 2.
    """
    scale = norm * np.geomspace(1e-3, 1, 40)
    b, c = (grid.ravel() for grid in np.meshgrid(scale, scale / 2**0.5))
    left = norm**2 - b**2 - 2 * c**2
    b, c, a = b[left >= 0], c[left >= 0], np.sqrt(left[left >= 0] / 2)
    X = torch.zeros(len(a), D, 3, dtype=torch.float64)
    X[:, 0] = torch.from_numpy(np.stack([b, c, c], axis=1))
    X[:, 1] = torch.from_numpy(np.stack([np.zeros_like(a), a, -a], axis=1))
    return float(spectral(jacobian("softmax", X)).max()), len(a)


def l2_family(n: int) -> tuple[float, int]:
    """The largest sqrt(D) |J| among one token at 0 and the others at +-a on a line; evaluations.

    In units of D^(1/4) it is the same for every D >= 1, by the scaling of the logits. a is where
    the variance that the token at 0 sees is largest: it is of order log n there.
    """
    a = np.linspace(0.05, 2 * np.sqrt(np.log(n)) + 1, 2000)
    share = (n - 1) * np.exp(-(a**2))
    best = a[np.argmax(a**2 * share / (1 + share))]
    x = best * np.where(np.arange(n) % 2, 1.0, -1.0)
    x[0] = 0
    return float(spectral(jacobian("l2", torch.from_numpy(x)[None, None]))[0]), 1
