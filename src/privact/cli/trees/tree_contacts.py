"""Tree + contact graph -> the graph in the order of the tree's leaves, its bins, and the trees to compare with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from privact.cli.files import read_labels
from privact.errors import InputError
from privact.estimator import PrivaCT
from privact.learn.scale.engines import open_engine, workers_for
from privact.network.graph import ContactGraph
from privact.network.graph_files import read_graph
from privact.progress import Progress
from privact.protocol.bins import assign_bins
from privact.protocol.label_files import number_labels
from privact.query.quality import draw_random_tree
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["bins_of", "contacts_of", "controls"]


def contacts_of(tree: HierarchicalClusterTree, path: Path) -> tuple[ContactGraph, int]:
    """The graph with rows in the order of the tree's leaves, and how many of its users are not in the tree.

    Those are left out: a tree of the largest connected part is judged on that part. Users of the tree whom the graph does not
    name have no contacts, as an edge list cannot tell them; but where they are the most, it is another graph.
    """
    graph = read_graph(path)
    if tree.users is None:
        if graph.n_users != tree.n_users:
            raise InputError(
                f"{path} has {graph.n_users} users but the tree, which has no ids, {tree.n_users}: give the graph it is from"
            )
        return graph, 0
    leaf_of = {user: leaf for leaf, user in enumerate(tree.users.names())}
    leaves = np.array([leaf_of.get(user, -1) for user in graph.names])
    found = int((leaves >= 0).sum())
    if 2 * found < tree.n_users:
        known = set(graph.names)
        missing = next(user for user in tree.users.names() if user not in known)
        raise InputError(
            f"{tree.n_users - found} of the {tree.n_users} users of the tree are not in {path}, such as {missing!r}: "
            "give the graph it was learned from"
        )
    edges = leaves[graph.edges()]
    return ContactGraph.from_rows(edges[(edges >= 0).all(axis=1)], users=list(tree.users)), graph.n_users - found


def bins_of(tree: HierarchicalClusterTree, graph: ContactGraph, labels: Path | None) -> tuple[NDArray[np.int32], int]:
    """The bin of each leaf, and how many bins there are, from the tree's public parameters or from labels.

    labels: the file with which the tree was learned, if it was learned with labels.
    """
    if labels is not None:
        bins, n_bins = number_labels(read_labels(labels, graph.names))
        return np.array(bins, np.int32), n_bins
    seed, n_bins = tree.parameters.get("bins_seed"), tree.parameters.get("n_bins", 0)
    if seed is None:
        raise InputError("the tree file does not say in which bins contacts were counted: give its labels with --labels FILE")
    return assign_bins(graph.names, bytes.fromhex(seed), n_bins), n_bins


def controls(
    tree: HierarchicalClusterTree, graph: ContactGraph, seed: int, progress: Progress
) -> dict[str, HierarchicalClusterTree]:
    """What every tree is compared with: one that knows only how many contacts users have, and one that knows nothing.

    The first is learned with the epsilon that the tree's parameters tell, without noise if they tell none.
    """
    if seed < 0:
        raise InputError(f"--seed {seed} is below 0: give a whole number of at least 0")
    epsilon = tree.parameters.get("epsilon")
    with open_engine(workers_for(graph.n_users)) as engine:
        degree_only = PrivaCT(epsilon=epsilon, n_bins=1, random_state=seed).fit(graph, progress=progress, engine=engine).tree_
    return {"number of contacts only": degree_only, "random tree": draw_random_tree(tree.n_users, np.random.default_rng(seed))}
