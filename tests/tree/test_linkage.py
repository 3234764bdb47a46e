from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform

from privact.errors import InputError
from privact.tree._kernels import climb, fill
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree
from privact.tree.linkage import LINKAGE_LIMIT, average_linkage, linkage_children
from privact.tree.state import state_of


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
    crowd = Embedding(np.zeros((LINKAGE_LIMIT + 1, 1), np.float32), np.ones(1), 1.0)
    with pytest.raises(InputError, match=r"at most 20,000 users, not 20,001: use search='linkage\+gentree'") as caught:
        average_linkage(crowd)
    assert "\n" not in str(caught.value)
