"""A round or a series played on a person's own network, before anybody is asked: what would come out.

The contacts are known here, which an aggregator never sees; so the result can be compared with the truth.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.estimator import PrivaCT
from privact.learn.evidence.profile import RoundReports
from privact.learn.evidence.profiles import DEFAULT_PROFILE
from privact.learn.pipeline import fit_evidence
from privact.learn.reports.report_table import ReportTable
from privact.network.graph import ContactGraph
from privact.progress import Progress, ignore_progress
from privact.protocol.label_files import number_labels
from privact.query.explore import cut_sizes
from privact.query.named_groups import number_groups
from privact.query.quality import draw_random_tree, measure_contact_share
from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender
from privact.recommend.cold_start.comparison import Comparison, compare_with_popularity
from privact.recommend.cold_start.validation import choose_settings_for_tree
from privact.recommend.data.ratings import Ratings
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["Outcome", "expect_contacts", "judge_tree", "play_own_network"]

_FEWEST: Final = 20


class Outcome(NamedTuple):
    """What would come out.

    users, contacts: of the network.
    epsilon, rounds: the promise per contact over all rounds, and how many they are.
    bins: of the first round, in words.
    contact_share: the share of true contacts among a user's nearest users, as many as the user has contacts; mean over users.
    by_chance: the same for a random tree. by_number: the same for a tree that knows how many contacts users have, nothing more.
    sees_communities: whether the reports of a series show who contacts are; None for one round.
    communities: sizes, some users and labels of a usual cut, as the explorer shows them.
    recommendations: beside the most popular items; None without ratings.
    """

    users: int
    contacts: int
    epsilon: float
    rounds: int
    bins: str
    contact_share: float
    by_chance: float
    by_number: float
    sees_communities: bool | None
    communities: dict[str, Any]
    recommendations: Comparison | None


def play_own_network(
    graph: ContactGraph,
    epsilon: float,
    *,
    labels: Mapping[str, str] | None = None,
    ratings: Ratings | None = None,
    rounds: int = 1,
    seed: int = 0,
    progress: Progress = ignore_progress,
) -> Outcome:
    """Play every device of a network in this process, with simulated noise, and judge the tree that would be released.

    graph: who knows whom. epsilon: the promise per contact over all rounds together.
    labels: public labels by user, the bins of the (first) round; random bins without. ratings: to recommend from.
    rounds: 1 for one round, more for a series. seed: decides bins, noise and search.
    """
    if graph.n_users < _FEWEST:
        raise InputError(f"{graph.n_users} users are too few to see anything: give at least {_FEWEST}")
    numbers, n_labels = number_labels([] if labels is None else [labels.get(user) for user in graph.names])
    if labels is not None and not n_labels:
        raise InputError("no user of the contacts has a label: do both files spell ids alike?")
    bins = "random" if labels is None else np.array(numbers)
    model = PrivaCT(epsilon=epsilon, bins=bins, rounds=rounds, random_state=seed)
    with warnings.catch_warnings():  # what it sees is said in the outcome
        warnings.simplefilter("ignore")
        model.fit(graph, progress=progress)
    groups = counts = None
    if labels is not None or rounds > 1:  # the labels of the last round: in a series the groups that were inferred
        last = model.rounds_[-1]
        groups, counts = np.asarray(last.bins, np.int64), expect_contacts(last.reports, last.epsilon_report)
    return judge_tree(
        graph,
        model.tree_,
        epsilon=epsilon,
        rounds=rounds,
        bins=f"{n_labels} labels" if labels is not None else f"{model.n_bins_} random bins",
        sees_communities=bool(model.sees_communities_) if rounds > 1 else None,
        labels=labels,
        ratings=ratings,
        groups=groups,
        counts=counts,
        seed=seed,
        progress=progress,
    )


def expect_contacts(reports: NDArray[np.int64], epsilon_report: float | None) -> NDArray[np.float64]:
    """How many contacts in each label the reports of a round let expect, user by user; a server recommends by the same.

    reports: (n, K) what devices sent. epsilon_report: the privacy parameter of one report.
    """
    round = RoundReports(ReportTable(reports, range(len(reports))), epsilon_report, False, None)
    return np.asarray(fit_evidence(round, DEFAULT_PROFILE).expected_counts(reports), np.float64)


def judge_tree(
    graph: ContactGraph,
    tree: HierarchicalClusterTree,
    *,
    epsilon: float,
    rounds: int,
    bins: str,
    sees_communities: bool | None = None,
    labels: Mapping[str, str] | None = None,
    ratings: Ratings | None = None,
    groups: NDArray[np.int64] | None = None,
    counts: NDArray[np.float64] | None = None,
    seed: int = 0,
    progress: Progress = ignore_progress,
) -> Outcome:
    """Compare a tree with the true contacts of its users.

    graph: who knows whom; the users of the tree are among them.
    groups, counts: the label number of each user of the graph and the expected contacts in each label, for recommendations.
    """
    progress("comparing with the contacts", 0, 0)
    names = tree.users.names() if tree.users is not None else list(graph.names)
    rows = np.array([graph.row(name) for name in names])
    adjacency = graph.to_scipy()[rows][:, rows]
    chance = measure_contact_share(draw_random_tree(len(rows), np.random.default_rng(seed)), adjacency)
    with warnings.catch_warnings():  # the same epsilon was warned about before
        warnings.simplefilter("ignore")
        number = PrivaCT(epsilon=epsilon, n_bins=1, random_state=seed).fit(graph, progress=progress)
    known = None if labels is None else number_groups(tree, [labels.get(name) for name in names])
    served = None
    if ratings is not None:
        progress("recommending", 0, 0)
        here = ratings.for_users(names)
        told = {} if groups is None or counts is None else {"groups": groups[rows], "contacts": counts[rows]}
        recommender = ColdStartRecommender(tree, here, **told)
        recommender.settings = choose_settings_for_tree(recommender)
        served = compare_with_popularity(recommender)
    return Outcome(
        graph.n_users,
        graph.n_edges,
        epsilon,
        rounds,
        bins,
        measure_contact_share(tree, adjacency),
        chance,
        measure_contact_share(number.tree_, graph.to_scipy()),
        sees_communities,
        cut_sizes(tree, groups=known),
        served,
    )
