"""One part: a tree over as many users as one worker keeps in memory, by sketches down to a thousand users, then polished."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.learn.limits import Limits
from privact.learn.scale.sketch import IntArray, assign_to_sample, cut_sketch, draw_sample
from privact.learn.search._swaps import SearchState, total_cost, upward
from privact.learn.search.linkage import average_linkage
from privact.learn.search.regrafts import LEAST_GAIN, polish
from privact.learn.search.search_state import state_of
from privact.progress import Progress
from privact.tree.embedding import Embedding

WHOLE_GAIN = 5e-5
"""Stop polishing an unpartitioned tree when a round gains less than this fraction of the cost."""


class Part(NamedTuple):
    """The tree of a part.

    left, right: children of its internal nodes, children before parents, the root last; leaves are the part's users.
    costs: what the part adds to Dasgupta's cost, before the polish and after each round of it.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    costs: list[float]


class GrowingTree:
    """A tree under construction; internal nodes are numbered as they are made, children first.

    n_users: the number of leaves it will have.
    """

    def __init__(self, n_users: int) -> None:
        self.n_users = n_users
        self.left = np.empty(n_users - 1, np.int32)
        self.right = np.empty(n_users - 1, np.int32)
        self.made = 0

    def join(self, left: IntArray, right: IntArray, names: IntArray) -> int:
        """Add merges whose leaves are called `names` to the tree; returns the root of what they join."""
        first = self.n_users + self.made
        nodes = np.concatenate([names, np.arange(first, first + len(left))])
        self.left[self.made : self.made + len(left)] = nodes[left]
        self.right[self.made : self.made + len(left)] = nodes[right]
        self.made += len(left)
        return int(nodes[-1])


def start_tree(
    embedding: Embedding, rng: np.random.Generator, progress: Callable[[int], None], limits: Limits
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Sketch, cut, and average linkage where users are few enough; children before parents, the root last.

    progress: called with the number of users in the tree.
    """
    tree = GrowingTree(len(embedding))

    def learn(users: NDArray[Any]) -> int:
        """The root of the tree of some users. It calls itself for parts, at most some tens of levels deep."""
        if len(users) == 1:
            return int(users[0])
        mine = embedding.take(users)
        if len(users) <= limits.part_linkage:
            root = tree.join(*average_linkage(mine, limits), users)
            progress(tree.made)
            return root
        sample = draw_sample(len(users), limits.sketch_sample, rng)
        points = mine.take(sample)
        left, right = average_linkage(points, limits)
        near = assign_to_sample(points, mine)
        near[sample] = np.arange(len(sample))  # also where several of the sample are the same
        found = cut_sketch(left, right, near, limits.part_linkage)
        del mine, points
        ordered = users[found.order]
        roots = [learn(ordered[a:b]) for a, b in zip(found.bounds[:-1], found.bounds[1:], strict=True)]
        return tree.join(found.left, found.right, np.array(roots))

    learn(np.arange(len(embedding)))
    return tree.left, tree.right


def learn_part(
    embedding: Embedding,
    rng: np.random.Generator,
    rounds: int | None,
    progress: Progress,
    limits: Limits,
    least_gain: float = LEAST_GAIN,
) -> Part:
    """Learn the tree of a part.

    rounds, least_gain: of polishing, as for `polish`.
    """
    n = len(embedding)
    if n == 1:
        return Part(np.empty(0, np.int32), np.empty(0, np.int32), [0.0])
    state = state_of(embedding, *start_tree(embedding, rng, lambda made: progress("learning parts", made, n), limits))
    before = float(total_cost(state))

    def polished(done: int, cost: float) -> None:
        progress("polishing", done, done if rounds is None else rounds)

    after = polish(state, rounds, polished, least_gain, limits)
    return Part(*children_first(state), [before, *after])


def children_first(state: SearchState) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The children of each internal node of a search's tree, renumbered so that children come before parents, the root last."""
    n = (len(state.left) + 1) // 2
    nodes = upward(state.left, state.right, 2 * n - 2)
    number = np.arange(2 * n - 1, dtype=np.int32)
    number[nodes] = np.arange(n, 2 * n - 1, dtype=np.int32)
    return number[state.left[nodes]], number[state.right[nodes]]
