from __future__ import annotations

import fastcluster
import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from privact.errors import InputError
from privact.learn.limits import LIMITS
from privact.learn.search._swaps import climb, fill
from privact.learn.search.linkage import average_linkage, linkage_children, other_average_linkage
from privact.learn.search.search_state import state_of
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree


def tree(children):
    return HierarchicalClusterTree.from_children(*children)


@pytest.mark.parametrize("n", [2, 3, 10, 120])
def test_where_no_two_dissimilarities_are_equal_it_is_scipys_tree(n):
    vectors = np.random.default_rng(n).random((n, 3))
    expected = HierarchicalClusterTree.from_linkage(linkage(pdist(vectors, "cityblock"), "average"))
    assert tree(average_linkage(Embedding.from_counts(vectors))) == expected


def test_a_matrix_too():
    distances = np.random.default_rng(0).random(45)
    expected = HierarchicalClusterTree.from_linkage(linkage(distances, "average"))
    assert tree(average_linkage(Embedding.from_matrix(squareform(distances)))) == expected
    assert tree(linkage_children(distances.copy())) == expected


def test_a_tree_one_can_see():
    vectors = [[0, 9], [1, 9], [7, 0], [9, 1]]  # distances: 1 between the first two, 3 between the last two, 15 or more across
    assert tree(average_linkage(Embedding.from_counts(vectors))) == HierarchicalClusterTree.from_nested(((0, 1), (2, 3)))


@pytest.mark.parametrize("seed", range(5))
def test_average_linkage_is_a_local_optimum_of_swaps(seed):
    embedding = Embedding.from_counts(np.random.default_rng(seed).poisson(5.0, (80, 3)))
    state = state_of(embedding, *average_linkage(embedding))
    before = fill(state)
    assert climb(state, np.arange(159), 2**62) == (0, True)
    assert fill(state) == before


def test_too_many_users_are_refused_before_any_pair_is_made():
    crowd = Embedding(np.zeros((LIMITS.linkage + 1, 1), np.float32), np.ones(1), 1.0)
    with pytest.raises(InputError, match=r"at most 20,000 users, not 20,001: use search='linkage\+gentree'") as caught:
        average_linkage(crowd)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("groups", [[1, 1, 1], [5], [2, 3], [64, 1, 17, 30], [1, 9, 1, 1]])
def test_users_who_do_not_differ_are_joined_two_by_two(groups):
    kind = np.random.default_rng(1).permutation(np.repeat(np.arange(len(groups)), groups))
    found = tree(average_linkage(Embedding.from_counts(10 * kind[:, None] ** 2)))
    clusters = {frozenset(found.order[s : s + m].tolist()) for s, m in zip(found.start, found.size, strict=True)}
    for number, size in enumerate(groups):
        members = frozenset(np.flatnonzero(kind == number).tolist())
        assert members in clusters
        inside = [cluster for cluster in clusters if cluster <= members]
        deepest = max(sum(leaf in cluster for cluster in inside) for leaf in members) - 1
        assert deepest == int(np.ceil(np.log2(size)))


def test_balancing_costs_nothing():
    vectors = np.random.default_rng(2).integers(0, 3, (200, 2))
    embedding = Embedding.from_counts(vectors)
    exact = HierarchicalClusterTree.from_linkage(fastcluster.linkage(pdist(vectors.astype(float), "cityblock"), "average"))
    assert fill(state_of(embedding, *average_linkage(embedding))) == fill(state_of(embedding, exact.left, exact.right))


def test_the_other_one_is_scipys():
    vectors = np.random.default_rng(3).integers(0, 3, (60, 3))
    expected = HierarchicalClusterTree.from_linkage(linkage(pdist(vectors.astype(float), "cityblock"), "average"))
    found = tree(other_average_linkage(Embedding.from_counts(vectors)))
    embedding = Embedding.from_counts(vectors)
    assert fill(state_of(embedding, found.left, found.right)) == fill(state_of(embedding, expected.left, expected.right))
