"""What bins make the tree see: how many random ones there are, and what they mean.

The first part varies the number of random bins on the paper's networks. The second needs users whose home server is known: a
made-up federated network, in which random bins, home servers and taste groups are compared. Taste groups on the paper's own
networks are in the experiment on communities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from privact.estimator import PrivaCT
from privact.experiments.experiment import Task
from privact.experiments.running.kept_parts import KeptParts
from privact.experiments.running.seeded_trees import EPSILONS, SeededNetwork, denoise
from privact.learn.search.learn_tree import learn_tree
from privact.network.graph import ContactGraph
from privact.protocol.round import default_bins
from privact.query.quality import draw_random_tree, measure_contact_share
from privact.recommend.data.ratings import Ratings
from privact.recommend.taste_groups import find_taste_groups
from privact.simulate.federated_network import make_federated_network
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["Meaning", "choose_bin_counts", "list_meanings", "measure", "measure_made_up", "sweep_bins"]

EPSILON = 1.0
SERVERS = 12


class Meaning(NamedTuple):
    """What a tree of the second part is learned from.

    bins: random, home servers, taste groups, one, or none. profile: what users are compared by. control: whether it is there to
    compare with.
    """

    bins: str
    profile: str
    control: bool = False


def list_meanings() -> list[Meaning]:
    """Every tree of the second part; random bins by counts, the paper's setting, first."""
    found = [Meaning("random", "counts")]
    found += [
        Meaning(kind, profile) for kind in ("home servers", "taste groups") for profile in ("counts", "shares", "shares+own")
    ]
    found += [Meaning(kind, "own group only", control=True) for kind in ("home servers", "taste groups")]
    return [*found, Meaning("one", "counts", control=True), Meaning("none", "random tree", control=True)]


def measure(task: Task) -> dict[str, Any]:
    """Both parts; quick: lastfm only, one run of each tree, and a smaller made-up network."""
    parts = KeptParts(task.parts)
    names = task.names(quick=("lastfm",))
    seeds, n_users = (1, 800) if task.quick else (2, 2000)
    numbers: list[dict[str, Any]] = []
    for done, name in enumerate(names):
        graph = task.networks.graph(name)

        def show(text: str, name: str = name, done: int = done) -> None:
            task.progress(f"{name}: {text}", done, len(names) + 1)

        def sweep(graph: ContactGraph = graph, show: Callable[[str], None] = show) -> dict[str, Any]:
            return {"rows": list(sweep_bins(graph, seeds, show))}

        described = {"experiment": "bins", "dataset": name, "users": graph.n_users, "contacts": graph.n_edges, "seeds": seeds}
        numbers += [{"dataset": name, **row} for row in parts.get_or_run(described, sweep)["rows"]]
    task.progress("a made-up network with home servers", len(names), len(names) + 1)
    runs = [
        parts.get_or_run(
            {"experiment": "bins, made-up network", "users": n_users, "seed": seed, "epsilon": EPSILON},
            lambda s=seed: {"shares": measure_made_up(n_users, s)},  # type: ignore[misc]
        )["shares"]
        for seed in range(seeds)
    ]
    meant = [
        {**meaning._asdict(), "share_of_contacts": float(np.mean(column)), "runs": list(column)}
        for meaning, column in zip(list_meanings(), zip(*runs, strict=True), strict=True)
    ]
    return {"seeds": seeds, "epsilon": EPSILON, "numbers": numbers, "made_up": {"n_users": n_users, "rows": meant}}


def choose_bin_counts(n_users: int) -> list[int]:
    """1, 3, floor(ln n), floor(2 ln n) and floor(sqrt n) bins."""
    return [1, 3, default_bins(n_users), int(2 * np.log(n_users)), int(np.sqrt(n_users))]


def sweep_bins(graph: ContactGraph, seeds: int, progress: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """What K does: loss against the noise-free tree of the same K, and true contacts among the nearest users."""
    adjacency = graph.to_scipy()
    for n_bins in choose_bin_counts(graph.n_users):
        progress(f"{n_bins} bins")
        runs = [SeededNetwork(graph, n_bins, seed) for seed in range(seeds)]
        for epsilon in (*EPSILONS, None):
            losses, shares = [], []
            for run in runs:
                points = Embedding.from_counts(run.vectors) if epsilon is None else denoise(run.reports(epsilon), epsilon)
                tree = learn_tree(points, balance=0.0, random_state=run.seed)
                losses.append(run.loss(tree))
                shares.append(measure_contact_share(tree, adjacency))
            yield {
                "n_bins": n_bins,
                "epsilon": epsilon,
                "loss": float(np.mean(losses)),
                "share_of_contacts": float(np.mean(shares)),
            }


def measure_made_up(n_users: int, seed: int) -> list[float]:
    """Share of true contacts among the nearest users for each of `list_meanings`, on a network of this seed."""
    network = make_federated_network(n_users, n_servers=SERVERS, random_state=seed)
    user, artist, plays = network.ratings.T
    rated = csr_array((plays, (user, artist)), shape=(n_users, len(network.artist_names)))
    taste = find_taste_groups(Ratings.from_csr(rated), SERVERS, np.random.default_rng(seed))
    labels = {"home servers": network.servers, "taste groups": taste.labels}
    adjacency = network.graph.to_scipy()
    return [measure_contact_share(_tree(each, network.graph, labels.get(each.bins), seed), adjacency) for each in list_meanings()]


def _tree(meaning: Meaning, graph: Any, labels: Any, seed: int) -> HierarchicalClusterTree:
    if meaning.bins == "none":
        return draw_random_tree(graph.n_users, np.random.default_rng([seed, graph.n_users]))
    if meaning.profile == "own group only":
        return learn_tree(
            np.eye(int(labels.max()) + 2)[labels], balance=0.0, random_state=seed
        )  # users without a group are a group
    given: dict[str, Any] = {"n_bins": 1 if meaning.bins == "one" else default_bins(graph.n_users)}
    if labels is not None:
        given = {"bins": labels}
    return PrivaCT(EPSILON, profile=meaning.profile, balance=0.0, random_state=seed, **given).fit(graph).tree_
