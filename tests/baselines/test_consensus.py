"""Majority clusters of small sets of trees, and of a chain's samples."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from privact.baselines.cmn import sample_cmn
from privact.baselines.consensus import consensus
from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.query.quality import random_tree
from privact.tree.hct import HierarchicalClusterTree


def nested(*trees):
    return [HierarchicalClusterTree.from_nested(tree) for tree in trees]


def as_sets(found):
    return {frozenset(found.members(cluster).tolist()): support for cluster, support in enumerate(found.support.tolist())}


def clusters_of(tree):
    n = tree.n_users
    return {frozenset(tree.order[s : s + m].tolist()) for s, m in zip(tree.start[n:], tree.size[n:], strict=True)}


def test_three_trees_by_hand():
    found = consensus(nested((((0, 1), 2), (3, 4)), (((0, 2), 1), (3, 4)), ((((0, 1), 2), 3), 4)))
    # {0,1,2} is in all three, {0,1} and {3,4} in two, {0,2} and {0,1,2,3} in one.
    assert as_sets(found) == pytest.approx({
        frozenset(range(5)): 1.0, frozenset({0, 1, 2}): 1.0, frozenset({0, 1}): 2 / 3, frozenset({3, 4}): 2 / 3
    })  # fmt: skip
    assert found.size.tolist() == [5, 3, 2, 2]
    assert found.parent[0] == -1
    by_set = {frozenset(found.members(cluster).tolist()): cluster for cluster in range(len(found))}
    assert found.parent[by_set[frozenset({0, 1})]] == by_set[frozenset({0, 1, 2})]
    assert found.parent[by_set[frozenset({3, 4})]] == found.parent[by_set[frozenset({0, 1, 2})]] == 0
    assert found.innermost[2] == by_set[frozenset({0, 1, 2})]
    assert found.innermost[4] == by_set[frozenset({3, 4})]


def test_exactly_half_is_no_majority():
    assert len(consensus(nested(((0, 1), 2), ((0, 2), 1)))) == 1
    assert len(consensus(nested(((0, 1), 2), ((0, 1), 2), ((0, 2), 1)), share=0.7)) == 1


def test_one_tree_is_its_own_consensus():
    tree = random_tree(40, np.random.default_rng(0))
    assert as_sets(consensus([tree])) == dict.fromkeys(clusters_of(tree), 1.0)


def test_counts_are_those_of_the_trees_and_clusters_nest():
    rng = np.random.default_rng(1)
    graph = ContactGraph.from_edges(
        np.array([pair for pair in combinations(range(20), 2) if rng.random() < 0.3]), users=range(20)
    )
    trees = sample_cmn(graph, 41, burn_in=50, spacing=1, random_state=2, temperature=0.5)
    found = consensus(trees)
    every = [clusters_of(tree) for tree in trees]
    counts = {cluster: sum(cluster in each for each in every) for cluster in set().union(*every)}
    assert as_sets(found) == pytest.approx({cluster: count / 41 for cluster, count in counts.items() if count > 20.5})
    assert len(found) > 2
    for cluster in range(1, len(found)):
        assert found.parent[cluster] < cluster
        assert set(found.members(cluster)) < set(found.members(found.parent[cluster]))


def test_cliques_are_agreed_on_and_what_is_inside_them_is_not():
    """Inside a clique all trees are equally likely, so no cluster there finds a majority."""
    edges = [*combinations(range(10), 2), *combinations(range(10, 20), 2), (0, 10)]
    trees = sample_cmn(ContactGraph.from_edges(np.array(edges)), 60, burn_in=300, spacing=10, random_state=0)
    found = as_sets(consensus(trees))
    assert found[frozenset(range(10))] > 0.9
    assert found[frozenset(range(10, 20))] > 0.9
    assert not [cluster for cluster in found if 2 < len(cluster) < 8]


def test_bad_input_is_refused_in_one_line():
    with pytest.raises(InputError, match="no trees were given"):
        consensus([])
    with pytest.raises(InputError, match=r"share 0\.3"):
        consensus(nested(((0, 1), 2)), share=0.3)
    with pytest.raises(InputError, match="tree 1 is not over the same users"):
        consensus(nested(((0, 1), 2), (0, 1)))
    with pytest.raises(InputError, match="cluster 5 is outside 0 to 1"):
        consensus(nested(((0, 1), 2))).members(5)
