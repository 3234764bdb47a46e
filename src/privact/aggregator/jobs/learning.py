"""What a worker process computes: the reports of a round -> its tree, and late reports -> their places in that tree.

All of it is post-processing of reports. The same reports and the same seed give the same bytes, in any process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privact.aggregator.domain.release import SEARCH, public_parameters
from privact.aggregator.storage.stored_reports import StoredRound

if TYPE_CHECKING:
    from privact.learn.scale.population import EmbeddedRows, Embedder
    from privact.tree.hct import HierarchicalClusterTree

__all__ = ["Progress", "embedded", "embedder_of", "joined_tree", "learned_tree", "plausible"]

Progress = Callable[[str, int, int], None]


def learned_tree(
    stored: StoredRound, users: Sequence[str], reports: NDArray[np.int32], progress: Progress
) -> HierarchicalClusterTree:
    """The tree of a round.

    stored: the round. users, reports: everyone who reported in time, in the order of user digests.
    progress: called with (what is done, how much, of how much).
    """
    from privact.learn.search.learn_tree import learn_tree

    progress("denoising reports", 0, len(users))
    tree = learn_tree(
        embedded(stored, embedder_of(stored, reports), reports),
        search=SEARCH,
        random_state=stored.search_seed,
        progress=progress,
        users=users,
    )
    return tree.with_parameters(public_parameters(stored._replace(n_reports=len(users))))


def joined_tree(
    tree: HierarchicalClusterTree, early: EmbeddedRows, late: EmbeddedRows, joiners: Sequence[str]
) -> HierarchicalClusterTree:
    """A released tree with late joiners as further leaves; nobody who was in it moves, and nothing is learned again.

    Each joiner is placed by its own report alone, so the result depends on who joined and not on when. Of several who belong
    beside one cluster, those with higher digests stand above the others.

    tree: as released. early: its users. late, joiners: the joiners and their ids, in the order of user digests.
    """
    from privact.learn.place import place

    return place(tree, early.take(np.arange(len(early))), late.take(np.arange(len(late))), joiners).grafted()


def embedder_of(stored: StoredRound, reports: NDArray[np.int32]) -> Embedder:
    """What makes points of reports, learned from everyone who reported in time: by counts or by shares, as the round says."""
    from privact.learn.evidence.count_posterior import CountPosterior
    from privact.learn.evidence.share_posterior import SharePosterior

    posterior = SharePosterior if stored.profile == "shares" else CountPosterior
    return posterior.fit(plausible(stored, reports), stored.round.epsilon_report, equal_bins=stored.round.bins == "random")


def embedded(stored: StoredRound, embedder: Embedder, reports: NDArray[np.int32]) -> EmbeddedRows:
    """Users by the reports they sent, in time or late."""
    from privact.learn.scale.population import EmbeddedRows

    return EmbeddedRows(plausible(stored, reports), embedder)


def plausible(stored: StoredRound, reports: NDArray[np.int32]) -> NDArray[np.int64]:
    """Reports clamped to what an honest device could have sent."""
    from privact.learn.evidence.plausible import plausible_counts

    return plausible_counts(reports, stored.round.n_users, stored.round.epsilon_report)
