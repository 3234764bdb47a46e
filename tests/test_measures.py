from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest

from privact import HierarchicalClusterTree, InputError, PrivaCT, dasgupta_cost, share_of_contacts
from privact.measures import align_contacts
from privact.network.graph import ContactGraph
from privact.tree.embedding import Embedding

TREE = HierarchicalClusterTree.from_nested(((10, 20), (30, 40)))


@pytest.mark.parametrize("form", [[(20, 10), (20, 30)], np.array([[20, 10], [20, 30]]), nx.Graph([(20, 10), (20, 30)])])
def test_cost_of_a_graph_is_the_size_of_the_cluster_around_each_contact(form: object) -> None:
    assert dasgupta_cost(TREE, form) == 2 + 4
    assert share_of_contacts(TREE, [(20, 10), (30, 40)]) == 1.0
    assert share_of_contacts(TREE, [(20, 30), (10, 40)]) == 0.0


def test_cost_of_vectors_is_the_searched_one() -> None:
    vectors = np.array([[0], [1], [5], [9]])
    assert dasgupta_cost(TREE, vectors=vectors) == 2 * 1 + 2 * 4 + 4 * (5 + 9 + 4 + 8)
    assert dasgupta_cost(TREE, Embedding.from_counts(vectors)) == dasgupta_cost(TREE, vectors=vectors)
    with pytest.raises(InputError, match="exactly one of graph, vectors"):
        dasgupta_cost(TREE, [(10, 20)], vectors=vectors)


@pytest.mark.parametrize("measure", [dasgupta_cost, share_of_contacts])
def test_what_is_no_tree_is_refused_in_one_line(measure: Callable[[Any, Any], float]) -> None:
    with pytest.raises(InputError, match=r"PrivaCT is no tree: give model\.tree_"):
        measure(PrivaCT(), [(10, 20)])
    with pytest.raises(InputError, match="list is no tree: give a tree, then the graph"):
        measure([(10, 20)], TREE)
    with pytest.raises(InputError, match=r"ndarray is no tree: .*from_linkage"):
        measure(TREE.to_linkage(), [(10, 20)])


def test_rows_follow_the_leaves() -> None:
    graph = align_contacts(TREE, ContactGraph.from_edges([(40, 10), (20, 40)]))
    assert graph.users == (10, 20, 30, 40)
    assert graph.neighbours(40) == (10, 20)
    with pytest.raises(InputError, match="user 7 of the graph is not in the tree of 4 users"):
        align_contacts(TREE, ContactGraph.from_edges([(7, 10)]))
    with pytest.raises(InputError, match="the graph has 2 users but the tree 3"):
        share_of_contacts(HierarchicalClusterTree.from_nested(((0, 1), 2)), [(0, 1)])
