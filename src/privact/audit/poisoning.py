"""What hostile reports do to the tree of honest users, with and without clamping to what a count can be.

Some users, drawn at random, send what they like instead of a report. The tree is learned from all reports and then restricted
to honest users; the reference is the tree learned when those same users report honestly, restricted likewise. Measures:

    loss        percent of the reference's Dasgupta cost that is lost, on the exact vectors of honest users
    contacts    share of true contacts among an honest user's nearest honest users, as a multiple of the reference's
    clones      share of clones among the 20 users nearest to their victim

Attacks: `huge`, every entry anywhere in the four bytes it has; `in range`, the most contacts that a user can have, spread
evenly over the bins; `one bin`, the same in a single bin, drawn anew for each; `clones`, a copy of one honest user's report, as
if it had leaked: the best that anybody could know. The tree is learned by default from the posterior of the counts, and as
the paper does from the reports as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.errors import InputError
from privact.experiments.running.seeded_trees import random_partition, summarize_runs
from privact.learn.evidence.count_posterior import CountPosterior
from privact.learn.evidence.plausible import plausible_counts
from privact.learn.search.learn_tree import learn_tree
from privact.network.datasets import TABLE_1, load_dataset
from privact.network.graph import ContactGraph
from privact.progress import Progress, ignore_progress
from privact.protocol.report import ENTRY_MAX, ENTRY_MIN
from privact.protocol.round import default_bins, epsilon_per_report
from privact.query.quality import measure_contact_share
from privact.simulate.federated_network import make_federated_network
from privact.simulate.reports import degree_vectors, simulate_reports
from privact.tree.cost import dasgupta_cost
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["ATTACKS", "SHARES", "Setting", "measure", "measure_poisoning", "restrict_tree"]

SHARES: Final = (0.01, 0.05, 0.10)
"""How many of all reports are hostile."""
ATTACKS: Final = ("huge", "in range", "one bin", "clones")
WAYS: Final = ("posterior", "reports")
NEAREST: Final = 20
SERVERS: Final = 16

Ints = NDArray[np.int64]


class Setting(NamedTuple):
    """A network before a round.

    graph: who knows whom.
    bins, n_bins: the bin of each user, and how many there are.
    equal_bins: whether bins were drawn at random.
    epsilon: the promise per edge.
    """

    graph: ContactGraph
    bins: NDArray[np.integer[Any]]
    n_bins: int
    equal_bins: bool
    epsilon: float


@dataclass(frozen=True)
class Outcome:
    """What one attack did in one run; the measures are in the module's docstring, clones is None for other attacks."""

    attack: str
    share: float
    way: str
    clamped: bool
    loss: float
    contacts: float
    clones: float | None


def measure_poisoning(
    data: str | None = None,
    *,
    n_users: int = 1000,
    epsilon: float = 1.0,
    seeds: int = 10,
    progress: Progress = ignore_progress,
) -> dict[str, Any]:
    """Measure every attack at every share of hostile reports on a network, over several seeds.

    data: folder of the paper's networks, each with random bins; by default a synthetic network with home servers as bins.
    n_users: users of the synthetic network.
    epsilon: the promise per edge.
    seeds: runs; each draws its own bins or network, noise, hostile users and victim.
    """
    if seeds < 1:
        raise InputError(f"seeds is {seeds}; at least 1 run is needed: 10 are published")
    graphs = {} if data is None else {name: load_dataset(name, data).graph for name in TABLE_1}
    rows: list[dict[str, Any]] = []
    for name in graphs or ["synthetic"]:
        runs: dict[tuple[str, float, str, bool], list[Outcome]] = {}
        for seed in range(seeds):
            progress(f"{name}: hostile reports", seed, seeds)
            rng = np.random.default_rng(seed)
            setting = _random_bins(graphs[name], epsilon, rng) if graphs else synthetic_setting(n_users, epsilon, seed)
            for found in measure(setting, rng, seed):
                runs.setdefault((found.attack, found.share, found.way, found.clamped), []).append(found)
        rows += [{"network": name, **_row(found)} for found in runs.values()]
    return {"epsilon": epsilon, "seeds": seeds, "nearest": NEAREST, "rows": rows}


def synthetic_setting(n_users: int, epsilon: float, seed: int) -> Setting:
    """A federated network whose bins are home servers.

    n_users: how many users. epsilon: the promise per edge. seed: decides the network.
    """
    degree = min(30.0, n_users / 33.0)
    network = make_federated_network(n_users, mean_degree=degree, n_servers=SERVERS, server_loyalty=0.8, random_state=seed)
    return Setting(network.graph, network.servers, SERVERS, False, epsilon)


def measure(
    setting: Setting,
    rng: np.random.Generator,
    seed: int,
    shares: tuple[float, ...] = SHARES,
    attacks: tuple[str, ...] = ATTACKS,
    ways: tuple[str, ...] = WAYS,
) -> Iterator[Outcome]:
    """One run: honest reports, then every attack at every share on the same reports.

    setting: the network. rng: draws noise, hostile users, victim and attacks. seed: of the tree search.
    shares, attacks, ways: which to measure.
    """
    graph, epsilon_report = setting.graph, epsilon_per_report(setting.epsilon)
    n = graph.n_users
    vectors = degree_vectors(graph, setting.bins, setting.n_bins)
    honest_reports = simulate_reports(vectors, setting.epsilon, rng)
    adjacency = graph.to_scipy().tocsr()
    order = rng.permutation(n)
    victim = int(next(user for user in order[::-1] if graph.degrees[user] > 0))
    poisoned = {
        (attack, share): attack_reports(honest_reports, attack, order[: max(1, round(share * n))], victim, rng)
        for attack in attacks
        for share in shares
    }
    for way in ways:
        clean = _learn(honest_reports, setting, way, seed)
        for (attack, share), reports in poisoned.items():
            hostile = order[: max(1, round(share * n))]
            honest = np.sort(np.setdiff1d(order, hostile))
            among = adjacency[honest][:, honest]
            reference = restrict_tree(clean, honest)
            found: tuple[float, float, float | None] | None = None
            clamped = plausible_counts(reports, n, epsilon_report)
            for is_clamped, learned_from in ((False, reports), (True, clamped)):
                if found is None or not np.array_equal(clamped, reports):
                    tree = _learn(learned_from, setting, way, seed)
                    kept = restrict_tree(tree, honest)
                    found = (
                        100.0 * (1.0 - dasgupta_cost(kept, vectors[honest]) / dasgupta_cost(reference, vectors[honest])),
                        measure_contact_share(kept, among) / measure_contact_share(reference, among),
                        _clones_near(tree, victim, hostile) if attack == "clones" else None,
                    )
                yield Outcome(attack, share, way, is_clamped, *found)


def attack_reports(reports: Ints, attack: str, hostile: Ints, victim: int, rng: np.random.Generator) -> Ints:
    """The reports with those of hostile users replaced.

    reports: (n, K) what honest devices sent. attack: one of ATTACKS. hostile: the users who attack. victim: whose report clones
    send. rng: draws what is left open.
    """
    n, n_bins = reports.shape
    changed = reports.copy()
    if attack == "huge":
        changed[hostile] = rng.integers(ENTRY_MIN, ENTRY_MAX, (len(hostile), n_bins), endpoint=True)
    elif attack == "in range":
        changed[hostile] = rng.multinomial(n - 1, np.full(n_bins, 1.0 / n_bins), len(hostile))
    elif attack == "one bin":
        changed[hostile] = 0
        changed[hostile, rng.integers(0, n_bins, len(hostile))] = n - 1
    elif attack == "clones":
        changed[hostile] = reports[victim]
    else:
        raise InputError(f"attack {attack!r} is unknown: use one of {', '.join(ATTACKS)}")
    return changed


def restrict_tree(tree: HierarchicalClusterTree, leaves: Ints) -> HierarchicalClusterTree:
    """The tree with only some of its leaves: what others leave behind is joined as it was.

    leaves: at least one, ascending; leaf i of the result is leaves[i] of the tree.
    """
    name = np.full(tree.n_nodes, -1).tolist()
    for place, leaf in enumerate(leaves.tolist()):
        name[leaf] = place
    left: list[int] = []
    right: list[int] = []
    for node, a, b in zip(range(tree.n_users, tree.n_nodes), tree.left.tolist(), tree.right.tolist(), strict=True):
        if name[a] >= 0 and name[b] >= 0:
            name[node] = len(leaves) + len(left)
            left.append(name[a])
            right.append(name[b])
        else:
            name[node] = max(name[a], name[b])
    return HierarchicalClusterTree.from_children(left, right)


def _random_bins(graph: ContactGraph, epsilon: float, rng: np.random.Generator) -> Setting:
    n_bins = default_bins(graph.n_users)
    return Setting(graph, random_partition(graph.n_users, n_bins, rng), n_bins, True, epsilon)


def _learn(reports: Ints, setting: Setting, way: str, seed: int) -> HierarchicalClusterTree:
    if way == "reports":
        return learn_tree(reports, random_state=seed)
    posterior = CountPosterior.fit(reports, epsilon_per_report(setting.epsilon), equal_bins=setting.equal_bins)
    return learn_tree(posterior.embed(reports), random_state=seed)


def _clones_near(tree: HierarchicalClusterTree, victim: int, clones: Ints) -> float:
    nearest = [int(user) for user, _ in tree.nearest(victim, NEAREST)]
    return float(np.isin(nearest, clones).mean())


def _row(found: list[Outcome]) -> dict[str, Any]:
    """One line of the table: means and spreads over runs."""
    first = found[0]
    clones = [one.clones for one in found if one.clones is not None]
    return {
        "attack": first.attack,
        "share": first.share,
        "way": first.way,
        "clamped": first.clamped,
        "loss": summarize_runs([one.loss for one in found]),
        "contacts": summarize_runs([one.contacts for one in found]),
        "clones": summarize_runs(clones) if clones else None,
    }
