"""Table 5 of the paper (appendix): are users with similar ratings close in the network?

For each user, the Pearson correlation over all other users of two numbers: how similar their ratings are, and how many steps
through contacts they are away. Similarity is Pearson's correlation of ratings too. *Partial* profiles: over the items that both
rated; two users who have fewer than two such items, or rated them all the same, are not alike: 0. *Full* profiles: over all
items, those that a user did not rate being 0. The paper does not say what it does with pairs without common items; leaving them
out instead gives correlations from -1 to 1, far from its ranges.

The control deals the same rating profiles to users at random, a few times: users share the others, so that one deal moves the
correlations of all to the same side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.experiments.experiment import Task
from privact.experiments.report.recommendation_rows import ROW
from privact.experiments.running.kept_parts import KeptParts
from privact.experiments.running.networks import RatedNetwork
from privact.recommend.data.ratings import Ratings

__all__ = ["PAPER", "PROFILES", "correlate_rows", "correlate_users", "full_similarity", "measure", "partial_similarity"]

PAPER: dict[str, dict[str, tuple[float, float, float]]] = {
    "lastfm": {"partial": (76.8, -0.25, 0.17), "full": (100.0, -0.23, 0.02)},
    "delicious": {"partial": (96.6, -0.26, 0.04), "full": (100.0, -0.23, 0.02)},
    "douban": {"partial": (95.1, -0.14, 0.05), "full": (100.0, -0.28, -0.01)},
}
"""What the paper states for each network and profile: percent of users with a negative correlation, lowest, highest."""

PROFILES = ("partial", "full")
DEALS = 5
"""How many times the control deals profiles to users."""

QUICK_USERS = 200
BLOCK = 256
"""How many users are compared with all others at a time."""


def measure(task: Task) -> dict[str, Any]:
    """The correlations of all users of each network, beside what the paper states; quick: 200 users of each."""
    parts = KeptParts(task.parts, version=2)
    names = task.names()
    task.networks.require_ratings(names)
    rows: list[dict[str, Any]] = []
    for done, name in enumerate(names):
        task.progress(f"{name}: ratings and distances", done, len(names))
        network = task.networks.rated(name)
        described = {"experiment": "table5", "dataset": name, "data": network.content, "quick": task.quick, "deals": DEALS}
        kept = parts.get_or_run(described, lambda n=network: _summarize(n, task.quick))  # type: ignore[misc]
        rows += kept["rows"]
    return {"quick": task.quick, "rows": [_full_row(each) for each in rows]}


def _full_row(found: dict[str, Any]) -> dict[str, Any]:
    """A row with the keys that rows of all results have; what is not measured here is null."""
    told = {"scenario": "likeness against distance", "method": f"{found['profile']} profiles", "private": False}
    return {**dict.fromkeys(ROW), **found, **told, "control": "profiles dealt at random" if found["control"] else None}


def _summarize(network: RatedNetwork, quick: bool) -> dict[str, Any]:
    n = network.graph.n_users
    users = np.arange(0, n, -(-n // QUICK_USERS) if quick else 1)
    found = correlate_users(network, users)
    rows = []
    for profile in PROFILES:
        negative, low, high = PAPER[network.name][profile]
        for control in (False, True):
            values = found[profile, control]
            defined = values[~np.isnan(values)]
            rows.append(
                {
                    "dataset": network.name,
                    "profile": profile,
                    "control": control,
                    "negative_percent": float(100.0 * (defined < 0.0).mean()),
                    "low": float(defined.min()),
                    "high": float(defined.max()),
                    "mean": float(defined.mean()),
                    "quantiles": np.quantile(defined, np.linspace(0.0, 1.0, 101)).tolist(),
                    "users": len(defined),
                    "undefined": len(values) - len(defined),
                    "paper_negative_percent": negative,
                    "paper_low": low,
                    "paper_high": high,
                }
            )
    return {"rows": rows}


def correlate_users(network: RatedNetwork, users: NDArray[np.integer[Any]]) -> dict[tuple[str, bool], NDArray[np.float64]]:
    """By profile and whether it is the control: the correlation of similarity and distance of each of some users.

    The control has DEALS correlations a user. NaN where a user is similar to nobody, or equally similar to all;
    others whom no path reaches are left out.
    """
    from scipy.sparse.csgraph import shortest_path

    rng = np.random.default_rng(0)
    steps = shortest_path(network.graph.to_scipy(), unweighted=True)
    deals = [rng.permutation(network.graph.n_users) for _ in range(DEALS)]
    found: dict[tuple[str, bool], list[NDArray[np.float64]]] = {(p, c): [] for p in PROFILES for c in (False, True)}
    for first in range(0, len(users), BLOCK):
        rows = users[first : first + BLOCK]
        similarity = {"partial": partial_similarity(network.ratings, rows), "full": full_similarity(network.ratings, rows)}
        for control, distance in [(False, steps[rows]), *((True, steps[deal[rows]][:, deal]) for deal in deals)]:
            counted = np.isfinite(distance)
            counted[np.arange(len(rows)), rows] = False
            for profile in PROFILES:
                found[profile, control].append(correlate_rows(similarity[profile], distance, counted))
    return {key: np.concatenate(parts) for key, parts in found.items()}


def partial_similarity(ratings: Ratings, rows: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """(q, n) correlation of the ratings of some users with those of all users, over the items that both rated; else 0."""
    values, rated = ratings.matrix, ratings.binary
    squares = values.multiply(values).tocsr()
    common = (rated[rows] @ rated.T).toarray()
    mine, theirs = (values[rows] @ rated.T).toarray(), (rated[rows] @ values.T).toarray()
    my_spread = common * (squares[rows] @ rated.T).toarray() - mine**2
    their_spread = common * (rated[rows] @ squares.T).toarray() - theirs**2
    product = common * (values[rows] @ values.T).toarray() - mine * theirs
    alike = (common >= 2) & (my_spread > 1e-9) & (their_spread > 1e-9)
    spread = np.sqrt(np.where(alike, my_spread * their_spread, 1.0))
    return np.where(alike, np.clip(product / spread, -1.0, 1.0), 0.0)


def full_similarity(ratings: Ratings, rows: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """(q, n) correlation of the ratings of some users with those of all users, over all items, 0 where not rated."""
    values = ratings.matrix
    total = np.asarray(values.sum(axis=1)).ravel()
    spread = ratings.n_items * np.asarray(values.multiply(values).sum(axis=1)).ravel() - total**2
    product = ratings.n_items * (values[rows] @ values.T).toarray() - np.outer(total[rows], total)
    alike = np.outer(spread[rows] > 1e-9, spread > 1e-9)
    return np.where(alike, product / np.sqrt(np.where(alike, np.outer(spread[rows], spread), 1.0)), 0.0)


def correlate_rows(one: NDArray[np.float64], other: NDArray[np.float64], counted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(q) Pearson correlation of each row of two tables over the places that count; NaN where a side does not vary."""
    number = np.maximum(counted.sum(axis=1, keepdims=True), 1)
    parts = []
    for table in (one, other):
        values = np.where(counted, table, 0.0)
        parts.append(np.where(counted, values - values.sum(axis=1, keepdims=True) / number, 0.0))
    spread = np.sqrt((parts[0] ** 2).sum(axis=1) * (parts[1] ** 2).sum(axis=1))
    varied = spread > 1e-9
    return np.where(varied, (parts[0] * parts[1]).sum(axis=1) / np.where(varied, spread, 1.0), np.nan)
