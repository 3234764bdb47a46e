"""vectors -> hierarchical cluster tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privact.tree.ancestry import NearestUsers as NearestUsers
    from privact.tree.arrays import TreeArrays as TreeArrays
    from privact.tree.clusters import Cluster as Cluster
    from privact.tree.clusters import Communities as Communities
    from privact.tree.cost import UtilityBound as UtilityBound
    from privact.tree.cost import dasgupta_cost as dasgupta_cost
    from privact.tree.cost import find_violations as find_violations
    from privact.tree.cost import relative_utility as relative_utility
    from privact.tree.cost import rho as rho
    from privact.tree.cost import theta as theta
    from privact.tree.cost import utility_bound as utility_bound
    from privact.tree.embedding import Embedding as Embedding
    from privact.tree.hct import HierarchicalClusterTree as HierarchicalClusterTree
    from privact.tree.user_ids import UserIds as UserIds
else:
    from privact.exports import export_lazily

    __all__, __getattr__, __dir__ = export_lazily(
        __name__,
        {
            "privact.tree.ancestry": ["NearestUsers"],
            "privact.tree.arrays": ["TreeArrays"],
            "privact.tree.clusters": ["Cluster", "Communities"],
            "privact.tree.cost": [
                "UtilityBound",
                "dasgupta_cost",
                "find_violations",
                "relative_utility",
                "rho",
                "theta",
                "utility_bound",
            ],
            "privact.tree.embedding": ["Embedding"],
            "privact.tree.hct": ["HierarchicalClusterTree"],
            "privact.tree.user_ids": ["UserIds"],
        },
    )
