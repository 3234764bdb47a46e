"""learn_tree: from an embedding, or any matrix, to a hierarchical cluster tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError
from privact.learn.scale.population import EmbeddedRows
from privact.tree.embedding import Embedding, Thresholds, as_vectors, thresholds_for
from privact.tree.hct import HierarchicalClusterTree
from privact.tree.matrix import as_matrix

if TYPE_CHECKING:
    from privact.learn.scale.engines import Engine
    from privact.learn.search._swaps import SearchState

Search = Literal["gentree", "linkage", "linkage+gentree"]
Progress = Callable[[str, int, int], None]

SEARCHES: tuple[Search, ...] = ("gentree", "linkage", "linkage+gentree")


class LearnedTree(NamedTuple):
    """What a search found.

    tree: where it ended.
    cost_trace: Dasgupta's cost of the start and after each sweep, under the dissimilarity that was searched (without
        the clip of max(1, .), see embedding.py).
    """

    tree: HierarchicalClusterTree
    cost_trace: NDArray[np.float64]


@overload
def learn_tree(
    embedding: Embedding | EmbeddedRows | ArrayLike | None = ...,
    *,
    dissimilarity: ArrayLike | None = ...,
    similarity: ArrayLike | None = ...,
    search: Search = ...,
    sweeps: int | None = ...,
    temperature: float | Sequence[float] | None = ...,
    random_state: int | np.random.Generator | None = ...,
    progress: Progress | None = ...,
    users: Sequence[str] | None = ...,
    engine: Engine | None = ...,
    return_trace: Literal[False] = ...,
) -> HierarchicalClusterTree: ...


@overload
def learn_tree(
    embedding: Embedding | EmbeddedRows | ArrayLike | None = ...,
    *,
    dissimilarity: ArrayLike | None = ...,
    similarity: ArrayLike | None = ...,
    search: Search = ...,
    sweeps: int | None = ...,
    temperature: float | Sequence[float] | None = ...,
    random_state: int | np.random.Generator | None = ...,
    progress: Progress | None = ...,
    users: Sequence[str] | None = ...,
    engine: Engine | None = ...,
    return_trace: Literal[True],
) -> LearnedTree: ...


def learn_tree(
    embedding: Embedding | EmbeddedRows | ArrayLike | None = None,
    *,
    dissimilarity: ArrayLike | None = None,
    similarity: ArrayLike | None = None,
    search: Search = "linkage+gentree",
    sweeps: int | None = None,
    temperature: float | Sequence[float] | None = None,
    random_state: int | np.random.Generator | None = None,
    progress: Progress | None = None,
    users: Sequence[str] | None = None,
    engine: Engine | None = None,
    return_trace: bool = False,
) -> HierarchicalClusterTree | LearnedTree:
    """The tree that maximises Dasgupta's cost of the given dissimilarities, as well as the search can.

    embedding: users as points (`Embedding`), or their (n, K) degree vectors, whose dissimilarity is the L1 distance; or rows
        whose points are made as they are needed (`EmbeddedRows`), for more users than memory holds points of.
    dissimilarity: instead, any non-negative symmetric matrix of up to 5,000 users.
    similarity: instead, a matrix of similarities, whose cost is minimised.
    search: "gentree", the paper's chain from a random tree; "linkage", average linkage; "linkage+gentree", average
        linkage improved by swaps and regrafts, never worse than average linkage up to 5,000 users.
    sweeps: of the chain (n proposed swaps each; 400 unless told), or rounds of polishing (until the gain is small).
    temperature: of the chain: a number (1 unless told, the paper's), (hot, cold), or one number a sweep. Given for
        "linkage+gentree", such a chain runs before the polish, and the better of both ends is kept.
    random_state: seed or generator; the same seed gives the same tree.
    progress: called with (what is done, how much, of how much).
    users: ids of the users.
    engine: where parts of more than 20,000 users are learned, from `open_engine`; this process unless given. The tree is the
        same wherever.
    return_trace: return the tree and the cost along the way, as a `LearnedTree`.

    >>> from privact import learn_tree
    >>> learn_tree([[0, 9], [1, 9], [7, 0], [9, 1]]).cut(2).tolist()
    [0, 0, 1, 1]
    """
    from privact.learn.scale.partition import IN_PROCESS, partitioned
    from privact.learn.search._swaps import fill
    from privact.learn.search.gentree import SWEEPS, anneal, schedule
    from privact.learn.search.linkage import EXACT_LIMIT, TIES_LIMIT, average_linkage, other_average_linkage
    from privact.learn.search.regrafts import polish
    from privact.learn.search.state import random_state_of, state_of, tree_of

    population, sign = _population(embedding, dissimilarity, similarity)
    if search not in SEARCHES:
        raise InputError(f"search {search!r} is unknown: use one of {', '.join(SEARCHES)}")
    if sweeps is not None and (not isinstance(sweeps, (int, np.integer)) or isinstance(sweeps, bool) or sweeps < 0):
        raise InputError(f"sweeps {sweeps!r} is not a whole number >= 0")
    temperatures = schedule(temperature, SWEEPS if sweeps is None else sweeps)
    rng = generator(random_state)
    tell = progress or (lambda stage, done, total: None)
    n = len(population)
    if n > EXACT_LIMIT and search == "linkage+gentree" and temperature is None:
        left, right, costs = partitioned(population, rng, tell, engine or IN_PROCESS, sweeps)
        tree = HierarchicalClusterTree.from_children(left, right, users)
        return LearnedTree(tree, sign * np.array(costs)) if return_trace else tree
    points = population if isinstance(population, Embedding) else population.take(np.arange(n))

    def swapped(state: SearchState) -> list[float]:
        return anneal(state, temperatures, rng, lambda sweep, _: tell("swapping", sweep, len(temperatures)))

    def polished(state: SearchState) -> list[float]:
        rounds = sweeps if temperature is None else None
        return polish(state, rounds, lambda done, _: tell("polishing", done, done if rounds is None else rounds))

    if search == "gentree":
        state = random_state_of(points, rng)
        costs = [fill(state), *swapped(state)]
    elif n <= EXACT_LIMIT or search == "linkage":
        tell("average linkage", 0, n)
        start = average_linkage(points)
        state = state_of(points, *start)
        costs = [fill(state)]
    else:
        start = partitioned(points, rng, tell, engine or IN_PROCESS, rounds=0)[:2]
        state = state_of(points, *start)
        costs = [fill(state)]
    if search == "linkage+gentree":
        if temperature is not None:
            costs += swapped(state)
            if costs[-1] < costs[0]:
                state = state_of(points, *start)
        costs += polished(state)
        if n <= TIES_LIMIT or (n <= EXACT_LIMIT and _mostly_ties(points)):
            other = state_of(points, *other_average_linkage(points))
            trace = [fill(other), *polished(other)]
            if trace[-1] > costs[-1]:
                state, costs = other, trace
    tree = tree_of(state, users)
    return LearnedTree(tree, sign * np.array(costs)) if return_trace else tree


def _mostly_ties(points: Embedding) -> bool:
    """Whether so few different vectors stand for everybody that the order of equal dissimilarities decides much."""
    return points.counts is not None and len(np.unique(points.counts, axis=0)) <= len(points) // 4


def generator(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """A seed or a generator as a generator, or InputError."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(f"random_state {random_state!r} is neither a whole number >= 0 nor a generator") from None


def _population(
    embedding: Embedding | EmbeddedRows | ArrayLike | None, dissimilarity: ArrayLike | None, similarity: ArrayLike | None
) -> tuple[Embedding | EmbeddedRows, float]:
    """The one input that was given as users with points, and the sign that turns its cost into the caller's."""
    given = [x is not None for x in (embedding, dissimilarity, similarity)]
    if sum(given) != 1:
        raise InputError(f"{sum(given)} inputs given: give exactly one of embedding, dissimilarity, similarity")
    if dissimilarity is not None:
        return Embedding.from_matrix(as_matrix(dissimilarity, "dissimilarity")), 1.0
    if similarity is not None:
        return Embedding.from_matrix(-as_matrix(similarity, "similarity")), -1.0
    if isinstance(embedding, (Embedding, EmbeddedRows)):
        if len(embedding) < 2:
            raise InputError(f"{len(embedding)} users, but at least 2 are needed: give more points")
        if isinstance(embedding, EmbeddedRows):
            return embedding, 1.0
        if not (np.isfinite(embedding.points).all() and np.isfinite(embedding.weights).all()):
            raise InputError("the embedding holds NaN or infinity: give finite points and weights")
        return embedding, 1.0
    vectors = as_vectors(embedding)  # type: ignore[arg-type]
    return Thresholds.of(vectors, thresholds_for(len(vectors))).embed(vectors), 1.0
