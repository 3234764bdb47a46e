"""A round and a series played with made-up devices: how well communities would come out, before anybody is asked.

Made-up users have made-up counts, drawn from how contacts spread over communities. No contact exists even here, nothing is
stored, and nobody's epsilon is spent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.series.series_length import choose_rounds
from privact.protocol.round import default_bins, epsilon_per_report
from privact.tree.ancestry import find_nearest

if TYPE_CHECKING:
    from privact.learn.reports.report_table import ReportTable
    from privact.tree.hct import HierarchicalClusterTree

__all__ = ["MOST_USERS", "rehearse"]

MOST_USERS: Final = 500
"""How many users are played at most: enough to see, and a few seconds of work."""

_INSIDE: Final = 0.7  # of a user's contacts are in the own community
_LABELLED: Final = 0.75  # of users have the label that names their community
_NEAREST: Final = 10


def rehearse(n_users: int, contacts: float, epsilon: float, seed: int = 0) -> dict[str, Any]:
    """The share of a user's ten nearest users who are of the own community: of a round over labels, of one over random bins, of a
    series of rounds that share epsilon, and by chance.

    n_users: how many are enrolled. contacts: of a usual user. epsilon: the promise per contact of the round or the series.
    """
    rng = np.random.default_rng(seed)
    n = max(20, min(n_users, MOST_USERS))
    n_communities = max(2, min(8, n // 25))
    community = rng.permutation(np.arange(n) % n_communities)
    degree = rng.poisson(contacts * rng.gamma(4.0, 0.25, n))
    met = np.full((n_communities, n_communities), (1 - _INSIDE) / (n_communities - 1))
    np.fill_diagonal(met, _INSIDE)
    labelled = np.full((n_communities, n_communities), (1 - _LABELLED) / (n_communities - 1))
    np.fill_diagonal(labelled, _LABELLED)
    over_labels = rng.multinomial(degree, (met @ labelled)[community])
    k = default_bins(n)
    over_random = rng.multinomial(degree, np.full(k, 1 / k))
    return {
        "users": n,
        "communities": n_communities,
        "labels": _measure(over_labels, community, epsilon, False, rng),
        "random": _measure(over_random, community, epsilon, True, rng),
        "series": _measure_series(rng.multinomial(degree, met[community]), community, epsilon, rng),
        "rounds": choose_rounds(epsilon),
        "chance": float(np.mean([np.mean(np.delete(community, user) == own) for user, own in enumerate(community)])),
    }


def _measure(
    counts: NDArray[np.int64], community: NDArray[np.int64], epsilon: float, equal_bins: bool, rng: np.random.Generator
) -> float:
    """Learn a tree from noisy counts, and look who is near whom."""
    from privact.learn.evidence.profile import RoundReports
    from privact.learn.pipeline import LearnSettings, learn_from_reports

    reports = RoundReports(_add_noise(counts, epsilon, rng), epsilon_per_report(epsilon), equal_bins, None)
    return _judge(learn_from_reports(reports, LearnSettings(random_state=0)).tree, community)


def _measure_series(
    in_communities: NDArray[np.int64], community: NDArray[np.int64], epsilon: float, rng: np.random.Generator
) -> float:
    """Play rounds whose bins are the groups found so far, and look who is near whom in their tree.

    in_communities: (n, C) contacts of each user in each community. Which of them are in a bin is drawn anew in each round, from
    the bins that the users of the community have.
    """
    from privact.learn.evidence.profile import RoundReports
    from privact.learn.evidence.series.round_bins import choose_first_bins, next_bins
    from privact.learn.evidence.series_profile import SERIES_PROFILE, as_series
    from privact.learn.pipeline import LearnSettings, learn_from_reports

    n_rounds = choose_rounds(epsilon)
    share = epsilon / n_rounds
    per_report = epsilon_per_report(share)
    n_bins = choose_first_bins(per_report, len(community))
    bins = rng.integers(n_bins, size=len(community))
    played: list[RoundReports] = []
    for number in range(n_rounds):
        counts = np.zeros((len(community), n_bins), np.int64)
        for each in range(in_communities.shape[1]):
            of_bins = np.bincount(bins[community == each], minlength=n_bins)
            counts += rng.multinomial(in_communities[:, each], of_bins / of_bins.sum())
        played.append(RoundReports(_add_noise(counts, share, rng), per_report, number == 0, bins))
        if number < n_rounds - 1:
            bins, n_bins = next_bins(as_series(played))
    return _judge(learn_from_reports(played, LearnSettings(SERIES_PROFILE, random_state=0)).tree, community)


def _add_noise(counts: NDArray[np.int64], epsilon: float, rng: np.random.Generator) -> ReportTable:
    """What made-up devices would send."""
    from privact.learn.reports.report_table import ReportTable

    chance = 1 - np.exp(-epsilon_per_report(epsilon))
    noise = rng.geometric(chance, counts.shape) - rng.geometric(chance, counts.shape)
    return ReportTable(counts + noise, [f"made-up-{user}" for user in range(len(counts))])


def _judge(tree: HierarchicalClusterTree, community: NDArray[np.int64]) -> float:
    """The share of a user's nearest users who are of the own community; mean over users."""
    shares = [np.mean(community[find_nearest(tree, leaf, _NEAREST).leaves] == community[leaf]) for leaf in range(tree.n_users)]
    return float(np.mean(shares))
