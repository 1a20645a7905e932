"""SIDES: by the name of a statement, a function from its matrices to [(left, right), ...].

One pair a place where the statement holds place by place. In mpmath, from definitions (exact.py).
"""

from exact import (
    blocks,
    column,
    columns,
    covariance,
    f,
    frobenius,
    gradients,
    h,
    hub,
    identity,
    of_column,
    printed_block,
    same,
    softmax,
    spectral,
    whole,
)
from mpmath import mpf, sqrt


def R(T):
    return max(columns(T))


def theta(V, W):
    return frobenius(V, W)


def values_and_weights(T, V, W):
    """|grad_V f_i|, |grad_W f_i| and |grad_theta f_i| by i, and |grad_theta f|."""
    G, D = gradients(T, V, W), T.rows
    parts = (slice(0, D * D), slice(D * D, 2 * D * D), slice(None))
    by_column = [[spectral(of_column(G, i, D, p)) for p in parts] for i in range(T.cols)]
    return by_column, spectral(G)


def f_columns(T, V, W):
    return [(frobenius(f(T, V, W) - T * softmax(T, W)), (1 + frobenius(V)) * frobenius(T))]


def j_blocks(T, W):
    V, D, n, S = identity(T.rows), T.rows, T.cols, softmax(T, W)
    printed = {}
    for i in range(n):
        Q = covariance(column(S, i))
        for j in range(n):
            printed[i, j] = T * Q * printed_block(T, W, i, j, W.T) + S[j, i] * V
    return [same(whole(blocks(T, V, W), D, n), whole(printed, D, n))]


def step_2i_f_2(T, V, W):
    S = softmax(T, W)
    sums = max(sum(column(S, i)) for i in range(S.cols))
    return [(spectral(V) * spectral(T) * R(S), theta(V, W) * R(T) * sums)]


def step_2i_f_1(T, V, W):
    S = softmax(T, W)
    return [(R(V * T * S), spectral(V) * spectral(T) * R(S))]


def step_2ii_w_1(T, V, W):
    return [
        (left[1], _printed_sum(T, V, W, i, lambda row: sum(abs(x) for x in row)))
        for i, left in enumerate(values_and_weights(T, V, W)[0])
    ]


def step_2ii_w_2(T, V, W):
    right = R(T) ** 3 * theta(V, W)
    return [(_printed_sum(T, V, W, i, frobenius), right) for i in range(T.cols)]


def _printed_sum(T, V, W, i, norm):
    S, n = softmax(T, W), T.cols
    Q = covariance(column(S, i))
    inner = T.T * T
    return spectral(V) * sum(
        S[j, i] * columns(T)[j] * sum(abs(inner[m, j]) * norm(Q[m, :]) for m in range(n))
        for j in range(n)
    )


def w_corrected(T, V, W):
    S = softmax(T, W)
    found = values_and_weights(T, V, W)[0]
    return [
        (left[1], spectral(V) * spectral(T * covariance(column(S, i)) * T.T) * columns(T)[i])
        for i, left in enumerate(found)
    ]


def parameters(T, V, W):
    return (R(T) + R(T) ** 3) * (1 + theta(V, W))


def jacobian(T, V, W):
    return spectral(whole(blocks(T, V, W), T.rows, T.cols))


def block_norms(T, V, W):
    return {place: spectral(block) for place, block in blocks(T, V, W).items()}


def triangle(T, V, W, X):
    S, factor = softmax(T, W), spectral(V)
    found = []
    for (i, j), left in block_norms(T, V, W).items():
        inner = spectral(printed_block(T, W, i, j, X))
        size = spectral(T) * spectral(covariance(column(S, i))) * inner
        found.append((left, factor * (S[j, i] + size)))
    return found


def large(T, V, W):
    ((left, right),) = two_iii(T, V, W)
    return [(left if frobenius(T) >= 1 else mpf(0), right)]


def two_iii(T, V, W):
    N = T.cols - 1
    return [(jacobian(T, V, W), 2 * N * frobenius(T) ** 2 * (1 + theta(V, W)))]


def two_iii_corrected(T, V, W):
    size = R(T) ** 2 + R(T) * frobenius(T)
    return [(jacobian(T, V, W), spectral(V) * (sqrt(T.cols) + spectral(W) * size))]


def each_block(T, V, W, right):
    return [(left, right) for left in block_norms(T, V, W).values()]


def hence(T, V, W):
    n, square = T.cols, frobenius(T) ** 2
    return [(n * (1 + 2 * square * theta(V, W)), 2 * (n - 1) * square * (1 + theta(V, W)))]


def square(T):
    x = T / max(1, *[abs(entry) for entry in T])
    return [same(x.apply(hub), x.apply(lambda entry: max(entry, mpf(0)) ** 2))]


def of_f(right, place):
    """A statement on the norms of f's gradients in its parameters, column by column."""
    return lambda T, V, W: [
        (left[place], right(T, V, W)) for left in values_and_weights(T, V, W)[0]
    ]


def of_h(right):
    """A statement on the largest column of h."""
    return lambda T, W1, W2: [(R(h(T, W1, W2)), right(T, frobenius(W1, W2)))]


SIDES = {
    "f-columns": f_columns,
    "J-blocks": j_blocks,
    "2i-f-1": step_2i_f_1,
    "2i-f-2": step_2i_f_2,
    "2i-f": lambda T, V, W: [(R(f(T, V, W)), theta(V, W) * R(T))],
    "2i-hub": lambda T: [(abs(hub(x)), abs(x)) for x in T],
    "2i-h": of_h(lambda T, w: 2 * w**2 * R(T)),
    "2i-h-K1": of_h(lambda T, w: w * R(T)),
    "2i-h-K1-affine": of_h(lambda T, w: (1 + w) * R(T)),
    "2i-h-corrected": of_h(lambda T, w: w**2 * R(T) / 2),
    "2ii-V": of_f(lambda T, V, W: R(T), 0),
    "2ii-W-1": step_2ii_w_1,
    "2ii-W-2": step_2ii_w_2,
    "2ii-W": of_f(lambda T, V, W: R(T) ** 3 * theta(V, W), 1),
    "2ii-W-corrected": w_corrected,
    "2ii-column": of_f(parameters, 2),
    "2ii-matrix": lambda T, V, W: [(values_and_weights(T, V, W)[1], parameters(T, V, W))],
    "2ii-matrix-corrected": lambda T, V, W: [
        (values_and_weights(T, V, W)[1], sqrt(T.cols) * (R(T) + R(T) ** 3 * spectral(V)))
    ],
    "2iii-1": lambda T, V, W: [
        (jacobian(T, V, W), sqrt(sum(x**2 for x in block_norms(T, V, W).values())))
    ],
    "2iii-3": lambda T, W: triangle(T, identity(T.rows), W, W.T),
    "2iii-3-corrected": lambda T, V, W: triangle(T, V, W, W),
    "2iii-4": lambda T, W: each_block(
        T, identity(T.rows), W, 1 + 2 * spectral(T) ** 2 * spectral(W)
    ),
    "2iii-V": lambda T, V, W: each_block(T, V, W, 1 + 2 * frobenius(T) ** 2 * theta(V, W)),
    "2iii-V-corrected": lambda T, V, W: each_block(
        T, V, W, spectral(V) * (1 + 2 * spectral(T) ** 2 * spectral(W))
    ),
    "2iii-6": hence,
    "2iii": two_iii,
    "2iii-large": large,
    "2iii-corrected": two_iii_corrected,
    "4ii-square": square,
}
