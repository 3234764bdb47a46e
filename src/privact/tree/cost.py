"""Dasgupta's cost of a tree, the average dissimilarity at its nodes, and what theory promises about both.

The cost is the sum over all pairs of users of their dissimilarity times the size of the smallest cluster that holds both;
good trees have a high cost. In a tree whose every cluster is a slice of the leaf order, the dissimilarities across a node
follow from sums along that order, one threshold at a time: nothing of the size n x n or n x thresholds is kept.

The clip of the paper's max(1, L1) is exact here for whole-number vectors, where it lifts exactly the pairs of users with
identical vectors from 0 to 1: those pairs are counted at the node where they part. Embeddings and vectors with fractions
are taken without the clip.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError
from privact.tree.arrays import TreeArrays
from privact.tree.embedding import Embedding, as_vectors
from privact.tree.matrix import as_matrix

WORK_LIMIT = 2e10
"""Upper limit on user visits in one cost computation; only fractional vectors of very many users reach it."""


def dasgupta_cost(
    tree: TreeArrays,
    vectors: Embedding | ArrayLike | None = None,
    *,
    dissimilarity: ArrayLike | None = None,
    similarity: ArrayLike | None = None,
    clip: bool = True,
) -> float:
    """Dasgupta's cost of a tree, exact.

    vectors: (n, K) degree vectors, whose dissimilarity is max(1, L1 distance); or an `Embedding`, without the clip.
    dissimilarity: instead, a symmetric matrix. similarity: instead, a matrix whose cost a good tree keeps low.
    clip: whether identical whole-number vectors count 1, as in the paper, or 0.
    """
    return float(tree.size[tree.n_users :].astype(np.float64) @ sum_across(tree, vectors, dissimilarity, similarity, clip))


def relative_utility(
    tree: TreeArrays,
    vectors: Embedding | ArrayLike | None = None,
    *,
    dissimilarity: ArrayLike | None = None,
    clip: bool = True,
) -> float:
    """Dasgupta's cost as a multiple of rho, what any tree costs when all users differ by 1 (the paper's Table 2)."""
    return dasgupta_cost(tree, vectors, dissimilarity=dissimilarity, clip=clip) / rho(tree.n_users)


def rho(n_users: int) -> float:
    """(n^3 - n) / 3: the cost of any tree when all dissimilarities are 1."""
    return (n_users**3 - n_users) / 3


def theta(tree: TreeArrays, vectors: Embedding | ArrayLike) -> NDArray[np.float64]:
    """(n-1) the average dissimilarity across each internal node, left against right (the paper's Theorem 1)."""
    pairs = tree.size[tree.left].astype(np.float64) * tree.size[tree.right]
    return np.asarray(sum_across(tree, vectors) / pairs)


def find_violations(tree: TreeArrays, vectors: Embedding | ArrayLike) -> NDArray[np.int64]:
    """The internal nodes whose average dissimilarity exceeds that of a node above them.

    A tree without any has the ideal clustering property; by Theorem 1 the trees of highest cost do.
    """
    averages = theta(tree, vectors)
    n = tree.n_users
    least = averages.copy()  # of the node and all above it
    for i in range(n - 3, -1, -1):  # parents have higher numbers
        least[i] = min(least[i], least[tree.parent[n + i] - n])
    above = least[tree.parent[n:-1] - n]
    wrong = averages[:-1] > above * (1.0 + 1e-12)
    return np.asarray(np.flatnonzero(wrong) + n, dtype=np.int64)


@dataclass(frozen=True)
class UtilityBound:
    """What the paper's theorems promise, as costs; divided by rho they compare with a relative utility.

    n_users, epsilon, n_bins: of the round.
    rho: the cost of any tree when all dissimilarities are 1.
    gentree_loss: expected loss of GenTree (Lemma 1): log(number of trees) + n log n.
    privact_loss: expected loss of PrivaCT (Theorem 4): 2K/epsilon (3/2 + 6/sqrt(K)) rho, for noise Lap(1/epsilon) a count.
    per_edge_loss: the same for noise Lap(2/epsilon) a count, which is what epsilon per edge takes: both ends report it.
    """

    n_users: int
    epsilon: float
    n_bins: int
    rho: float
    gentree_loss: float
    privact_loss: float
    per_edge_loss: float


def utility_bound(n: int, epsilon: float, n_bins: int | None = None) -> UtilityBound:
    """The paper's bounds on how far below the best tree GenTree and PrivaCT end in expectation.

    n: number of users. epsilon: of the theorem. n_bins: floor(ln n) unless given.
    """
    if n < 2:
        raise InputError(f"n is {n}, but a tree needs at least 2 users")
    if not 0.0 < epsilon < math.inf:
        raise InputError(f"epsilon {epsilon!r} is not a number above 0: 1 is usual")
    bins = max(1, int(math.log(n))) if n_bins is None else n_bins
    if not 1 <= bins <= n:
        raise InputError(f"n_bins is {bins}, outside 1 to the {n} users")

    def theorem(noise_epsilon: float) -> float:
        return 2.0 * bins / noise_epsilon * (1.5 + 6.0 / math.sqrt(bins)) * rho(n)

    log_trees = math.lgamma(2 * n - 2) - (n - 2) * math.log(2.0) - math.lgamma(n - 1)  # (2n - 3)!! full binary trees
    return UtilityBound(n, epsilon, bins, rho(n), log_trees + n * math.log(n), theorem(epsilon), theorem(epsilon / 2.0))


def sum_across(
    tree: TreeArrays,
    vectors: Embedding | ArrayLike | None = None,
    dissimilarity: ArrayLike | None = None,
    similarity: ArrayLike | None = None,
    clip: bool = True,
) -> NDArray[np.float64]:
    """(n-1) the sum of dissimilarities across each internal node, between its left and its right users."""
    given = [x is not None for x in (vectors, dissimilarity, similarity)]
    if sum(given) != 1:
        raise InputError(f"{sum(given)} inputs given: give exactly one of vectors, dissimilarity, similarity")
    if vectors is None:
        name = "dissimilarity" if dissimilarity is not None else "similarity"
        return _sum_across_matrix(tree, as_matrix(dissimilarity if dissimilarity is not None else similarity, name))  # type: ignore[arg-type]
    if isinstance(vectors, Embedding):
        _require_same_users(tree, len(vectors))
        columns = ((vectors.points[:, t].astype(np.float64), vectors.weights[t]) for t in range(len(vectors.weights)))
        return _sum_across_columns(tree, columns, vectors.constant)
    counts = as_vectors(vectors)
    _require_same_users(tree, len(counts))
    return _sum_across_counts(tree, counts, clip)


def _sum_across_counts(tree: TreeArrays, counts: NDArray[Any], clip: bool) -> NDArray[np.float64]:
    """|R| S_L + |L| S_R - 2 Q, where S adds up counts and Q the pairs of users that are both above a threshold.

    Q visits each user once for every threshold below its count, so the work follows the number of contacts.
    """
    from privact.tree._cost import add_group_pairs, add_pairs, range_maxima

    n = tree.n_users
    ordered = counts[tree.order]
    highest = range_maxima(np.asarray(tree.joins, dtype=np.int64))
    both = np.zeros(n - 1)
    totals = np.zeros(n)
    for column in ordered.T:
        values, ranks = np.unique(column, return_inverse=True)
        if ranks.sum(dtype=np.float64) * counts.shape[1] > WORK_LIMIT:
            raise InputError(
                f"{n:,} users with {len(values):,} distinct counts in a bin are too many: round them or give an Embedding"
            )
        totals += column.astype(np.float64) - float(values[0])
        places = np.arange(n)
        for rank, width in enumerate(np.diff(values.astype(np.float64))):
            places = places[ranks[places] > rank]
            add_pairs(places, width, highest, both)
    first, middle, last = _find_slices(tree)
    running = np.append(0.0, np.cumsum(totals))
    left, right = running[middle] - running[first], running[last] - running[middle]
    result = (last - middle) * left + (middle - first) * right - 2.0 * both
    if clip and (counts.dtype.kind != "f" or bool((counts == np.round(counts)).all())):
        by_vector = np.lexsort((np.arange(n), *ordered.T))
        changes = (np.diff(ordered[by_vector], axis=0) != 0).any(axis=1)
        identical = np.zeros(n - 1)
        add_group_pairs(by_vector, np.concatenate([[0], np.flatnonzero(changes) + 1, [n]]), highest, identical)
        result += identical
    return np.asarray(result)


def _sum_across_columns(
    tree: TreeArrays, columns: Iterator[tuple[NDArray[np.float64], float]], constant: float
) -> NDArray[np.float64]:
    """constant |L| |R| minus the weighted products of the sums left and right, added up over coordinates."""
    from privact.tree._cost import add_products

    n = tree.n_users
    first, middle, last = _find_slices(tree)
    shared = np.zeros(n - 1)
    running = np.zeros(n + 1)
    for column, weight in columns:
        np.cumsum(column[tree.order], out=running[1:])
        add_products(running, first, middle, last, weight, shared)
    return np.asarray(constant * (middle - first) * (last - middle) - shared)


def _sum_across_matrix(tree: TreeArrays, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums over rectangles of the matrix in leaf order, from its running sums."""
    n = tree.n_users
    _require_same_users(tree, len(matrix))
    running = np.zeros((n + 1, n + 1))
    np.cumsum(np.cumsum(matrix[np.ix_(tree.order, tree.order)], axis=0), axis=1, out=running[1:, 1:])
    first, middle, last = _find_slices(tree)
    return np.asarray(running[middle, last] - running[first, last] - running[middle, middle] + running[first, middle])


def _find_slices(tree: TreeArrays) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Where the slice of each internal node begins, where its right users begin, and where it ends."""
    first = tree.start[tree.n_users :].astype(np.int64)
    return first, first + tree.size[tree.left], first + tree.size[tree.n_users :]


def _require_same_users(tree: TreeArrays, n: int) -> None:
    if n != tree.n_users:
        raise InputError(f"{n} users in the vectors but {tree.n_users} in the tree: give one row for each leaf")
