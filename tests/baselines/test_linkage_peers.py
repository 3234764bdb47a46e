from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import squareform

from privact.baselines import linkage_peers
from privact.baselines.linkage_peers import GRAPH_LEARNERS, TREE_LEARNERS, linkage, paris
from privact.errors import InputError, MissingExtraError
from privact.learn.limits import Limits
from privact.learn.search.learn_tree import learn_tree
from privact.simulate.known_graphs import make_cliques
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree

LINE = np.array([[0], [1], [3], [7], [12]])  # gaps 1, 2, 4, 5: no two dissimilarities of clusters are equal


def test_the_registry_holds_what_the_method_is_judged_against():
    assert set(TREE_LEARNERS) == {
        "gentree", "linkage", "linkage+gentree", "linkage+gentree, unrestricted", "average", "complete", "single", "ward",
        "bisection", "random",
    }  # fmt: skip
    assert set(GRAPH_LEARNERS) == {"paris"}


def test_single_linkage_follows_the_gaps():
    assert TREE_LEARNERS["single"](LINE) == HierarchicalClusterTree.from_nested(((((0, 1), 2), 3), 4))


def test_complete_linkage_follows_the_farthest():
    # {0,1}, then 2 joins (3 away at most); then 3 and 4 are 5 apart, but 7 from the others: they join each other
    assert TREE_LEARNERS["complete"](LINE) == HierarchicalClusterTree.from_nested((((0, 1), 2), (3, 4)))


def test_average_linkage_is_the_start_of_our_own_search():
    vectors = np.random.default_rng(0).random((40, 3))
    assert TREE_LEARNERS["average"](vectors) == TREE_LEARNERS["linkage"](vectors) == learn_tree(vectors, search="linkage")


def test_ward_is_that_of_the_threshold_points():
    """Points that are 0/1 below and above each threshold are sqrt(L1) apart: Ward on the points themselves is the judge."""
    counts = np.random.default_rng(3).permuted(np.arange(60).reshape(2, 30).T ** 2 % 97, axis=0)
    thresholds = np.arange(97)
    points = (counts[:, :, None] > thresholds).reshape(30, -1).astype(float)
    merges = scipy_linkage(points, "ward")
    expected = HierarchicalClusterTree.from_children(merges[:, 0].astype(int), merges[:, 1].astype(int))
    assert TREE_LEARNERS["ward"](counts) == expected
    wrong = scipy_linkage(counts.astype(float), "ward")  # Euclid between counts is another thing
    assert expected != HierarchicalClusterTree.from_children(wrong[:, 0].astype(int), wrong[:, 1].astype(int))


def test_any_matrix_is_taken_through_its_embedding():
    matrix = squareform(np.random.default_rng(1).random(45))
    points = Embedding.from_matrix(matrix)
    for method in ("average", "complete", "single"):
        merges = scipy_linkage(squareform(matrix), method)
        expected = HierarchicalClusterTree.from_children(merges[:, 0].astype(int), merges[:, 1].astype(int))
        assert linkage(points, method=method) == expected


def test_too_many_users_for_all_pairs_are_refused():
    with pytest.raises(InputError, match="single linkage keeps all pairs and takes at most 4 users, not 5"):
        linkage(LINE, method="single", limits=Limits(linkage=4))


def test_paris_finds_cliques():
    pytest.importorskip("sknetwork", reason="paris needs scikit-network: pip install scikit-network")
    labels = paris(make_cliques([3, 4, 5]).graph).cut(3)
    assert [len(set(labels[part].tolist())) for part in (slice(0, 3), slice(3, 7), slice(7, 12))] == [1, 1, 1]
    assert len(set(labels.tolist())) == 3


def test_without_scikit_network_the_way_to_get_it_is_said(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(linkage_peers, "import_module", absent)
    with pytest.raises(MissingExtraError, match="Paris needs scikit-network, which is not installed: pip install") as caught:
        paris(make_cliques([2, 3]).graph)
    assert "\n" not in str(caught.value)
