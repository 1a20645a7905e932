"""Both sides of every audited statement in 50 digits, from plain numbers and from definitions.

Written apart from the package: derivatives are differences of the definition in many more digits
than the step costs, spectral norms are square roots of eigenvalues of A^T A.
"""

from mpmath import eigsy, exp, matrix, mp, mpf, sqrt

DIGITS = 50
STEP = mpf(10) ** -40  # of central differences, at 130 digits: an error near 1e-80


def at_precision(function):
    """Run a function with so many digits that 50 are left of a difference of second order."""

    def run(*arguments, **named):
        with mp.workdps(130):
            return function(*arguments, **named)

    return run


def to_matrix(rows):
    """Rows of a counterexample's JSON as an mpmath matrix: a printed number is taken as it is."""
    return matrix([[mpf(str(x)) for x in row] for row in rows])


def spectral(M):
    return sqrt(max(*eigsy(M.T * M, eigvals_only=True), mpf(0)))


def frobenius(*matrices):
    return sqrt(sum(x**2 for M in matrices for x in M))


def column(M, i):
    return M[:, i]


def columns(M):
    return [frobenius(column(M, i)) for i in range(M.cols)]


def softmax(T, W):
    """Column i: the weights of query i."""
    A = T.T * W * T
    S = A.copy()
    for i in range(A.cols):
        top = max(column(A, i))
        total = sum(exp(A[k, i] - top) for k in range(A.rows))
        for k in range(A.rows):
            S[k, i] = exp(A[k, i] - top) / total
    return S


def f(T, V, W):
    return V * T * softmax(T, W)


def hub(x):
    if x <= 0:
        return mpf(0)
    return x**2 / 2 if x <= 1 else x - mpf(1) / 2


def h(T, W1, W2):
    return W2 * (W1 * T).apply(hub)


def identity(n):
    return mp.eye(n)


def derivative(function, M, row, col):
    """d function / d M[row, col] by a central difference."""
    up, down = M.copy(), M.copy()
    up[row, col] += STEP
    down[row, col] -= STEP
    return (function(up) - function(down)) / (2 * STEP)


def blocks(T, V, W):
    """J_ij = d f_i / d z_j, from the definition of f."""
    D, n = T.rows, T.cols
    J = {(i, j): matrix(D, D) for i in range(n) for j in range(n)}
    for j in range(n):
        for a in range(D):
            moved = derivative(lambda X: f(X, V, W), T, a, j)
            for i in range(n):
                J[i, j][:, a] = column(moved, i)
    return J


def whole(J, D, n):
    M = matrix(n * D, n * D)
    for (i, j), block in J.items():
        M[i * D : (i + 1) * D, j * D : (j + 1) * D] = block
    return M


def gradients(T, V, W):
    """d f / d (vec V, vec W): a matrix (n D, 2 D^2), rows column by column of f; by differences."""
    D, n = T.rows, T.cols
    G = matrix(n * D, 2 * D * D)
    for k in range(2 * D * D):
        which, place = divmod(k, D * D)
        row, col = divmod(place, D)
        if which == 0:
            moved = derivative(lambda X: f(T, X, W), V, row, col)
        else:
            moved = derivative(lambda X: f(T, V, X), W, row, col)
        for i in range(n):
            G[i * D : (i + 1) * D, k] = column(moved, i)
    return G


def of_column(G, i, D, part=slice(None)):
    start, stop, _ = part.indices(G.cols)
    return G[i * D : (i + 1) * D, start:stop]


def covariance(p):
    """Q = diag(p) - p p^T of a column p."""
    return mp.diag(list(p)) - p * p.T


def printed_block(T, W, i, j, X):
    """[E_ji T^T X^T + T^T X delta_ij], n x D; printed with X = W^T."""
    E = matrix(T.cols, T.cols)
    E[j, i] = 1
    M = E * T.T * X.T
    return M + T.T * X if i == j else M


def same(A, B, size=None):
    return frobenius(A - B), frobenius(A) + frobenius(B) if size is None else size
