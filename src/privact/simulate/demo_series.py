"""The part of the demo that looks for communities without labels: one round over random bins beside a series of rounds.

Both spend the same epsilon in all, and neither reads home servers. They are played in this process, with simulated noise.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from privact.network.graph import ContactGraph
from privact.progress import Progress, ignore_progress
from privact.protocol.promise import privacy_sentence
from privact.query.quality import measure_contact_share
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["CLOSE", "EPSILON", "Found", "compare_series"]

EPSILON = 4.0
"""The promise per contact over all rounds together."""

CLOSE = 50
"""About how many users a close community has."""


@dataclass(frozen=True, eq=False)
class Found:
    """What one way of spending epsilon finds without labels.

    epsilon: the promise per contact over all rounds. bins: how many bins each round had.
    tree: learned from all reports; leaf i is row i of the network.
    sees_communities: whether the reports tell who contacts are; False for one round over random bins.
    near: the share of true contacts among a user's m nearest users, m the number of contacts; mean over users.
    close: the share of a user's true contacts who are in the user's community of about CLOSE users; mean over users.
    by_chance: the same for communities of as many random users.
    """

    epsilon: float
    bins: list[int]
    tree: HierarchicalClusterTree
    sees_communities: bool
    near: float
    close: float
    by_chance: float

    @property
    def rounds(self) -> int:
        """How many rounds shared epsilon."""
        return len(self.bins)

    def privacy_sentence(self) -> str:
        """What was promised, and what was not."""
        return privacy_sentence(self.epsilon, rounds=self.rounds)


def compare_series(
    graph: ContactGraph, epsilon: float = EPSILON, seed: int = 0, progress: Progress = ignore_progress
) -> tuple[Found, Found]:
    """Play one round over random bins and a series of the usual number of rounds, and judge both trees by the contacts.

    epsilon: the promise per contact, over one round and over the whole series. seed: decides the noise and the search.
    """
    from privact.learn.evidence.series.series_length import choose_rounds

    return _find(graph, epsilon, 1, seed, progress), _find(graph, epsilon, choose_rounds(epsilon), seed, progress)


def _find(graph: ContactGraph, epsilon: float, rounds: int, seed: int, progress: Progress) -> Found:
    from privact.estimator import PrivaCT

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what a series does not see is in the result
        model = PrivaCT(epsilon=epsilon, rounds=rounds, random_state=seed).fit(graph, progress=progress)
    close, by_chance = measure_close_contacts(model.tree_, graph, CLOSE)
    return Found(
        epsilon=epsilon,
        bins=[each.n_bins for each in model.rounds_],
        tree=model.tree_,
        sees_communities=rounds > 1 and bool(model.sees_communities_),
        near=measure_contact_share(model.tree_, graph.to_scipy()),
        close=close,
        by_chance=by_chance,
    )


def measure_close_contacts(tree: HierarchicalClusterTree, graph: ContactGraph, size: int) -> tuple[float, float]:
    """The share of a user's contacts in the user's community of about `size` users, and of as many random users.

    tree: leaf i is row i of the graph. Both are means over users who have contacts.
    """
    shares, chances = [], []
    for user in graph.users:
        contacts = frozenset(graph.neighbours(user))
        if contacts:
            members = tree.community(user, size).users
            shares.append(len(contacts.intersection(members)) / len(contacts))
            chances.append((len(members) - 1) / (graph.n_users - 1))
    return float(np.mean(shares)), float(np.mean(chances))
