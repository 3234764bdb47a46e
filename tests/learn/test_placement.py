"""Late joiners: placed where they add most to the cost, and asked without relearning."""

from __future__ import annotations

import numpy as np
import pytest

from privact.errors import InputError, UnknownUserError
from privact.learn.placement import Placement, place
from privact.learn.search.learn_tree import learn_tree
from privact.tree.cost import dasgupta_cost
from privact.tree.embedding import Thresholds
from privact.tree.hct import HierarchicalClusterTree

FEW_AND_MANY = np.array([[0], [1], [2], [50], [51], [53]])


@pytest.fixture
def world():
    thresholds = Thresholds.of(FEW_AND_MANY)
    embedding = thresholds.embed(FEW_AND_MANY)
    return learn_tree(embedding), embedding, thresholds


def test_newcomers_join_their_like(world):
    tree, embedding, thresholds = world
    placed = place(tree, embedding, thresholds.embed([[1], [52]]))
    assert set(placed.nearest(0, 3).users.tolist()) == {0, 1, 2}
    assert set(placed.nearest(1, 3).users.tolist()) == {3, 4, 5}
    assert set(placed.community(0, 4).users.tolist()) == {0, 1, 2}


def test_queries_agree_with_the_grafted_tree():
    rng = np.random.default_rng(0)
    vectors = rng.poisson(rng.pareto(1.5, (60, 1)) * 3 + 1, (60, 3))
    thresholds = Thresholds.of(vectors)
    embedding = thresholds.embed(vectors[:50])
    tree = learn_tree(embedding)
    for late in vectors[50:]:
        placed = place(tree, embedding, thresholds.embed([late]))
        grafted = placed.grafted()
        for m in (1, 7, 50, 99):
            near, truth = placed.nearest(0, m), grafted.nearest(50, m)
            assert near.community_sizes.tolist() == truth.community_sizes.tolist()
            whole = truth.community_sizes < truth.community_sizes[-1]  # the last ring may be cut in another order
            assert set(near.leaves[whole].tolist()) == set(truth.leaves[whole].tolist())
        for size in (1, 2, 10, 51):
            sibling = set(placed.community(0, 1).leaves)  # where the newcomer alone would be the community
            expected = set(grafted.community(50, max(size, 2)).leaves) - {50} or sibling
            assert set(placed.community(0, size).leaves) == expected


def test_the_place_is_the_best_on_the_walk_down():
    rng = np.random.default_rng(1)
    vectors = rng.poisson(4, (30, 2))
    thresholds = Thresholds.of(vectors)
    embedding = thresholds.embed(vectors[:29])
    tree = learn_tree(embedding)
    sibling = int(place(tree, embedding, thresholds.embed(vectors[29:])).siblings[0])
    every = [dasgupta_cost(tree.with_leaves([node]), vectors, clip=False) for node in range(tree.n_nodes)]
    walk = _walk(tree, vectors)
    assert sibling in walk
    assert every[sibling] == max(every[node] for node in walk)


def _walk(tree: HierarchicalClusterTree, vectors: np.ndarray) -> set[int]:
    """Every place that a newcomer with the last vector sees on its way down, by plain averages."""
    node, seen = tree.root, {tree.root}
    while node >= tree.n_users:
        children = int(tree.left[node - tree.n_users]), int(tree.right[node - tree.n_users])
        seen |= set(children)
        means = []
        for child in children:
            leaves = tree.order[tree.start[child] : tree.start[child] + tree.size[child]]
            means.append((np.abs(vectors[leaves] - vectors[-1]).sum(axis=1).mean(), int(tree.size[child])))
        node = children[means.index(min(means))]
    return seen


def test_bad_questions_are_refused(world):
    tree, embedding, thresholds = world
    placed = place(tree, embedding, thresholds.embed([[1]]))
    with pytest.raises(UnknownUserError, match="no newcomer 1"):
        placed.nearest(1, 2)
    with pytest.raises(InputError, match="size 8"):
        placed.community(0, 8)
    with pytest.raises(InputError, match="m "):
        placed.nearest(0, 0)
    with pytest.raises(InputError, match="ids exactly when"):
        place(tree, embedding, thresholds.embed([[1]]), users=["ann"])
    assert len(Placement(tree, np.array([0, 1]))) == 2


def test_in_a_tree_under_a_floor_newcomers_join_small_clusters():
    rng = np.random.default_rng(2)
    vectors = rng.poisson(rng.pareto(1.5, (400, 1)) * 3 + 1, (400, 3))
    newcomers = rng.integers(0, 300, (40, 3))  # unlike everybody: on their own they would be split off near the root
    thresholds = Thresholds.of(np.concatenate((vectors, newcomers)))
    embedding = thresholds.embed(vectors)
    tree = learn_tree(embedding, balance=0.04)
    free = place(tree, embedding, thresholds.embed(newcomers))
    held = place(tree.with_parameters({"balance": 0.04}), embedding, thresholds.embed(newcomers))
    assert tree.size[free.siblings].max() > 24
    assert tree.size[held.siblings].max() < 24
    small = tree.size[free.siblings] < 24
    assert held.siblings[small].tolist() == free.siblings[small].tolist()
    assert held.grafted().n_users == 440
