"""The demo: a made-up federated network, a real aggregator, every device answering over HTTP with real noise, and what the
released trees know about contacts.

Three rounds at the same epsilon: bins that are the home servers, random bins as in the paper, and a single bin, which tells the
number of contacts alone. The other controls are a random tree, and the same trees without noise. `demo_series` adds what is found
without home servers.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from privact.errors import InputError, PrivaCTError
from privact.learn.search.learn_tree import learn_tree
from privact.progress import Progress
from privact.protocol.addresses import aggregator_address
from privact.protocol.bins import assign_round_bins
from privact.protocol.labels import LabelTable
from privact.protocol.round import Round, default_bins
from privact.query.quality import draw_random_tree, measure_contact_share
from privact.simulate.demo_series import Found, compare_series
from privact.simulate.federated_network import FederatedNetwork, make_federated_network
from privact.simulate.http_devices import Operator, make_reports, send_reports
from privact.simulate.local_aggregator import LocalAggregator, run_aggregator
from privact.simulate.reports import degree_vectors
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["SIZES", "CommunityView", "Demo", "Quality", "Suggestions", "play_demo"]

SIZES = (5, 15, 50)
"""How many users the communities have at least that the demo shows."""

FEWEST_USERS = 300
N_SERVERS = 16
SUGGESTED = 4
INTRODUCED = 8
"""How many items each of three users is recommended."""


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


@dataclass(frozen=True)
class Suggestions:
    """What one user without ratings is recommended.

    user: the id.
    items: name, reason, and whether the user really plays it, which only the simulator knows; best first.
    """

    user: str
    items: list[tuple[str, str, bool]]


@dataclass(frozen=True, eq=False)
class Demo:
    """What happened.

    network: the made-up network.
    round: the round with home servers as bins; its tree is the one to look at.
    tree: that round's tree, as the aggregator released it.
    rows: the row in the network of each leaf of the tree.
    sending: seconds that it took to send the reports of all rounds. reports: how many they were.
    qualities: that tree beside others.
    user: the user who is shown: a usual number of contacts, and communities whose sizes are near those asked for.
    nearest: the users nearest to that user, whether each is a true contact, and the size of the community they share.
    communities: the user's communities at three granularities.
    people: whom the user may know, with reasons, and whether each is a true contact; a device would leave out those.
    suggestions: recommendations for three users whose plays were not uploaded.
    one_round, series: what is found without home servers, by one round over random bins and by a series of the same epsilon.
    """

    network: FederatedNetwork
    round: Round
    tree: HierarchicalClusterTree
    rows: list[int]
    sending: float
    reports: int
    qualities: list[Quality]
    user: str
    nearest: list[tuple[str, bool, int]]
    communities: list[CommunityView]
    people: list[tuple[str, str, bool]]
    suggestions: list[Suggestions]
    one_round: Found
    series: Found


def play_demo(n_users: int = 2000, epsilon: float = 1.0, seed: int = 0, progress: Progress | None = None) -> Demo:
    """Build the network, start an aggregator, play all devices against it, and judge the trees it releases.

    n_users: users of the network.
    epsilon: the promise per contact in each round.
    seed: decides the network and the search. The devices' noise has no seed: each run gives other reports.
    progress: told the stage, what is done, and the total.
    """
    if n_users < FEWEST_USERS:
        raise InputError(f"{n_users} users are too few to show communities: give at least {FEWEST_USERS}")
    progress = progress or (lambda stage, done, total: None)
    progress("building the network", 0, 0)
    network = make_federated_network(
        n_users, mean_degree=30.0 * min(1.0, n_users / 2000), n_servers=N_SERVERS, server_loyalty=0.8, random_state=seed
    )
    progress("starting an aggregator", 0, 0)
    with run_aggregator(ratings_verb="play") as aggregator:
        return _play(network, aggregator, epsilon, seed, progress)


def _play(network: FederatedNetwork, aggregator: LocalAggregator, epsilon: float, seed: int, progress: Progress) -> Demo:
    """Everything that needs the aggregator, and the judging."""
    operator = Operator(aggregator_address(aggregator.url), aggregator.operator_token)
    names = {
        "demo-degree": "number of contacts only",
        "demo-random": f"{default_bins(network.graph.n_users)} random bins, as in the paper",
        "demo-servers": f"{N_SERVERS} home servers as bins",
    }
    tokens = operator.enrol(network.graph.names, progress)
    sending, rounds = 0.0, {}
    for id, n_bins in (("demo-degree", 1), ("demo-random", None), ("demo-servers", None)):
        rounds[id] = _open_round(operator, network, id, n_bins, epsilon, seed)
        sending += _answer(operator, network, aggregator, rounds[id], tokens, progress)
        operator.ask("POST", f"/v1/rounds/{id}/close")
    trees = {id: _wait_for_tree(operator, id, progress) for id in rounds}
    rows = [network.graph.row(user) for user in trees["demo-servers"].users or ()]
    adjacency = network.graph.to_scipy()[rows][:, rows]
    nothing = measure_contact_share(draw_random_tree(len(rows), np.random.default_rng(seed)), adjacency)
    qualities = [Quality("nothing: a random tree", nothing, nothing)]
    for id, (round, labels) in rounds.items():
        progress(f"without noise: {names[id]}", 0, 0)
        exact = degree_vectors(network.graph, assign_round_bins(network.graph.names, round, labels), round.n_bins)
        ideal = learn_tree(exact[rows], random_state=seed)
        qualities.append(Quality(names[id], measure_contact_share(trees[id], adjacency), measure_contact_share(ideal, adjacency)))
    tree = trees["demo-servers"]
    user = _shown_user(network, tree)
    contacts = frozenset(map(str, network.graph.neighbours(user)))
    path = "/v1/rounds/demo-servers/tree"
    near = operator.ask("GET", f"{path}/nearest?m=10&user={quote(user)}").json()["nearest"]
    nearest = [(found["user"], found["user"] in contacts, found["community_size"]) for found in near]
    communities = [
        _view(network, operator.ask("GET", f"{path}/community?size={size}&limit=1000&user={quote(user)}").json(), size, contacts)
        for size in SIZES
    ]
    progress("recommending", 0, 0)
    person = Operator(aggregator_address(aggregator.url), tokens[user])
    known = person.ask_when_ready(f"/v1/rounds/demo-servers/people?k={INTRODUCED}").json()["people"]
    people = [(found["user"], found["reason"], found["user"] in contacts) for found in known]
    suggestions = _ask_for_recommendations(operator, network, aggregator, tokens, user)
    one_round, series = compare_series(network.graph, seed=seed, progress=progress)
    return Demo(
        network=network,
        round=rounds["demo-servers"][0],
        tree=tree,
        rows=rows,
        sending=sending,
        reports=len(rounds) * len(rows),
        qualities=qualities,
        user=user,
        nearest=nearest,
        communities=communities,
        people=people,
        suggestions=suggestions,
        one_round=one_round,
        series=series,
    )


def _ask_for_recommendations(
    operator: Operator, network: FederatedNetwork, aggregator: LocalAggregator, tokens: dict[str, str], user: str
) -> list[Suggestions]:
    """Upload all plays except those of three users, and request recommendations as each of these."""
    first = network.graph.row(user)
    cold = [(first + step) % network.graph.n_users for step in range(3)]
    lines = [
        f"{network.graph.names[row]}\t{network.artist_names[artist]}\t{plays}\n"
        for row, artist, plays in network.ratings.tolist()
        if row not in cold
    ]
    operator.ask("PUT", "/v1/ratings", content="".join(["user\titem\trating\n", *lines]).encode())
    found = []
    for row in cold:
        name = network.graph.names[row]
        plays = {network.artist_names[artist] for owner, artist, _ in network.ratings.tolist() if owner == row}
        person = Operator(aggregator_address(aggregator.url), tokens[name])
        answer = person.ask_when_ready(f"/v1/rounds/demo-servers/recommendations?k={SUGGESTED}").json()
        found.append(Suggestions(name, [(item["item"], item["reason"], item["item"] in plays) for item in answer["items"]]))
    return found


def _open_round(
    operator: Operator, network: FederatedNetwork, id: str, n_bins: int | None, epsilon: float, seed: int
) -> tuple[Round, LabelTable | None]:
    """Create and open a round as its operator does; gives what every device downloads."""
    by_servers = id == "demo-servers"
    wish = {"id": id, "epsilon": epsilon, "n_bins": n_bins, "bins": "labels" if by_servers else "random", "search_seed": seed}
    operator.ask("POST", "/v1/rounds", wish)
    if by_servers:
        homes = zip(network.graph.names, network.servers.tolist(), strict=True)
        lines = "".join(f"{user},{network.server_names[home]}\n" for user, home in homes)
        operator.ask("PUT", f"/v1/rounds/{id}/labels", content=lines.encode())
    operator.ask("POST", f"/v1/rounds/{id}/open")
    round = operator.parameters(id)
    return round, operator.labels(round)


def _answer(
    operator: Operator,
    network: FederatedNetwork,
    aggregator: LocalAggregator,
    opened: tuple[Round, LabelTable | None],
    tokens: dict[str, str],
    progress: Progress,
) -> float:
    """Every device counts its contacts, draws its noise and sends its report; gives the seconds of sending."""
    graph, (round, labels) = network.graph, opened
    reports = make_reports(graph, graph.names, round, labels, progress)
    each = [tokens[user] for user in graph.names]
    sent = send_reports(aggregator_address(aggregator.url), round.id, each, reports, progress)
    if sent.accepted != graph.n_users:
        raise PrivaCTError(f"round {round.id}: {graph.n_users - sent.accepted} reports were not accepted: {sent.refusal}")
    progress("devices answer", graph.n_users, graph.n_users)
    return sent.seconds


def _wait_for_tree(operator: Operator, id: str, progress: Progress) -> HierarchicalClusterTree:
    """The tree of a closed round, downloaded once it is released."""
    operator.released(id, progress)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.hct"
        path.write_bytes(operator.ask("GET", f"/v1/rounds/{id}/tree/download?format=hct").content)
        return HierarchicalClusterTree.load(path)


def _shown_user(network: FederatedNetwork, tree: HierarchicalClusterTree) -> str:
    """Of the tenth of users with the most usual number of contacts, the one whose communities are nearest to the sizes asked."""
    degrees = network.graph.degrees
    usual = np.argsort(np.abs(degrees - degrees.mean()), kind="stable")[: -(-len(degrees) // 10)]

    def excess(row: int) -> float:
        return sum(abs(log(tree.community(network.graph.names[row], size).size / size)) for size in SIZES)

    return network.graph.names[min(usual.tolist(), key=excess)]


def _view(network: FederatedNetwork, found: dict[str, Any], at_least: int, contacts: frozenset[str]) -> CommunityView:
    members = [member["user"] for member in found["users"]]
    homes = Counter(network.server_names[network.servers[network.graph.row(user)]] for user in members)
    inside = sum(1 for user in members if user in contacts)
    by_chance = len(contacts) * (len(members) - 1) / (network.graph.n_users - 1)
    return CommunityView(at_least, len(members), homes.most_common(), inside, by_chance)
