"""A round played with made-up devices: how well communities would come out, before anybody is asked.

Made-up users have made-up counts, drawn from how contacts spread over communities. No contact exists even here, nothing is
stored, and nobody's epsilon is spent.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from privact.protocol.round import default_bins, epsilon_per_report
from privact.tree.ancestry import find_nearest

__all__ = ["MOST_USERS", "rehearse"]

MOST_USERS: Final = 500
"""How many users are played at most: enough to see, and a few seconds of work."""

_INSIDE: Final = 0.7  # of a user's contacts are in the own community
_LABELLED: Final = 0.75  # of users have the label that names their community
_NEAREST: Final = 10


def rehearse(n_users: int, contacts: float, epsilon: float, seed: int = 0) -> dict[str, Any]:
    """The share of a user's ten nearest users who are of the own community: over labels, over random bins, and by chance.

    n_users: how many are enrolled. contacts: of a usual user. epsilon: the promise per contact of the round.
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
        "chance": float(np.mean([np.mean(np.delete(community, user) == own) for user, own in enumerate(community)])),
    }


def _measure(
    counts: NDArray[np.int64], community: NDArray[np.int64], epsilon: float, equal_bins: bool, rng: np.random.Generator
) -> float:
    """Learn a tree from noisy counts, and look who is near whom."""
    from privact.learn.evidence.profile import RoundReports
    from privact.learn.pipeline import LearnSettings, learn_from_reports
    from privact.learn.reports.report_table import ReportTable

    per_report = epsilon_per_report(epsilon)
    chance = 1 - np.exp(-per_report)
    noise = rng.geometric(chance, counts.shape) - rng.geometric(chance, counts.shape)
    names = [f"made-up-{user}" for user in range(len(counts))]
    table = ReportTable(counts + noise, names)
    tree = learn_from_reports(RoundReports(table, per_report, equal_bins, None), LearnSettings(random_state=0)).tree
    shares = [np.mean(community[find_nearest(tree, leaf, _NEAREST).leaves] == community[leaf]) for leaf in range(tree.n_users)]
    return float(np.mean(shares))
