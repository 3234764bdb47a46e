"""Section 7.4 of the paper: NDCG and similarity of ratings against distance in the network."""

from __future__ import annotations

from privact.experiments.experiment import Experiment, Functions

__all__ = ["EXPERIMENT"]


def _load() -> Functions:
    from privact.experiments.distance.measure import measure
    from privact.experiments.distance.page import write_page

    return measure, write_page


EXPERIMENT = Experiment(
    name="distance",
    title="Section 7.4: distance in the network and NDCG",
    summary="Section 7.4: similarity of ratings and NDCG against distance in the network.",
    load=_load,
    epsilon="1",
    seeds="0 to 2",
    quick_seeds="0",
    different="The paper gives ranges of correlations without a control. Here m random users, a degree-only tree and a random "
    "tree go through the same recommender: a correlation that they show as well is no evidence of what the tree knows. "
    "Similarity of ratings against distance is the section on Table 5.",
    quick="Fewer users, one fold and one seed.",
    files=("social", "ratings"),
    version=2,
)
