"""Every list of the table of people, for one network, one epsilon and one seed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.estimator import PrivaCT
from privact.experiments.people.bounds import Scorer, list_bounds
from privact.experiments.people.hidden_contacts import LENGTH, HiddenContacts
from privact.learn.evidence.series.round_bins import FIRST_BINS
from privact.protocol.round import default_bins
from privact.query.link_prediction import find_community_sizes
from privact.query.quality import draw_random_tree
from privact.recommend.cores import run_on_all_cores, split_into_blocks
from privact.recommend.data.ratings import Ratings
from privact.recommend.people.contact_affinity import rank_by_contacts
from privact.recommend.people.contact_recommender import ContactRecommender
from privact.recommend.ranking import find_best_items
from privact.recommend.taste_groups import make_taste_vectors
from privact.simulate.series import PlayedRound, play_series
from privact.tree.hct import HierarchicalClusterTree

__all__ = [
    "CIRCLES",
    "FACTORS",
    "GROUPS",
    "MOST_CONNECTED",
    "OURS",
    "ROUNDS",
    "SERIES",
    "TASTE",
    "Method",
    "Tastes",
    "list_fixed",
    "list_round",
    "list_series",
]

GROUPS, FACTORS = 12, 32
"""Taste groups that users are put in, and dimensions of the taste they are found in."""

ROUNDS = 4
"""Rounds of the series."""

MOST_CONNECTED = "most connected users"
TASTE, CIRCLES, SERIES, RANDOM_BINS = "taste groups", "taste groups and circles", "series without labels", "random bins"
OURS = (TASTE, CIRCLES, SERIES)
"""The rows that the targets are about."""


class Method(NamedTuple):
    """What a row says about a list before it is judged.

    name: in the table. rounds: of reports that it sees; 0 if it sees none. control: whether it is there to compare with.
    private: whether contacts stay private.
    """

    name: str
    rounds: int = 0
    control: bool = False
    private: bool = True


class Tastes(NamedTuple):
    """What ratings say about users: public groups, and the ratings themselves, in the order of the graph's users."""

    labels: NDArray[np.int32]
    ratings: Ratings


def list_fixed(split: HiddenContacts, tastes: Tastes | None, seed: int) -> Iterator[tuple[Method, NDArray[np.int64]]]:
    """The lists that see no report: controls and, not private, the bounds. tastes: None where there are no ratings."""
    n = split.graph.n_users

    def draw(rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.stack([np.random.default_rng([seed, 1, row]).random(n) for row in rows.tolist()])

    yield Method("random users", control=True), _rank(split, draw)
    if tastes is not None:
        labels, vectors = tastes.labels, make_taste_vectors(tastes.ratings, 0, FACTORS)
        yield Method("labels alone", control=True), _rank(split, lambda rows: (labels[rows, None] == labels) + draw(rows))
        yield Method("taste alone", control=True), _rank(split, lambda rows: vectors[rows] @ vectors.T + 1e-9 * draw(rows))
    for name, scorer in list_bounds(split.known):
        yield Method(name, private=False), _rank(split, scorer)


def list_round(
    split: HiddenContacts, tastes: Tastes | None, epsilon: float, seed: int
) -> Iterator[tuple[Method, NDArray[np.int64]]]:
    """The lists that see one round of reports made with epsilon. tastes: as for `list_fixed`."""
    reported = random_bins = _learn(split, _play(split, epsilon, None, 1, seed), seed)
    if tastes is not None:
        rounds = _play(split, epsilon, tastes.labels, 1, seed)
        reported = _learn(split, rounds, seed)
        yield Method(TASTE, 1), reported.rank(split.users, LENGTH, split.known)
        yield Method(CIRCLES, 1), _learn(split, rounds, seed, tastes.ratings).rank(split.users, LENGTH, split.known)
    yield Method(RANDOM_BINS, 1, control=True), random_bins.rank(split.users, LENGTH, split.known)
    yield Method(MOST_CONNECTED, 1, control=True), _rank(split, rank_by_contacts(reported.affinity.contacts).scores)
    tree = PrivaCT(epsilon, n_bins=1, random_state=np.random.default_rng([seed, 5])).fit(split.graph).tree_
    yield Method("degree-only tree", 1, control=True), _rank(split, lambda rows: _nearness(tree, rows))


def list_series(split: HiddenContacts, epsilon: float, seed: int) -> Iterator[tuple[Method, NDArray[np.int64]]]:
    """The lists that see a series of rounds that share epsilon."""
    series = _learn(split, _play(split, epsilon, None, ROUNDS, seed), seed)
    yield Method(SERIES, ROUNDS), series.rank(split.users, LENGTH, split.known)
    yield Method(MOST_CONNECTED, ROUNDS, control=True), _rank(split, rank_by_contacts(series.affinity.contacts).scores)


def _learn(split: HiddenContacts, rounds: list[PlayedRound], seed: int, ratings: Ratings | None = None) -> ContactRecommender:
    """The recommender of some rounds. The tree, a random one, decides only between users who are equally likely."""
    tree = draw_random_tree(split.graph.n_users, np.random.default_rng([seed, 2]), split.graph.users)
    return ContactRecommender(tree).fit(rounds, ratings)


def _play(split: HiddenContacts, epsilon: float, labels: NDArray[np.int32] | None, rounds: int, seed: int) -> list[PlayedRound]:
    """The rounds of one epsilon, over random bins or over labels; no tree is learned."""
    n = split.graph.n_users
    rng = np.random.default_rng([seed, 3 if labels is None else 4, rounds, int(1000 * epsilon)])
    if labels is not None:
        return play_series(split.graph, epsilon, rounds, labels, int(labels.max()) + 1, rng)
    n_bins = default_bins(n) if rounds == 1 else FIRST_BINS
    return play_series(split.graph, epsilon, rounds, rng.permutation(np.arange(n) % n_bins), n_bins, rng)


def _nearness(tree: HierarchicalClusterTree, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """(q, n) how near all users are in a tree: the smaller the smallest cluster that holds both, the nearer."""
    n = tree.n_users
    other = np.tile(np.arange(n), (len(rows), 1))
    other[np.arange(len(rows)), rows] = (rows + 1) % n  # a user's own place is left out later
    sizes = find_community_sizes(tree, np.repeat(rows, n), other.ravel())
    return np.asarray(-sizes.reshape(other.shape), dtype=np.float64)


def _rank(split: HiddenContacts, scorer: Scorer) -> NDArray[np.int64]:
    """The best users by scores, without the user and without contacts that the device knows."""

    def find(part: slice) -> NDArray[np.int64]:
        rows = split.users[part]
        scores = np.asarray(scorer(rows), dtype=np.float64)
        mine = split.known[rows]
        scores[np.repeat(np.arange(len(rows)), np.diff(mine.indptr)), mine.indices] = -np.inf
        scores[np.arange(len(rows)), rows] = -np.inf
        return find_best_items(scores, LENGTH)

    blocks = split_into_blocks(len(split.users), split.graph.n_users)
    return np.concatenate(run_on_all_cores(find, blocks))
