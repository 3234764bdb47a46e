from __future__ import annotations

import networkx as nx
from scipy.cluster.hierarchy import is_valid_linkage

from privact.tree.hct import HierarchicalClusterTree

TREE = HierarchicalClusterTree.from_nested(((10, 20), ("ann", 30)))


def test_networkx_has_an_edge_to_every_child():
    graph = TREE.to_networkx()
    assert nx.is_arborescence(graph)
    assert graph.number_of_nodes() == TREE.n_nodes == 7
    assert [graph.nodes[leaf]["user"] for leaf in range(4)] == list(TREE.users)
    assert graph.nodes[TREE.root]["size"] == 4
    assert sorted(graph.successors(TREE.root)) == sorted([int(TREE.left[-1]), int(TREE.right[-1])])
    assert HierarchicalClusterTree.from_nested((0, 1)).to_networkx().nodes[0]["user"] == 0


def test_pandas_has_a_row_a_user():
    frame = TREE.to_pandas(cuts=2)
    assert list(frame.index) == list(TREE.users)
    assert frame["cut_2"].tolist() == TREE.cut(2).tolist()
    assert frame["depth"].tolist() == TREE.depths.tolist()
    assert list(TREE.to_pandas(cuts=[2, 3]).columns) == ["leaf", "place", "depth", "parent", "cut_2", "cut_3"]
    assert TREE.to_pandas("auto")["cut_auto"].tolist() == TREE.cut().tolist() == TREE.cut("auto").tolist()
    assert [TREE.order[place] for place in frame["place"]] == frame["leaf"].tolist()


def test_scipy_takes_the_linkage():
    assert is_valid_linkage(TREE.to_scipy_linkage())
