"""What a tree knows about contacts, by what its bins mean and by what users are compared: communities.json, .md and .png.

The order of a dataset's file follows its contacts, and users whom a tree cannot tell apart keep the order they came in. So users
are shuffled before each run; without that, ties alone would pass for knowledge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from privact.estimator import PrivaCT
from privact.experiments.communities.most_connected import measure_most_connected
from privact.experiments.experiment import Task
from privact.experiments.report.recommendation_rows import ROW
from privact.experiments.running.kept_parts import KeptParts
from privact.experiments.running.networks import RatedNetwork, shuffle_users
from privact.learn.search.learn_tree import learn_tree
from privact.network.graph import ContactGraph
from privact.protocol.round import default_bins
from privact.query.quality import draw_random_tree, measure_tree_quality
from privact.recommend.taste_groups import find_taste_groups
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["GROUPS", "MOST_CONNECTED", "Setting", "list_settings", "measure", "measure_trees", "summarize"]

GROUPS = (8, 16, 32)
"""How many taste groups users are put in."""

EPSILONS: tuple[float | None, ...] = (1.0, 2.0, None)
MOST_CONNECTED = "most connected users"
MEASURES = ("share_of_contacts", "share_of_two_hop", "mean_path", "auc")


class Setting(NamedTuple):
    """What a tree is learned from.

    bins: in words. n_bins: how many; 0 for a tree that no report goes into.
    profile: what users are compared by. control: whether it is there to compare with.
    """

    bins: str
    n_bins: int
    profile: str
    control: bool = False


def list_settings(n_users: int) -> list[Setting]:
    """Every tree of the table: the paper's random bins first, which all others are compared with."""
    found = [Setting("random", default_bins(n_users), profile) for profile in ("counts", "shares")]
    found += [Setting("taste groups", k, profile) for k in GROUPS for profile in ("counts", "shares", "shares+own")]
    found += [Setting("taste groups", k, "own group only", control=True) for k in GROUPS]
    found += [Setting("no tree", default_bins(n_users), MOST_CONNECTED, control=True)]
    return [*found, Setting("one", 1, "counts", control=True), Setting("none", 0, "random tree", control=True)]


def measure(task: Task) -> dict[str, Any]:
    """Learn every tree on every network and compare it with the contacts; quick: lastfm at epsilon 1 only."""
    names, seeds = task.names(quick=("lastfm",)), task.options["seeds"]
    epsilons = EPSILONS[:1] if task.quick else EPSILONS
    parts = KeptParts(task.parts, version=3)
    task.networks.require_ratings(names)
    rows: list[dict[str, Any]] = []
    done, total = 0, len(names) * len(epsilons) * seeds
    for name in names:
        network = task.networks.rated(name)
        for epsilon in epsilons:
            runs = []
            for seed in range(seeds):
                task.progress(f"{name}: {'no noise' if epsilon is None else f'epsilon {epsilon:g}'}", done, total)
                described: dict[str, Any] = {"experiment": "communities", "dataset": name, "data": network.content, "seed": seed}
                described |= {"epsilon": epsilon, "groups": GROUPS}

                def run(network: RatedNetwork = network, epsilon: float | None = epsilon, seed: int = seed) -> dict[str, Any]:
                    return {"trees": list(measure_trees(network, epsilon, seed))}

                runs.append(parts.get_or_run(described, run))
                done += 1
            rows += summarize(name, epsilon, list_settings(network.graph.n_users), [each["trees"] for each in runs])
    return {"seeds": seeds, "rows": [_full_row(each) for each in rows]}


def measure_trees(network: RatedNetwork, epsilon: float | None, seed: int) -> Iterator[dict[str, float]]:
    """The quality of each tree of `list_settings`, with users in random order."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(network.graph.n_users)
    graph = shuffle_users(network.graph, order)
    ratings = network.ratings.for_users(graph.users)
    adjacency = graph.to_scipy()
    groups = {k: find_taste_groups(ratings, k, rng) for k in GROUPS}
    for setting in list_settings(graph.n_users):
        if setting.profile == MOST_CONNECTED:
            yield measure_most_connected(graph, epsilon, setting.n_bins, seed)
            continue
        labels = groups[setting.n_bins].labels if setting.bins == "taste groups" else None
        quality = asdict(measure_tree_quality(_tree(setting, graph, labels, epsilon, seed), adjacency))
        yield {measure: quality[measure] for measure in MEASURES}


def _tree(setting: Setting, graph: ContactGraph, labels: Any, epsilon: float | None, seed: int) -> HierarchicalClusterTree:
    if setting.profile == "random tree":
        return draw_random_tree(graph.n_users, np.random.default_rng([seed, graph.n_users]))
    if setting.profile == "own group only":
        return learn_tree(np.eye(setting.n_bins + 1)[labels], balance=0.0, random_state=seed)  # users without a group are a group
    bins = {"bins": labels} if labels is not None else {"n_bins": setting.n_bins}
    return PrivaCT(epsilon, profile=setting.profile, balance=0.0, random_state=seed, **bins).fit(graph).tree_


def _full_row(found: dict[str, Any]) -> dict[str, Any]:
    """A row with the keys that rows of all results have; what is not measured here is null."""
    names = {"one": "degree only", "none": "random tree", "no tree": MOST_CONNECTED}
    control = names.get(found["bins"], "own group only") if found["control"] else None
    method = f"{found['bins']} bins, {found['profile']}, K = {found['n_bins']}"
    method = found["profile"] if found["bins"] in ("none", "no tree") else method
    blind = found["profile"] in ("random tree", "own group only")
    told = {"scenario": "communities", "method": method, "private": blind or found["epsilon"] is not None, "control": control}
    return {**dict.fromkeys(ROW), **found, **told}


def summarize(
    dataset: str, epsilon: float | None, trees: list[Setting], runs: list[list[dict[str, float]]]
) -> list[dict[str, Any]]:
    """One row a tree: means over runs, and how many times the share of contacts of the paper's random bins it has."""
    reference = float(np.mean([run[0]["share_of_contacts"] for run in runs]))
    rows = []
    for place, setting in enumerate(trees):
        mine = [run[place] for run in runs]
        shares = [each["share_of_contacts"] for each in mine]
        rows.append(
            {
                "dataset": dataset,
                "bins": setting.bins,
                "n_bins": setting.n_bins,
                "profile": setting.profile,
                "epsilon": epsilon,
                "control": setting.control,
                **{measure: float(np.mean([each[measure] for each in mine])) for measure in MEASURES},
                "share_of_contacts_sd": float(np.std(shares, ddof=1)) if len(shares) > 1 else 0.0,
                "share_of_contacts_runs": shares,
                "ratio": float(np.mean(shares)) / reference,
                "seeds": len(runs),
            }
        )
    return rows
