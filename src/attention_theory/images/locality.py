"""How local a similarity matrix is: measured against the true grid, with tests by permutation.

M (n, n) holds similarities of tokens, row = query, column = key; a token's similarity to itself is
left out. `distances` (n, n) says where the tokens truly stand: on a grid, or, where the pixels
were permuted one by one, the mean distance of two tokens' pixels (Sec. 6, Figs. 3 and 4 of Jelassi,
Sander & Li, NeurIPS 2022, show maps; the measures are ours).

- precision_at_4: of a token's 4 most similar tokens, the share (of 4) that are its true
  neighbours, above, below, left and right; averaged over tokens. Ties count at the share expected
  if they were broken at random. There are no neighbours, and no precision, off a grid.
- chance: its expectation when similarity is unrelated to the grid: neighbours / (tokens - 1).
- ceiling: its highest value, below 1 because tokens at the border have fewer than 4 neighbours.
  On a 4 x 4 grid chance is .2 and the ceiling .75.
- spearman: rank correlation of similarity with distance over all ordered pairs of tokens; -1 when
  nearer always means more similar.
- their p-values (Mantel): the share of random relabellings of the tokens that are as local.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats

from attention_theory import ranking
from attention_theory.errors import BadInput
from attention_theory.images.permutation import Permutation, pixel_order, to_patches
from attention_theory.images.settings import NEIGHBOURS

SHUFFLES = 999  # relabellings of a test: the smallest p-value is 1 / 1000
CHUNK = 4_000_000  # numbers that a test holds at once


class Precision(NamedTuple):
    """Precision at k against the true neighbours, its expectation by chance, its highest value."""

    precision: float
    chance: float
    ceiling: float


class Locality(NamedTuple):
    """How local a matrix is; NaN where there is no grid, or nothing to rank."""

    precision_at_4: float
    chance: float
    ceiling: float
    spearman: float
    precision_p: float
    spearman_p: float


def cosine_similarity(vectors: np.ndarray) -> np.ndarray:
    """The cosines (n, n) of rows (n, width), in float64; a row of zeros has cosine 0 with all."""
    vectors = np.asarray(vectors, dtype=float)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = vectors / np.where(lengths > 0, lengths, 1)
    return np.clip(units @ units.T, -1, 1)


def grid_distances(side: int) -> np.ndarray:
    """Euclidean distances (side ** 2, side ** 2) between the points of a square grid."""
    rows, columns = np.divmod(np.arange(side**2), side)
    return np.hypot(rows[:, None] - rows, columns[:, None] - columns)


def token_distances(permutation: Permutation) -> np.ndarray:
    """Distances (tokens, tokens) on the true grid, in patches.

    Of un-permuted tokens, where patches moved as a whole; where pixels were permuted, of a token's
    pixels to another's, on average (for a token and itself too).
    """
    side = permutation.size // permutation.patch
    if permutation.granularity != "pixel":
        return grid_distances(side)
    pixels = np.arange(permutation.size**2)[pixel_order(permutation)]
    image = pixels.reshape(1, 1, permutation.size, permutation.size)
    tokens = to_patches(image, permutation.patch)[0].reshape(side**2, -1)
    rows, columns = (part / permutation.patch for part in np.divmod(tokens, permutation.size))
    return np.stack(
        [
            np.hypot(
                rows[token][:, None, None] - rows, columns[token][:, None, None] - columns
            ).mean((0, 2))
            for token in range(side**2)
        ]
    )


def precision_at_k(M: np.ndarray, distances: np.ndarray, k: int = NEIGHBOURS) -> Precision:
    """Precision at k of M (n, n) against the neighbours, the tokens at distance 1.

    Raises ValueError unless M and distances are (n, n) with n > k.
    """
    return Precision(*(float(part.mean()) for part in precision_by_query(M, distances, k)))


def precision_by_query(
    M: np.ndarray, distances: np.ndarray, k: int = NEIGHBOURS
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Precision at k, chance and ceiling of each row of M (n, n), each (n,).

    Raises ValueError unless M and distances are (n, n) with n > k.
    """
    near = _near(M, distances, k)
    neighbours = near.sum(1)
    hits = (_chosen(M, k) * near).sum(1)
    return hits / k, neighbours / (len(M) - 1), np.minimum(neighbours, k) / k


def spearman(M: np.ndarray, distances: np.ndarray) -> float:
    """Rank correlation of M (n, n) with distances (n, n) off the diagonal; NaN if M is constant."""
    off = ~np.eye(len(M), dtype=bool)
    values = np.asarray(M, dtype=float)[off]
    if np.ptp(values) <= ranking.slack(values):
        return float("nan")
    return float(stats.spearmanr(values, distances[off]).statistic)


def shuffles(n: int, rng: np.random.Generator, draws: int = SHUFFLES) -> np.ndarray:
    """Relabellings (draws, n) of n tokens for the tests."""
    return rng.permuted(np.tile(np.arange(n), (draws, 1)), axis=1)


def locality(M: np.ndarray, distances: np.ndarray, orders: np.ndarray) -> Locality:
    """All measures of M (n, n), tested with the relabellings `orders` (draws, n)."""
    off_grid = not (distances == 1).any()
    nothing = Precision(*[float("nan")] * 3)
    found = nothing if off_grid else precision_at_k(M, distances)
    correlation = spearman(M, distances)
    precision_p = spearman_p = float("nan")
    if not off_grid:
        near = _near(M, distances, NEIGHBOURS).astype(float)
        precision_p = p_value(_chosen(M, NEIGHBOURS), near, orders)
    if not np.isnan(correlation):
        spearman_p = p_value(-_ranks(M), _ranks(distances), orders)
    return Locality(*found, correlation, precision_p, spearman_p)


def p_value(weights: np.ndarray, place: np.ndarray, orders: np.ndarray) -> float:
    """The p-value of sum_ij weights_ij place_ij, all (n, n): how often tokens that are relabelled
    at random give as large a sum, the observed one counted."""
    observed = (weights * place).sum()
    slack = 1e-9 * max(np.abs(weights * place).sum(), 1e-300)
    step = max(1, CHUNK // place.size)
    as_large = 0
    for start in range(0, len(orders), step):
        some = orders[start : start + step]
        moved = place[some[:, :, None], some[:, None, :]].reshape(len(some), -1)
        as_large += int((moved @ weights.ravel() >= observed - slack).sum())
    return (1 + as_large) / (1 + len(orders))


def check_tokens_to_rank(tokens: int, place: str | Path) -> None:
    """Raise BadInput unless a token has more others than neighbours."""
    if tokens <= NEIGHBOURS:
        raise BadInput(f"{place}: {tokens} tokens; there must be more than {NEIGHBOURS}")


def _near(M: np.ndarray, distances: np.ndarray, k: int) -> np.ndarray:
    n = len(M)
    if M.shape != (n, n) or distances.shape != (n, n) or n <= k:
        raise ValueError(f"M and distances must be (n, n) with n > {k}")
    return distances == 1


def _chosen(M: np.ndarray, k: int) -> np.ndarray:
    """How surely each key is among a query's k most similar, (n, n): 0, 1, or a tie's share."""
    M = np.where(np.eye(len(M), dtype=bool), -np.inf, np.asarray(M, dtype=float))
    return ranking.shares(M, k)


def _ranks(M: np.ndarray) -> np.ndarray:
    """Centred ranks of the entries off the diagonal, which is 0."""
    off = ~np.eye(len(M), dtype=bool)
    ranks = np.zeros(M.shape)
    ranks[off] = stats.rankdata(np.asarray(M, dtype=float)[off])
    ranks[off] -= ranks[off].mean()
    return ranks
