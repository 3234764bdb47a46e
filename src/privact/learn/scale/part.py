"""One part: a tree over so many users as one worker keeps in memory, by sketches down to a thousand users, then polished."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.learn.scale.sketch import IntArray, draw_sample, nearest, split
from privact.learn.search.linkage import average_linkage
from privact.progress import Tell
from privact.tree.embedding import Embedding

WHOLE_GAIN = 5e-5
"""Where a part is everybody, a round of polishing that gains less than this share of the cost is the last."""

SAMPLE = 2_000
"""How many users a sketch is learned on."""

EXACT = 1_000
"""The most users whose tree is average linkage of all their pairs."""


class Part(NamedTuple):
    """The tree of a part.

    left, right: children of its internal nodes, children before parents, the root last; leaves are the part's users.
    costs: what the part adds to Dasgupta's cost, before the polish and after each round of it.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    costs: list[float]


class Grown:
    """A tree under construction; internal nodes are numbered as they are made, children first.

    n_users: how many leaves it will have.
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


def start_of(
    embedding: Embedding, rng: np.random.Generator, progress: Callable[[int], None]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Sketch, cut, and average linkage where users are few enough; children before parents, the root last.

    progress: is told how many users are in the tree.
    """
    tree = Grown(len(embedding))

    def learn(users: NDArray[Any]) -> int:
        """The root of the tree of some users. It calls itself for parts, at most some tens of levels deep."""
        if len(users) == 1:
            return int(users[0])
        mine = embedding.take(users)
        if len(users) <= EXACT:
            root = tree.join(*average_linkage(mine), users)
            progress(tree.made)
            return root
        sample = draw_sample(len(users), SAMPLE, rng)
        points = mine.take(sample)
        left, right = average_linkage(points)
        near = nearest(points, mine)
        near[sample] = np.arange(len(sample))  # also where several of the sample are the same
        found = split(left, right, near, EXACT)
        del mine, points
        ordered = users[found.order]
        roots = [learn(ordered[a:b]) for a, b in zip(found.bounds[:-1], found.bounds[1:], strict=True)]
        return tree.join(found.left, found.right, np.array(roots))

    learn(np.arange(len(embedding)))
    return tree.left, tree.right


def learn_part(
    embedding: Embedding, rng: np.random.Generator, rounds: int | None, tell: Tell, least_gain: float | None = None
) -> Part:
    """The tree of a part and its cost.

    rounds, least_gain: of polishing, as for `polish`. tell: is told what is done, how much, of how much.
    """
    from privact.learn.search._swaps import total_cost, upward
    from privact.learn.search.regrafts import LEAST_GAIN, polish
    from privact.learn.search.state import state_of

    n = len(embedding)
    if n == 1:
        return Part(np.empty(0, np.int32), np.empty(0, np.int32), [0.0])
    state = state_of(embedding, *start_of(embedding, rng, lambda made: tell("learning parts", made, n)))
    before = float(total_cost(state))
    least = LEAST_GAIN if least_gain is None else least_gain
    after = polish(state, rounds, lambda done, cost: tell("polishing", done, done if rounds is None else rounds), least)
    nodes = upward(state.left, state.right, 2 * n - 2)
    number = np.arange(2 * n - 1, dtype=np.int32)
    number[nodes] = np.arange(n, 2 * n - 1, dtype=np.int32)
    return Part(number[state.left[nodes]], number[state.right[nodes]], [before, *after])
