"""What a series of rounds is compared with: how many true contacts other lists and trees find among a user's nearest.

- `degree_only`: a tree of one round with one bin, which knows numbers of contacts and nothing else;
- `most_connected`: the users with most contacts by one round, the same list for everybody;
- `labels`: a tree of one round whose bins are the planted blocks; None where there are no labels;
- `louvain`, `louvain_modularity`: Louvain on the contacts themselves, NOT private: its tree, and how modular it is.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.baselines.linkage_peers import louvain
from privact.estimator import PrivaCT
from privact.experiments.communities.most_connected import measure_most_connected
from privact.network.graph import ContactGraph
from privact.query.quality import measure_contact_share

__all__ = ["CONTROLS", "measure_controls", "measure_modularity"]

CONTROLS = ("degree_only", "most_connected", "labels", "louvain", "louvain_modularity")
"""The controls, in the order of the table."""


def measure_controls(
    graph: ContactGraph, block: NDArray[np.int64] | None, epsilon: float | None, seed: int
) -> dict[str, float | None]:
    """Every control on one network.

    block: the planted block of each user; None on real networks. epsilon: of the one round; None without noise.
    """
    contacts = graph.to_scipy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that one round sees no communities is what controls are for
        degree_only = PrivaCT(epsilon=epsilon, n_bins=1, random_state=seed).fit(graph).tree_
        labels = None
        if block is not None:
            model = PrivaCT(epsilon=epsilon, bins=block, profile="shares+own", random_state=seed)
            labels = measure_contact_share(model.fit(graph).tree_, contacts)
    return {
        "degree_only": measure_contact_share(degree_only, contacts),
        "most_connected": measure_most_connected(graph, epsilon, 1, seed)["share_of_contacts"],
        "labels": labels,
        "louvain": measure_contact_share(louvain(graph), contacts),
        "louvain_modularity": measure_modularity(contacts, _find_louvain_groups(contacts)),
    }


def measure_modularity(contacts: Any, group: NDArray[np.int64]) -> float:
    """Newman's modularity of a partition."""
    import scipy.sparse as sp

    member = sp.csr_array((np.ones(len(group)), (np.arange(len(group)), group)))
    between = (member.T @ contacts @ member).toarray()
    whole = between.sum()
    return float(np.trace(between) / whole - (between.sum(axis=1) ** 2).sum() / whole**2)


def _find_louvain_groups(contacts: Any) -> NDArray[np.int64]:
    import scipy.sparse as sp

    clustering: Any = import_module("sknetwork.clustering")
    return np.asarray(clustering.Louvain(random_state=0).fit_predict(sp.csr_matrix(contacts)), dtype=np.int64)
