"""People: are hidden contacts found among the users that a user is recommended?"""

from __future__ import annotations

from privact.experiments.experiment import Experiment, Functions, Option

__all__ = ["EXPERIMENT"]


def _load() -> Functions:
    from privact.experiments.people.measure import measure
    from privact.experiments.people.page import write_page

    return measure, write_page


EXPERIMENT = Experiment(
    name="people",
    title="People: who may I know",
    summary="People: are hidden contacts found, beside the best connected users and other controls?",
    load=_load,
    epsilon="1, 2, 4",
    seeds="0 to 4",
    quick_seeds="0",
    different="Not in the paper. A fifth of all contacts, drawn at random, is hidden from all devices before the round; lists "
    "are judged by these alone, and contacts that a device knows are left out of its list. Every table has the controls *random "
    "users*, *most connected users* by the same reports, *labels alone*, *taste alone*, *random bins* and a *degree-only tree*, "
    "and three lists that are not private. Where the folder of the datasets has `facebook/social.tsv.gz`, that network is "
    "measured too; it has no ratings, so no taste groups. Rounds share the epsilon that is stated.",
    quick="One run, at epsilon 1; of the paper's networks, lastfm.",
    options=(Option("seeds", 5, "Runs of each method, each with other hidden contacts.", quick=1, minimum=1),),
    files=("social", "ratings"),
    quick_epsilon="1",
    evaluates="people",
)
