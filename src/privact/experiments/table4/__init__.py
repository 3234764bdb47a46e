"""Table 4 of the paper: recommendations for users with ratings, beside strong models and controls."""

from __future__ import annotations

from privact.experiments.experiment import Experiment, Functions

__all__ = ["EXPERIMENT"]


def _load() -> Functions:
    from privact.experiments.table4.measure import measure
    from privact.experiments.table4.page import write_page

    return measure, write_page


EXPERIMENT = Experiment(
    name="table4",
    title="Table 4: recommendations for users with ratings",
    summary="Table 4: recommendations for users with ratings.",
    load=_load,
    epsilon="1",
    seeds="0 to 2",
    quick_seeds="0",
    different="The paper ran RecQ's SERec, in which a user's social term depends only on how many contacts the user has: random "
    "users in their place are the same model. So we also run SERec as published, and implicit ALS, which knows no "
    "contacts. Items are ranked by preference, as RecQ does; further rows rank by exposure times preference. RecQ's "
    "variant has RecQ's settings; those of the other models are chosen on ratings hidden inside the training part. All "
    "five folds are run, with three seeds each for trees and random users; of random users RecQ's variant sees no more "
    "than their number, which no seed changes, so there it is one. SERec as published learns 14 rounds without anybody "
    "near, once a fold, and 3 more with each kind of neighbours or with nobody. A quick look is one fold and one seed of "
    "lastfm.",
    quick="One fold and one seed; of the paper's networks, lastfm.",
    files=("social", "ratings"),
    evaluates="existing",
)
