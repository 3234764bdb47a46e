"""What bins make the tree see: how many random ones there are, and what they mean.

The first part varies the number of random bins on the paper's networks. The second needs users whose home server is known: a
made-up federated network, in which random bins, home servers and taste groups are compared. Taste groups on the paper's own
networks are in communities.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from privact.estimator import PrivaCT
from privact.experiments.bins_page import draw, meaning_claim, number_claim, page
from privact.experiments.kept_parts import Cells
from privact.experiments.results import Findings
from privact.experiments.tree_quality import PAPER, bins_sweep
from privact.learn.search.learn_tree import learn_tree
from privact.network.datasets import load_dataset
from privact.progress import Tell
from privact.protocol.round import default_bins
from privact.query.quality import random_tree, share_of_contacts
from privact.recommend.data.ratings import Ratings
from privact.recommend.taste_groups import taste_groups
from privact.simulate.federated_network import federated_network
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["Meaning", "bins", "made_up_rows", "meanings"]

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


def meanings() -> list[Meaning]:
    """Every tree of the second part; random bins by counts, the paper's setting, first."""
    found = [Meaning("random", "counts")]
    found += [
        Meaning(kind, profile) for kind in ("home servers", "taste groups") for profile in ("counts", "shares", "shares+own")
    ]
    found += [Meaning(kind, "own group only", control=True) for kind in ("home servers", "taste groups")]
    return [*found, Meaning("one", "counts", control=True), Meaning("none", "random tree", control=True)]


def bins(data: str | None, output: Path | None, quick: bool, tell: Tell) -> Findings:
    """Both parts.

    data: folder of the datasets. output: where finished parts are kept, in a folder `cells`; None keeps none.
    quick: lastfm only, one run of each tree, and a smaller made-up network. tell: is told what is running, how much is done, of
    how much.
    """
    cells = Cells(None if output is None else output / "cells")
    names = ["lastfm"] if quick else list(PAPER)
    seeds, n_users = (1, 800) if quick else (2, 2000)
    numbers: list[dict[str, Any]] = []
    for done, name in enumerate(names):
        graph = load_dataset(name, data).graph

        def sweep(graph: Any = graph, name: str = name, done: int = done) -> dict[str, Any]:
            return {"rows": list(bins_sweep(graph, seeds, lambda text: tell(f"{name}: {text}", done, len(names) + 1)))}

        described = {"experiment": "bins", "dataset": name, "users": graph.n_users, "contacts": graph.n_edges, "seeds": seeds}
        numbers += [{"dataset": name, **row} for row in cells.get_or_run(described, sweep)["rows"]]
    tell("a made-up network with home servers", len(names), len(names) + 1)
    runs = [
        cells.get_or_run(
            {"experiment": "bins, made-up network", "users": n_users, "seed": seed, "epsilon": EPSILON},
            lambda s=seed: {"shares": made_up_rows(n_users, s)},  # type: ignore[misc]
        )["shares"]
        for seed in range(seeds)
    ]
    meant = [
        {**meaning._asdict(), "share_of_contacts": float(np.mean(column)), "runs": list(column)}
        for meaning, column in zip(meanings(), zip(*runs, strict=True), strict=True)
    ]
    return Findings(
        "bins",
        "Bins: what they make the tree see",
        {"seeds": seeds, "epsilon": EPSILON, "numbers": numbers, "made_up": {"n_users": n_users, "rows": meant}},
        page(numbers, meant, n_users, seeds),
        [number_claim(numbers), meaning_claim(meant)],
        lambda figure: draw(figure, numbers, meant),
    )


def made_up_rows(n_users: int, seed: int) -> list[float]:
    """Share of true contacts among the nearest users for each of `meanings`, on a network of this seed."""
    network = federated_network(n_users, n_servers=SERVERS, random_state=seed)
    user, artist, plays = network.ratings.T
    rated = csr_array((plays, (user, artist)), shape=(n_users, len(network.artist_names)))
    taste = taste_groups(Ratings.from_csr(rated), SERVERS, np.random.default_rng(seed))
    labels = {"home servers": network.servers, "taste groups": taste.labels}
    adjacency = network.graph.to_scipy()
    return [share_of_contacts(_tree(each, network.graph, labels.get(each.bins), seed), adjacency) for each in meanings()]


def _tree(meaning: Meaning, graph: Any, labels: Any, seed: int) -> HierarchicalClusterTree:
    if meaning.bins == "none":
        return random_tree(graph.n_users, np.random.default_rng([seed, graph.n_users]))
    if meaning.profile == "own group only":
        return learn_tree(np.eye(int(labels.max()) + 2)[labels], random_state=seed)  # users without a group are a group
    given: dict[str, Any] = {"n_bins": 1 if meaning.bins == "one" else default_bins(graph.n_users)}
    if labels is not None:
        given = {"bins": labels}
    return PrivaCT(EPSILON, profile=meaning.profile, random_state=seed, **given).fit(graph).tree_
