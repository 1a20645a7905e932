"""Attention matrices that follow the partition without patch association (no torch).

A partition is the set index of each patch, shape (D,), of L sets of size C; matrices are (D, D)
float32. F sums over the rows of the softmax, so it does not matter which row gathers a set: rows
may as well gather another set than their own.
"""

import numpy as np

from attention_theory import listing
from attention_theory.errors import require
from attention_theory.spatial.association import associate
from attention_theory.spatial.settings import Architecture, Distribution


def gather(wanted: np.ndarray, partition: np.ndarray, gamma: float, diagonal: float) -> np.ndarray:
    """A with A_ij = gamma where patch j's set is the one that row i wants (D,), 0 elsewhere."""
    A = np.float32(gamma) * (wanted[:, None] == partition[None, :]).astype(np.float32)
    np.fill_diagonal(A, diagonal)
    return A


def paired(partition: np.ndarray) -> np.ndarray:
    """For each patch the partner of its set: 0 with 1, 2 with 3, ... BadInput for an odd L."""
    L = int(partition.max()) + 1
    require(L % 2 == 0, "D / C", L, "be even: sets attend to each other in pairs")
    return partition ^ 1


def shifted(partition: np.ndarray) -> np.ndarray:
    """For each patch the set after its own, in a cycle."""
    return (partition + 1) % (int(partition.max()) + 1)


def misplaced(partition: np.ndarray) -> np.ndarray:
    """A partition wrong by one patch a set: each set's first patch is counted to the next set.

    BadInput if sets have fewer than two patches: it would be the same partition, renamed.
    """
    C = int(np.bincount(partition)[0])
    require(C >= 2, "C", C, "be at least 2: one patch of a set is counted to another")
    _, first = np.unique(partition, return_index=True)
    wrong = partition.copy()
    wrong[first] = shifted(partition)[first]
    return wrong


def partner_association(A: np.ndarray, partner: np.ndarray, partition: np.ndarray) -> float:
    """The share of rows whose C largest entries are their partner set, `partner` (D,) a patch.

    Partners must be a permutation of the sets; ties are judged as for patch association.
    """
    C = int(np.bincount(partition)[0])
    members = np.argsort(partition, kind="stable").reshape(-1, C)  # the patches of each set
    image = np.empty_like(partition)
    image[members] = members[partner[members[:, 0]]]
    # Patch j gives its column to one of its partner set: patch association then looks there.
    return associate(A[:, image], partition).patch_association


def constructed(
    partition: np.ndarray, beta: float, gamma: float
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The two kinds of model that are written down: A and each patch's partner set.

    `pairs`: sets attend to each other in pairs, diagonal beta. `wrong`: rows gather the sets of a
    partition that is wrong by one patch a set; the diagonal is gamma too, so that A is positive
    semi-definite: the Gram matrix of one encoding a set.
    """
    pairs, wrong = paired(partition), misplaced(partition)
    return {
        "pairs": (gather(pairs, partition, gamma, beta), pairs),
        "wrong": (gather(wrong, wrong, gamma, gamma), shifted(partition)),
    }


def at_sizes(sizes: str, C: int, q_D: float) -> list[Distribution]:
    """The distribution at each D of a list, with q D in common.

    Raises BadInput for a list or a D that is none, and for an odd number of sets.
    """
    distributions = []
    for D in listing.numbers("sizes", sizes, int):
        require(D >= 1, "sizes", sizes, "hold numbers of at least 1")
        require(0 < q_D < D, "q_D", q_D, f"lie in (0, D), D = {D}")
        distribution = Distribution(D=D, C=C, d=2, q=q_D / D)
        require(distribution.L % 2 == 0, "D", D, f"be a multiple of 2 C = {2 * C}: sets pair up")
        distributions.append(distribution)
    return distributions


def at_betas(p: int, nu: float, betas: str, starts: str) -> tuple[list[Architecture], list[float]]:
    """The architecture at each diagonal of a list, and the list of initial attentions g_0.

    Raises BadInput for a list that is none and for a negative g_0.
    """
    architectures = [Architecture(p, nu, beta) for beta in listing.numbers("betas", betas)]
    g_0s = listing.numbers("starts", starts)
    require(min(g_0s) >= 0, "starts", starts, "hold no negative number")
    return architectures, g_0s
