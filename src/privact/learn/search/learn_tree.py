"""learn_tree: from an embedding, or any matrix, to a hierarchical cluster tree."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError
from privact.learn.limits import LIMITS, Limits
from privact.learn.scale.population import EmbeddedRows
from privact.learn.scale.task_runner import IN_PROCESS, Engine
from privact.learn.search.balance import BALANCE, check_balance
from privact.learn.search.gentree import SWEEPS, schedule
from privact.learn.search.search import SearchOptions, Temperature
from privact.learn.search.searches import DEFAULT_SEARCH, find_search
from privact.progress import Progress, open_progress
from privact.tree.embedding import Embedding, Thresholds, as_vectors, thresholds_for
from privact.tree.hct import HierarchicalClusterTree
from privact.tree.matrix import as_matrix

__all__ = ["LearnedTree", "choose_balance", "generator", "learn_tree"]


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
    search: str = ...,
    sweeps: int | None = ...,
    temperature: Temperature | None = ...,
    balance: float | None = ...,
    random_state: int | np.random.Generator | np.random.RandomState | None = ...,
    progress: Progress | bool | None = ...,
    users: Sequence[Hashable] | None = ...,
    engine: Engine | None = ...,
    limits: Limits = ...,
    return_trace: Literal[False] = ...,
) -> HierarchicalClusterTree: ...


@overload
def learn_tree(
    embedding: Embedding | EmbeddedRows | ArrayLike | None = ...,
    *,
    dissimilarity: ArrayLike | None = ...,
    similarity: ArrayLike | None = ...,
    search: str = ...,
    sweeps: int | None = ...,
    temperature: Temperature | None = ...,
    balance: float | None = ...,
    random_state: int | np.random.Generator | np.random.RandomState | None = ...,
    progress: Progress | bool | None = ...,
    users: Sequence[Hashable] | None = ...,
    engine: Engine | None = ...,
    limits: Limits = ...,
    return_trace: Literal[True],
) -> LearnedTree: ...


def learn_tree(
    embedding: Embedding | EmbeddedRows | ArrayLike | None = None,
    *,
    dissimilarity: ArrayLike | None = None,
    similarity: ArrayLike | None = None,
    search: str = DEFAULT_SEARCH,
    sweeps: int | None = None,
    temperature: Temperature | None = None,
    balance: float | None = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
    progress: Progress | bool | None = None,
    users: Sequence[Hashable] | None = None,
    engine: Engine | None = None,
    limits: Limits = LIMITS,
    return_trace: bool = False,
) -> HierarchicalClusterTree | LearnedTree:
    """The tree that maximises Dasgupta's cost of the given dissimilarities, as well as the search can.

    embedding: users as points (`Embedding`), or their (n, K) degree vectors, whose dissimilarity is the L1 distance; or rows
        whose points are made as they are needed (`EmbeddedRows`), for more users than memory holds points of.
    dissimilarity: instead, any non-negative symmetric matrix of up to 5,000 users.
    similarity: instead, a matrix of similarities, whose cost is minimised.
    search: "gentree", the paper's chain from a random tree; "linkage", average linkage; "linkage+gentree", the default: clusters
        split under the balance floor and improved by swaps, or without a floor average linkage improved by swaps and regrafts,
        which is never worse than average linkage up to 5,000 users.
    sweeps: of the chain (n proposed swaps each, by default 400); under the balance floor, the most swaps per user (by
        default 32); otherwise rounds of polishing (by default until the gain is small).
    temperature: of the chain: a number (by default 1, the paper's), (hot, cold), or one number per sweep. Given for
        "linkage+gentree", such a chain runs before the polish, and the better of both ends is kept.
    balance: the smaller side of the first split holds at least this share of all users, and that of a smaller cluster a larger
        share of it, up to a quarter (`floor_of` has the rule). 0 sets no floor: the tree of the highest cost, which peels off
        users one by one. None is 0.03 for "linkage+gentree" without a temperature, and 0 for the other searches, which know no
        floor.
    random_state: seed or generator; the same seed gives the same tree.
    progress: True for a bar in a terminal or notebook, or a function called with the stage, how much is done, and the total.
    users: ids of the users; by default the index of a pandas frame that has ids of its own, otherwise numbers.
    engine: where parts of more than 20,000 users are learned, from `open_engine`; by default this process. The tree does not
        depend on it.
    limits: where the search changes its method as the number of users grows.
    return_trace: return the tree and the cost along the way, as a `LearnedTree`.

    >>> from privact import learn_tree
    >>> learn_tree([[0, 9], [1, 9], [7, 0], [9, 1]]).cut(2).tolist()
    [0, 0, 1, 1]
    """
    population, sign = _population(embedding, dissimilarity, similarity, limits)
    chosen = find_search(search)
    if sweeps is not None and (not isinstance(sweeps, (int, np.integer)) or isinstance(sweeps, bool) or sweeps < 0):
        raise InputError(f"sweeps {sweeps!r} is not a whole number >= 0")
    schedule(temperature, SWEEPS if sweeps is None else sweeps)  # refused before the work, whatever the search
    floor = choose_balance(balance, search, temperature)
    ids = users if users is not None else _index_of(next(x for x in (embedding, dissimilarity, similarity) if x is not None))
    rng = generator(random_state)
    with open_progress(progress) as tell:
        found = chosen(population, SearchOptions(rng, sweeps, temperature, floor, tell, engine or IN_PROCESS, limits))
    tree = HierarchicalClusterTree.from_children(found.left, found.right, ids)
    return LearnedTree(tree, sign * np.array(found.costs)) if return_trace else tree


def choose_balance(balance: float | None, search: str, temperature: Temperature | None) -> float:
    """The balance that a search keeps, or InputError where it cannot keep the one given. None: the search's own."""
    free = search != DEFAULT_SEARCH or temperature is not None
    if balance is None:
        return 0.0 if free else BALANCE
    floor = check_balance(balance)
    if free and floor > 0.0:
        what = f"search {search!r}" if search != DEFAULT_SEARCH else "a search with a temperature"
        raise InputError(f"{what} keeps no balance floor, but balance is {balance}: use balance 0 or search {DEFAULT_SEARCH!r}")
    return floor


def generator(random_state: int | np.random.Generator | np.random.RandomState | None) -> np.random.Generator:
    """A seed or a generator as a generator, or InputError; NumPy's old RandomState draws the seed."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    if isinstance(random_state, (bool, float)):
        raise InputError(f"random_state {random_state!r} is neither a whole number >= 0 nor a generator")
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(f"random_state {random_state!r} is neither a whole number >= 0 nor a generator") from None


def _index_of(given: object) -> list[Hashable] | None:
    """The ids of the rows of a pandas frame; None for other things, and for a frame whose rows were only numbered."""
    index: Any = getattr(given, "index", None)
    if not hasattr(index, "tolist") or hasattr(index, "step"):
        return None
    if not index.is_unique or index.hasnans:
        raise InputError(
            "the index of the frame repeats an id or misses one, so it cannot name users: give users=, or reset_index"
        )
    return list(index)


def _population(
    embedding: Embedding | EmbeddedRows | ArrayLike | None,
    dissimilarity: ArrayLike | None,
    similarity: ArrayLike | None,
    limits: Limits,
) -> tuple[Embedding | EmbeddedRows, float]:
    """The one input that was given as users with points, and the sign that turns its cost into the caller's."""
    given = [x is not None for x in (embedding, dissimilarity, similarity)]
    if sum(given) != 1:
        raise InputError(f"{sum(given)} inputs given: give exactly one of embedding, dissimilarity, similarity")
    if dissimilarity is not None:
        return Embedding.from_matrix(as_matrix(dissimilarity, "dissimilarity", limits.matrix)), 1.0
    if similarity is not None:
        return Embedding.from_matrix(-as_matrix(similarity, "similarity", limits.matrix)), -1.0
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
