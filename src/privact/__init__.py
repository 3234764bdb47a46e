"""Private hierarchical clustering of federated social networks: contacts stay on devices, a cluster tree comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privact.device.degrees import degree_vector
    from privact.errors import (
        FileFormatError,
        GraphError,
        InputError,
        MissingExtraError,
        NotFittedError,
        PrivaCTError,
        ProtocolError,
        TreeError,
        UnknownUserError,
    )
    from privact.estimator import PrivaCT
    from privact.learn.search.learn_tree import learn_tree
    from privact.network.graph import ContactGraph
    from privact.network.read import read_graph
    from privact.protocol.report import Report
    from privact.protocol.round import Round
    from privact.recommend.cold_start.recommender import ColdStartRecommender
    from privact.recommend.data.ratings import Ratings
    from privact.recommend.data.read_ratings import read_ratings
    from privact.tree.cost import dasgupta_cost, relative_utility, utility_bound
    from privact.tree.hct import HierarchicalClusterTree

    __version__: str

__all__ = [
    "ColdStartRecommender",
    "ContactGraph",
    "FileFormatError",
    "GraphError",
    "HierarchicalClusterTree",
    "InputError",
    "MissingExtraError",
    "NotFittedError",
    "PrivaCT",
    "PrivaCTError",
    "ProtocolError",
    "Ratings",
    "Report",
    "Round",
    "TreeError",
    "UnknownUserError",
    "dasgupta_cost",
    "degree_vector",
    "learn_tree",
    "read_graph",
    "read_ratings",
    "relative_utility",
    "utility_bound",
]

# Where each name lives; names that are not listed are errors. Modules load when a name is first used (PEP 562).
_HOMES = {
    "ColdStartRecommender": "privact.recommend.cold_start.recommender",
    "ContactGraph": "privact.network.graph",
    "HierarchicalClusterTree": "privact.tree.hct",
    "PrivaCT": "privact.estimator",
    "Ratings": "privact.recommend.data.ratings",
    "Report": "privact.protocol.report",
    "Round": "privact.protocol.round",
    "dasgupta_cost": "privact.tree.cost",
    "degree_vector": "privact.device.degrees",
    "learn_tree": "privact.learn.search.learn_tree",
    "read_graph": "privact.network.read",
    "read_ratings": "privact.recommend.data.read_ratings",
    "relative_utility": "privact.tree.cost",
    "utility_bound": "privact.tree.cost",
}


def __getattr__(name: str) -> Any:
    """Load a public name, or the installed version, when it is first asked for."""
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("privact")
    elif name in __all__:
        from importlib import import_module

        value = getattr(import_module(_HOMES.get(name, "privact.errors")), name)
    else:
        raise AttributeError(f"module 'privact' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted([*__all__, "__version__"])
