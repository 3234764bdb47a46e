"""Table 5 of the paper (appendix): similarity of ratings against distance in the network."""

from __future__ import annotations

from privact.experiments.experiment import Experiment, Functions

__all__ = ["EXPERIMENT"]


def _load() -> Functions:
    from privact.experiments.table5.measure import measure
    from privact.experiments.table5.page import write_page

    return measure, write_page


EXPERIMENT = Experiment(
    name="table5",
    title="Table 5: similar ratings and distance in the network",
    summary="Table 5: similarity of ratings against distance in the network.",
    load=_load,
    epsilon="none",
    seeds="fixed",
    quick_seeds="fixed",
    different="The paper does not say how similar two users without common items are. Here, with partial profiles, two users who "
    "share fewer than two items, or who rated all of them the same, have similarity 0; with full profiles an item that a "
    "user did not rate counts as 0. The control, which the paper lacks, deals the same ratings to users at random.",
    quick="200 users of each network.",
    files=("social", "ratings"),
)
