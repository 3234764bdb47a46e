"""Table 3 of the paper: recommendations for users without ratings (cold start), beside every control."""

from __future__ import annotations

from privact.experiments.experiment import Experiment, Functions, Option

__all__ = ["EXPERIMENT"]


def _load() -> Functions:
    from privact.experiments.table3.measure import measure
    from privact.experiments.table3.page import write_page

    return measure, write_page


EXPERIMENT = Experiment(
    name="table3",
    title="Table 3: recommendations for users without ratings",
    summary="Table 3: recommendations for users without ratings.",
    load=_load,
    epsilon="1",
    seeds="0 to 2",
    quick_seeds="0",
    different="The paper has no control. We add the most popular items, m random users in the place of the community, a "
    "degree-only tree and a random tree; without them the table is refused. Where the paper's formula leaves room: items "
    "that nobody in the community rated come after all others, by itemAvg, and of equal scores the smaller item number "
    "is first, with items in random order. Our own method is bins of taste groups, the whole tree and the user's own "
    "report. Number of taste groups, dimensions of taste and how much each source is believed are chosen inside the "
    "training part of each fold. Ratings are not protected by this mechanism.",
    quick="One fold and one seed.",
    options=(
        Option("epsilon", 1.0, "The privacy promise per contact."),
        Option("folds", 5, "How many of the five folds over users are measured.", quick=1, minimum=1, maximum=5),
        Option("seeds", 3, "Seeds of bins, noise and trees.", quick=1, minimum=1),
    ),
    files=("social", "ratings"),
    version=3,
    evaluates="cold-start",
)
