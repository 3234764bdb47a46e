"""Recursive bisection, Dasgupta's greedy: cut all users in two where they differ most, then each side, and so on.

The cut of a cluster is measured by the average dissimilarity across it, W(A, B) / (|A| |B|). Of similarities s = constant - d
this is the sparsest cut, the greedy that Dasgupta analysed: the average similarity across is lowest where the average
dissimilarity is highest. Finding the best cut is hard, so users are moved across one by one, from several starts, until no
single move helps. One move costs one dot product (embedding.py). That is enough for a promise:

    If no single move raises the average dissimilarity across A and B, then moving each user of A in turn and adding up gives
    2 w(A) <= W (|A| - 1) / |B|, where w(A) adds up the dissimilarities inside A, and likewise for B. By induction over the
    tree its cost is at least 2 (n + 1) / 3 times the sum of all dissimilarities: what any tree costs on average if its
    leaves are shuffled.

Cuts are often lopsided - one user against the rest is the best cut wherever one user is far out - so the tree is deep and the
time grows with users x depth. There is no recursion in the code, and no n x n matrix.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.baselines._points import points_of
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree

LEAST_GAIN = 1e-9
"""The gain for which a user is moved, as a part of the average dissimilarity of all users; keeps rounding from moving anybody."""


def bisection(users: Embedding | ArrayLike, random_state: int | np.random.Generator | None = None) -> HierarchicalClusterTree:
    """The tree of recursive bisection.

    users: an `Embedding`, or (n, K) degree vectors, whose dissimilarity is the L1 distance.
    random_state: seed or generator of the random starts; the same seed gives the same tree.
    """
    from privact.baselines._bisection import bisect

    points = points_of(users)
    rng = np.random.default_rng(random_state)
    weights = np.ascontiguousarray(points.weights, dtype=np.float64)
    left, right = bisect(np.ascontiguousarray(points.points), weights, float(points.constant), least_gain(points), rng)
    return HierarchicalClusterTree.from_children(left, right)


def least_gain(embedding: Embedding) -> float:
    """LEAST_GAIN in units of dissimilarity; infinite where all users are the same and nothing can be gained."""
    n = len(embedding)
    total = embedding.points.sum(axis=0, dtype=np.float64)
    own = np.einsum("xt,xt,t->", embedding.points, embedding.points, embedding.weights, dtype=np.float64)
    mean = embedding.constant - (total**2 @ embedding.weights - own) / (n * (n - 1))
    return float(LEAST_GAIN * mean) if mean > LEAST_GAIN * abs(embedding.constant) else np.inf


def plain_children(embedding: Embedding, least: float, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """The readable twin of the compiled `bisect`: the children of each internal node, the root last."""
    n = len(embedding)
    left, right = [0] * (n - 1), [0] * (n - 1)
    clusters, unused = [(n - 2, np.arange(n))], n - 3
    while clusters:
        node, members = clusters.pop()
        inside = plain_cut(embedding.take(members), least, rng)
        for children, side in ((left, members[inside]), (right, members[~inside])):
            if len(side) == 1:
                children[node] = int(side[0])
            else:
                children[node] = n + unused
                clusters.append((unused, side))
                unused -= 1
    return left, right


def plain_cut(embedding: Embedding, least: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which users are on the first side of the best cut found."""
    from privact.baselines._bisection import TURNS

    m = len(embedding)
    if m == 2:
        return np.array([True, False])
    points = embedding.points.astype(np.float64)
    products = (points * embedding.weights) @ points.T
    dissimilarity = embedding.constant - products
    np.fill_diagonal(dissimilarity, 0.0)

    far = int(dissimilarity.sum(axis=1).argmax())
    others = np.where(np.arange(m) == far, -np.inf, dissimilarity[far])
    score = products[:, far] - products[:, int(others.argmax())]
    turned = score
    for _ in range(TURNS):
        turned = products @ (m * turned - turned.sum())
    chance = rng.random(m) < 0.5
    chance[0], chance[-1] = True, False

    starts = [plain_sweep(dissimilarity, score), plain_sweep(dissimilarity, turned), chance]
    sides = [plain_improve(dissimilarity, start, least) for start in starts]
    return max(sides, key=lambda side: density(dissimilarity, side))


def plain_sweep(dissimilarity: NDArray[np.float64], score: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The best of the cuts between users of lower and of higher score."""
    rank = np.argsort(np.argsort(score, kind="stable"))
    return max((rank < size for size in range(1, len(rank))), key=lambda side: density(dissimilarity, side))


def plain_improve(dissimilarity: NDArray[np.float64], start: NDArray[np.bool_], least: float) -> NDArray[np.bool_]:
    """Move single users across a cut, in order, again and again while the average dissimilarity across rises."""
    side, moved = start.copy(), True
    while moved:
        moved = False
        for user in range(len(side)):
            after = side.copy()
            after[user] = not side[user]
            if 0 < after.sum() < len(side) and density(dissimilarity, after) > density(dissimilarity, side) + least:
                side, moved = after, True
    return side


def density(dissimilarity: NDArray[np.float64], side: NDArray[np.bool_]) -> float:
    """The average dissimilarity across a cut."""
    return float(dissimilarity[np.ix_(side, ~side)].mean())
