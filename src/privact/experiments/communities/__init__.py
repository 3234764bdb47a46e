"""Communities: what trees know about contacts, by their bins and by what users are compared."""

from __future__ import annotations

from privact.experiments.experiment import Experiment, Functions, Option

__all__ = ["EXPERIMENT"]


def _load() -> Functions:
    from privact.experiments.communities.measure import measure
    from privact.experiments.communities.page import write_page

    return measure, write_page


EXPERIMENT = Experiment(
    name="communities",
    title="Communities: what a tree knows about contacts",
    summary="Communities: what trees know about contacts, with controls.",
    load=_load,
    epsilon="1, 2",
    seeds="0 to 2",
    quick_seeds="0",
    different="Not in the paper. The first row of each table has its bins, floor(ln n) random ones. Taste groups are learned "
    "from ratings and never from contacts: a label that came from contacts would publish what the noise is there to hide. The "
    "promise per contact is the same for all bins. Controls are the labels alone without any report, the number of "
    "contacts alone, a random tree, and the most connected users in the place of the nearest.",
    quick="One run, at epsilon 1; of the paper's networks, lastfm.",
    options=(Option("seeds", 3, "Runs of each tree.", quick=1, minimum=1),),
    files=("social", "ratings"),
    version=2,
    quick_epsilon="1",
    evaluates="communities",
)
