"""The demo: a made-up federated network, every device played with real noise, and what the trees know about contacts.

Two rounds at the same epsilon, one with random bins as in the paper and one whose bins are the home servers, show what bins that
mean something do. The controls are a tree learned from the noisy number of contacts alone, a random tree, and the same trees
without noise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import log

import numpy as np

from privact.errors import InputError
from privact.network.simulate import degree_vectors, play_devices
from privact.network.synthetic import FederatedNetwork, federated_network
from privact.protocol.bins import assign_bins
from privact.protocol.labels import LabelTable
from privact.protocol.round import Round, default_bins
from privact.query.quality import random_tree, share_of_contacts
from privact.tree.clusters import Cluster
from privact.tree.hct import HierarchicalClusterTree
from privact.tree.learn import learn_tree
from privact.tree.posterior import CountPosterior

__all__ = ["SIZES", "CommunityView", "Demo", "Quality", "play_demo"]

SIZES = (5, 15, 50)
"""How many users the communities have at least that the demo shows."""

FEWEST_USERS = 300
N_SERVERS = 16

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Quality:
    """The share of true contacts among a user's nearest users, for one kind of tree.

    name: what the tree was learned from.
    noisy: learned from the devices' reports.
    exact: learned from exact counts.
    """

    name: str
    noisy: float
    exact: float


@dataclass(frozen=True)
class CommunityView:
    """A community of the shown user.

    size: how many users it has; at_least: how many were asked for.
    servers: home servers of its users and how many live there, most frequent first.
    contacts: how many of the user's contacts are in it, which only the simulator knows.
    by_chance: how many of them as many random users would hold on average.
    """

    at_least: int
    size: int
    servers: list[tuple[str, int]]
    contacts: int
    by_chance: float


@dataclass(frozen=True, eq=False)
class Demo:
    """What happened.

    network: the made-up network.
    round: the round with home servers as bins; its tree is the one to look at.
    tree: learned from that round's reports.
    qualities: that tree beside others.
    user: the user who is shown: a usual number of contacts, and communities whose sizes are near those asked for.
    nearest: the users nearest to that user, whether each is a true contact, and the size of the community they share.
    communities: the user's communities at three granularities.
    """

    network: FederatedNetwork
    round: Round
    tree: HierarchicalClusterTree
    qualities: list[Quality]
    user: str
    nearest: list[tuple[str, bool, int]]
    communities: list[CommunityView]


def play_demo(n_users: int = 2000, epsilon: float = 1.0, seed: int = 0, tell: Tell | None = None) -> Demo:
    """Build the network, play all devices, learn the trees and judge them.

    n_users: users of the network.
    epsilon: the promise per contact in each round.
    seed: decides the network and the search. The devices' noise has no seed: each run gives other reports.
    tell: called with (what is done, how much, of how much).
    """
    if n_users < FEWEST_USERS:
        raise InputError(f"{n_users} users are too few to show communities: give at least {FEWEST_USERS}")
    tell = tell or (lambda stage, done, total: None)
    tell("building the network", 0, 0)
    network = federated_network(
        n_users, mean_degree=30.0 * min(1.0, n_users / 2000), n_servers=N_SERVERS, server_loyalty=0.8, random_state=seed
    )
    graph = network.graph
    rng = np.random.default_rng([seed, n_users])
    homes = dict(zip(graph.users, network.servers.tolist(), strict=True))
    table = LabelTable.from_labels(homes, N_SERVERS, key=rng.bytes(16))
    by_servers = Round(
        id="demo-servers", epsilon=epsilon, n_bins=N_SERVERS, n_users=n_users, bins="labels", labels_digest=table.digest()
    )
    by_chance = Round(id="demo-random", epsilon=epsilon, n_bins=default_bins(n_users), n_users=n_users, seed=rng.bytes(16))
    by_degree = Round(id="demo-degree", epsilon=epsilon, n_bins=1, n_users=n_users, seed=rng.bytes(16))

    adjacency = graph.to_scipy()
    qualities, trees = [], {}
    for name, round, labels in (
        ("number of contacts only", by_degree, None),
        (f"{by_chance.n_bins} random bins, as in the paper", by_chance, None),
        (f"{N_SERVERS} home servers as bins", by_servers, table),
    ):
        noisy = _learn(network, round, labels, name, seed, tell)
        exact = _learn_exact(network, round, labels, name, seed, tell)
        qualities.append(Quality(name, share_of_contacts(noisy, adjacency), share_of_contacts(exact, adjacency)))
        trees[round.id] = noisy
    nothing = share_of_contacts(random_tree(n_users, rng), adjacency)
    qualities.insert(0, Quality("nothing: a random tree", nothing, nothing))
    tree = trees[by_servers.id].with_parameters(
        {
            "round": by_servers.id,
            "epsilon": epsilon,
            "epsilon_report": by_servers.epsilon_report,
            "n_bins": N_SERVERS,
            "bins": "labels",
            "labels_digest": table.digest().hex(),
            "denoise": True,
            "search": "linkage+gentree",
        }
    )
    user = _shown_user(network, tree)
    contacts = frozenset(graph.neighbours(user))
    nearest = [(str(other), other in contacts, size) for other, size in tree.nearest(user, 10)]
    communities = [_view(network, tree.community(user, size), size, contacts) for size in SIZES]
    return Demo(network, by_servers, tree, qualities, user, nearest, communities)


def _learn(
    network: FederatedNetwork, round: Round, labels: LabelTable | None, name: str, seed: int, tell: Tell
) -> HierarchicalClusterTree:
    """The tree of a round that every device answers."""
    graph = network.graph
    reports = play_devices(graph, round, labels, lambda done, total: tell(f"devices: {name}", done, total))
    tell(f"learning: {name}", 0, 0)
    posterior = CountPosterior.fit(reports, round.epsilon_report, equal_bins=labels is None)
    return learn_tree(posterior.embed(reports), users=graph.users, random_state=seed)


def _learn_exact(
    network: FederatedNetwork, round: Round, labels: LabelTable | None, name: str, seed: int, tell: Tell
) -> HierarchicalClusterTree:
    """The tree that the round would give without noise."""
    graph = network.graph
    tell(f"without noise: {name}", 0, 0)
    exact = degree_vectors(graph, assign_bins(graph.users, round, labels), round.n_bins)
    return learn_tree(exact, users=graph.users, random_state=seed)


def _shown_user(network: FederatedNetwork, tree: HierarchicalClusterTree) -> str:
    """Of the tenth of users with the most usual number of contacts, the one whose communities are nearest to the sizes asked."""
    degrees = network.graph.degrees
    usual = np.argsort(np.abs(degrees - degrees.mean()), kind="stable")[: -(-len(degrees) // 10)]

    def excess(row: int) -> float:
        return sum(log(tree.community(network.graph.users[row], size).size / size) for size in SIZES)

    return network.graph.users[min(usual.tolist(), key=excess)]


def _view(network: FederatedNetwork, community: Cluster, at_least: int, contacts: frozenset[str]) -> CommunityView:
    servers = Counter(network.server_names[network.servers[leaf]] for leaf in community.leaves.tolist())
    inside = sum(1 for user in community.users if user in contacts)
    by_chance = len(contacts) * (community.size - 1) / (network.graph.n_users - 1)
    return CommunityView(at_least, community.size, servers.most_common(), inside, by_chance)
