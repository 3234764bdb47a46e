"""Section 7.4 of the paper: why PrivaCT-CF works. Similarity of ratings (Table 5) and NDCG against distance.

A cold user's *path profile* has one number for each of the top 100 items: the mean shortest path from the user to those of the m
nearest users in the tree who rated the item. Items that nobody of them rated have none. The correlation over all cold users of
NDCG with the mean of the profile, one for each fold and seed, is what the paper gives the range of.

Controls go through the same recommender: m random users, the m nearest in a random tree, and in a tree of the number of contacts
alone. The most popular items come from no community and have no profile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from privact.estimator import PrivaCT
from privact.experiments.experiment import Task
from privact.experiments.report.recommendation_rows import Control, refuse_without_controls, row
from privact.experiments.running.kept_parts import KeptParts
from privact.experiments.running.networks import RatedNetwork
from privact.experiments.running.rounds import reported_degrees
from privact.experiments.table3.paper import PAPER as STATED
from privact.experiments.table5.measure import correlate_rows
from privact.experiments.table5.measure import measure as measure_similarity
from privact.query.quality import draw_random_tree
from privact.recommend.cold_start.community_filter import CommunityFilter
from privact.recommend.data.metrics import CUTOFF, score
from privact.recommend.data.splits import FOLDS, Split, split_users
from privact.recommend.neighbours import draw_random_neighbours, find_tree_neighbours
from privact.recommend.popularity import MostPopular
from privact.recommend.recommender import Recommender

__all__ = ["METHODS", "mean_paths", "measure"]

EPSILON = 1.0
SEEDS = 3

METHODS: dict[str, Control | None] = {
    "PrivaCT-CF": None,
    "m random users": "random users",
    "PrivaCT-CF, degree only": "degree only",
    "PrivaCT-CF, random tree": "random tree",
    "most popular": "most popular",
}
"""Who is compared, and which control each is."""


def measure(task: Task) -> dict[str, Any]:
    """NDCG against distance, and the similarity of ratings (Table 5); quick: fewer users, one fold and one seed."""
    similarity = measure_similarity(task)
    parts = KeptParts(task.parts, version=2)
    folds, seeds = (1, 1) if task.quick else (FOLDS, SEEDS)
    names = task.names()
    rows, correlations = [], []
    done, total = 0, len(names) * seeds
    for name in names:
        network = task.networks.rated(name)
        runs: list[dict[str, Any]] = []
        for seed in range(seeds):
            task.progress(f"{name}: communities and NDCG", done, total)
            described = {
                "experiment": "distance",
                "dataset": name,
                "data": network.content,
                "seed": seed,
                "folds": folds,
                "epsilon": EPSILON,
            }
            runs += parts.get_or_run(described, lambda n=network, s=seed: {"runs": list(measure_folds(n, s, folds))})["runs"]  # type: ignore[misc]
            done += 1
        for method, control in METHODS.items():
            mine = [each[method] for each in runs]
            rows.append(
                row(
                    name,
                    "cold start",
                    method,
                    epsilon=None if method == "most popular" else EPSILON,
                    private=True,
                    control=control,
                    ndcg=[each["ndcg"] for each in mine],
                    average_precision=[each["map"] for each in mine],
                    folds=folds,
                    seeds=seeds,
                    paper=STATED.get(name, {}).get(method),
                )
            )
            if method != "most popular":
                paths = {key: [each[key] for each in mine] for key in ("correlation", "mean_path", "points")}
                correlations.append({"dataset": name, "method": method, "control": control, **paths})
    return {
        "quick": task.quick,
        "rows": refuse_without_controls(rows),
        "correlations": correlations,
        "likeness": similarity["rows"],
    }


def measure_folds(network: RatedNetwork, seed: int, folds: int) -> Iterator[dict[str, dict[str, Any]]]:
    """For each fold and method: NDCG, MAP, the correlation of NDCG with distance, the mean path, and some users as points."""
    from scipy.sparse.csgraph import shortest_path

    steps = shortest_path(network.graph.to_scipy(), unweighted=True)
    communities = _find_communities(network, seed)
    for split in list(split_users(network.ratings, np.random.default_rng([seed, 1]), FOLDS))[:folds]:
        found: dict[str, dict[str, Any]] = {}
        for method in METHODS:
            members = communities.get(method)
            recommender: Recommender = MostPopular() if members is None else CommunityFilter(members)
            ranked = recommender.fit(split.train).rank(split.users, CUTOFF)
            scores = score(ranked, split.relevant)
            found[method] = {"ndcg": scores.mean_ndcg, "map": scores.mean_average_precision}
            if members is not None:
                found[method] |= _against_distance(scores.ndcg, mean_paths(steps, members, split, ranked))
        yield found


def _find_communities(network: RatedNetwork, seed: int) -> dict[str, csr_array]:
    """N(u) of each method but the most popular items, m as each user's own report says."""
    graph = network.graph
    played = PrivaCT(EPSILON, denoise=False, search="gentree", random_state=seed).fit(graph)
    by_degree = PrivaCT(EPSILON, n_bins=1, balance=0.0, random_state=seed).fit(graph)
    rng = np.random.default_rng([seed, 2])
    many = reported_degrees(played)
    return {
        "PrivaCT-CF": find_tree_neighbours(played.tree_, many),
        "m random users": draw_random_neighbours(graph.n_users, many, rng),
        "PrivaCT-CF, degree only": find_tree_neighbours(by_degree.tree_, reported_degrees(by_degree)),
        "PrivaCT-CF, random tree": find_tree_neighbours(draw_random_tree(graph.n_users, rng), many),
    }


def mean_paths(
    steps: NDArray[np.float64], members: csr_array, split: Split, ranked: NDArray[np.integer[Any]]
) -> NDArray[np.float64]:
    """(q) the mean of each cold user's path profile; NaN where nobody in the community rated a listed item.

    steps: (n, n) shortest paths. members: (n, n) N(u), row u. ranked: (q, k) the listed items, -1 where a list has ended.
    """
    means = np.full(len(split.users), np.nan)
    for place, (user, items) in enumerate(zip(split.users.tolist(), ranked, strict=True)):
        near = members.indices[members.indptr[user] : members.indptr[user + 1]]
        near = near[np.isfinite(steps[user, near])]
        having = (split.train.binary[near][:, items[items >= 0]]).toarray()
        raters = having.sum(axis=0)
        listed = raters > 0
        if listed.any():
            means[place] = ((steps[user, near] @ having)[listed] / raters[listed]).mean()
    return means


def _against_distance(ndcg: NDArray[np.float64], paths: NDArray[np.float64]) -> dict[str, Any]:
    """The correlation over users with a profile, the mean path, and the mean NDCG by rounded path."""
    there = ~np.isnan(paths)
    [correlation] = correlate_rows(ndcg[None, :], np.where(there, paths, 0.0)[None, :], there[None, :])
    near = np.rint(paths[there])
    points = [[float(step), float(ndcg[there][near == step].mean()), int((near == step).sum())] for step in np.unique(near)]
    return {
        "correlation": None if np.isnan(correlation) else float(correlation),
        "mean_path": float(paths[there].mean()) if there.any() else None,
        "points": points,
    }
