"""Private hierarchical clustering of federated social networks: contacts stay on devices, a cluster tree comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privact.device.degrees import degree_vector as degree_vector
    from privact.errors import (
        AggregatorError as AggregatorError,
    )
    from privact.errors import (
        FileFormatError as FileFormatError,
    )
    from privact.errors import (
        GraphError as GraphError,
    )
    from privact.errors import (
        InputError as InputError,
    )
    from privact.errors import (
        LedgerError as LedgerError,
    )
    from privact.errors import (
        MissingExtraError as MissingExtraError,
    )
    from privact.errors import (
        NotFittedError as NotFittedError,
    )
    from privact.errors import (
        PrivaCTError as PrivaCTError,
    )
    from privact.errors import (
        ProtocolError as ProtocolError,
    )
    from privact.errors import (
        RefusedError as RefusedError,
    )
    from privact.errors import (
        TreeError as TreeError,
    )
    from privact.errors import (
        UnknownUserError as UnknownUserError,
    )
    from privact.estimator import PrivaCT as PrivaCT
    from privact.learn.search.learn_tree import learn_tree as learn_tree
    from privact.measures import WholeGraph as WholeGraph
    from privact.measures import dasgupta_cost as dasgupta_cost
    from privact.measures import score_negative_loss as score_negative_loss
    from privact.measures import score_share_of_contacts as score_share_of_contacts
    from privact.measures import share_of_contacts as share_of_contacts
    from privact.network.graph import ContactGraph as ContactGraph
    from privact.network.graph_files import read_graph as read_graph
    from privact.protocol.report import Report as Report
    from privact.protocol.round import Round as Round
    from privact.query.one_round import OneRoundWarning as OneRoundWarning
    from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender as ColdStartRecommender
    from privact.recommend.data.ratings import Ratings as Ratings
    from privact.recommend.data.read_ratings import read_ratings as read_ratings
    from privact.recommend.people.contact_recommender import ContactRecommender as ContactRecommender
    from privact.tree.cost import (
        relative_utility as relative_utility,
    )
    from privact.tree.cost import (
        utility_bound as utility_bound,
    )
    from privact.tree.hct import HierarchicalClusterTree as HierarchicalClusterTree

    __version__: str
else:
    from privact.exports import export_lazily

    __all__, _load, _ = export_lazily(
        __name__,
        {
            "privact.device.degrees": ["degree_vector"],
            "privact.errors": [
                "AggregatorError",
                "FileFormatError",
                "GraphError",
                "InputError",
                "LedgerError",
                "MissingExtraError",
                "NotFittedError",
                "PrivaCTError",
                "ProtocolError",
                "RefusedError",
                "TreeError",
                "UnknownUserError",
            ],
            "privact.estimator": ["PrivaCT"],
            "privact.learn.search.learn_tree": ["learn_tree"],
            "privact.measures": [
                "WholeGraph",
                "dasgupta_cost",
                "score_negative_loss",
                "score_share_of_contacts",
                "share_of_contacts",
            ],
            "privact.network.graph": ["ContactGraph"],
            "privact.network.graph_files": ["read_graph"],
            "privact.protocol.report": ["Report"],
            "privact.protocol.round": ["Round"],
            "privact.recommend.cold_start.cold_start_recommender": ["ColdStartRecommender"],
            "privact.recommend.data.ratings": ["Ratings"],
            "privact.recommend.data.read_ratings": ["read_ratings"],
            "privact.recommend.people.contact_recommender": ["ContactRecommender"],
            "privact.tree.cost": ["relative_utility", "utility_bound"],
            "privact.tree.hct": ["HierarchicalClusterTree"],
            "privact.query.one_round": ["OneRoundWarning"],
        },
    )

    def __getattr__(name: str) -> Any:
        """Load a public name, or the installed version, when it is first used."""
        if name == "__version__":
            from importlib.metadata import PackageNotFoundError, version

            try:
                return version("privact")
            except PackageNotFoundError:  # only the device is installed
                return version("privact-device")
        return _load(name)

    def __dir__() -> list[str]:
        """The public names, loaded or not."""
        return sorted([*__all__, "__version__"])
