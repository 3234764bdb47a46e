"""Everything that `privact bench shape` measures, as one dictionary.

Keys: `epsilon`; `seeds`; `rows`; `curve`: the same for other balances, without `method` and with `balance`. Each row has

- `network`, `method`: "default", "unrestricted" (no balance floor), "paper" (its chain on the reports as they are), "bisecting
  k-means" and "ward" on the same points as ours;
- `utility`: Dasgupta's cost on the exact counts, divided by rho; `share_of_contacts`: true contacts among a user's nearest;
- `largest_of_20`: the share of users in the largest cluster of cut(20); `community_50_median`, `community_50_p90`: over users,
  the size of the smallest cluster of at least 50 around them; `depth`: of the deepest user;
- `seconds`: processor time of learning; `below_floor`: splits of the default below its floor, always 0.

All are means over seeds; users are shuffled for each seed. They are stable: later versions add keys and keep these.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.baselines.bisecting_kmeans import bisecting_kmeans
from privact.baselines.linkage_peers import TREE_LEARNERS
from privact.bench.benchmark import Speed, Table, Task
from privact.experiments.running.seeded_trees import denoise, random_partition
from privact.learn.search.balance import BALANCE, compute_floors
from privact.learn.search.learn_tree import learn_tree
from privact.network.datasets import TABLE_1, find_dataset_folder, load_dataset
from privact.network.graph import ContactGraph
from privact.network.graph_files import read_graph
from privact.protocol.round import default_bins
from privact.query.quality import measure_contact_share
from privact.simulate.reports import degree_vectors, simulate_reports
from privact.tree.cost import relative_utility
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["list_speeds", "make_tables", "measure", "measure_communities"]

EPSILON = 1.0
NETWORKS = (*TABLE_1, "facebook")
COMMUNITY = 50


def measure(task: Task) -> dict[str, Any]:
    """All methods on all networks."""
    seeds = task.options["seeds"]
    learn_tree(np.arange(400).reshape(100, 4) % 7)  # compile before the clock starts
    learn_tree(np.arange(400).reshape(100, 4) % 7, balance=0.0)
    rows: list[dict[str, Any]] = []
    curve: list[dict[str, Any]] = []
    for name in NETWORKS:
        graph = _read(name, task.data)
        found: dict[str | float, list[dict[str, float]]] = {}
        for seed in range(seeds):
            task.show(f"{name}, seed {seed + 1} of {seeds}")
            order = np.random.default_rng(seed).permutation(graph.n_users)
            shuffled = ContactGraph.from_scipy(graph.to_scipy().tocsr()[order][:, order])
            for method, row in measure_methods(shuffled, seed, task.options["balance"]):
                found.setdefault(method, []).append(row)
        for method, runs in found.items():
            means = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
            if isinstance(method, str):
                rows.append({"network": name, "method": method, **means})
            else:
                curve.append({"network": name, "balance": method, **means})
    return {"epsilon": EPSILON, "seeds": seeds, "rows": rows, "curve": curve}


def _read(name: str, data: str | None) -> ContactGraph:
    """One of the paper's networks, or another one in the same folder."""
    if name in TABLE_1:
        return load_dataset(name, data).graph
    return read_graph(find_dataset_folder(next(iter(TABLE_1)), data).parent / name / "social.tsv.gz", largest_component=True)


def measure_methods(graph: ContactGraph, seed: int, balances: Sequence[float]) -> Iterator[tuple[str | float, dict[str, float]]]:
    """Each method's tree of one network and one seed, measured. balances: other balances, each a method of its own."""
    rng = np.random.default_rng(seed)
    n = graph.n_users
    n_bins = default_bins(n)
    counts = degree_vectors(graph, random_partition(n, n_bins, rng), n_bins)
    reports = simulate_reports(counts, EPSILON, rng)
    points = denoise(reports, EPSILON)

    def learn(balance: float) -> Callable[[], HierarchicalClusterTree]:
        return lambda: learn_tree(points, balance=balance, random_state=seed)

    methods: dict[str | float, Callable[[], HierarchicalClusterTree]] = {
        "default": learn(BALANCE),
        "unrestricted": learn(0.0),
        "paper": lambda: learn_tree(reports, search="gentree", random_state=seed),
        "bisecting k-means": lambda: bisecting_kmeans(points.points * np.sqrt(points.weights), seed),
        "ward": lambda: TREE_LEARNERS["ward"](points),
        **{balance: learn(balance) for balance in balances},
    }
    for method, run in methods.items():
        begin = time.process_time()
        tree = run()
        seconds = time.process_time() - begin
        around = measure_communities(tree, COMMUNITY)
        sides = np.minimum(tree.size[tree.left], tree.size[tree.right])
        below = int((sides < compute_floors(n, n, BALANCE)[tree.size[n:]]).sum()) if method == "default" else 0
        yield (
            method,
            {
                "utility": relative_utility(tree, counts),
                "share_of_contacts": measure_contact_share(tree, graph.to_scipy()),
                "largest_of_20": float(np.bincount(tree.cut(20)).max() / n),
                "community_50_median": float(np.median(around)),
                "community_50_p90": float(np.percentile(around, 90)),
                "depth": float(tree.depths.max()),
                "seconds": seconds,
                "below_floor": float(below),
            },
        )


def measure_communities(tree: HierarchicalClusterTree, size: int) -> NDArray[np.int32]:
    """(n) how many users the smallest cluster of at least `size` users around each user holds."""
    node = np.arange(tree.n_users)
    while (small := tree.size[node] < size).any():
        node[small] = tree.parent[node[small]]
    return np.asarray(tree.size[node])


def make_tables(result: dict[str, Any]) -> list[Table]:
    """The rows as one table."""
    heading = ["network", "method", "utility", "contacts", "largest of 20", "community(50)", "depth", "seconds"]
    rows = [
        [
            row["network"],
            row["method"],
            f"{row['utility']:.2f}",
            f"{row['share_of_contacts']:.4f}",
            f"{row['largest_of_20']:.0%}",
            f"{row['community_50_median']:,.0f} / {row['community_50_p90']:,.0f}",
            f"{row['depth']:,.0f}",
            f"{row['seconds']:.2f}",
        ]
        for row in [*result["rows"], *({**row, "method": f"balance {row['balance']:g}"} for row in result["curve"])]
    ]
    title = f"Shape of trees at epsilon {result['epsilon']:g} (mean of {result['seeds']} seeds)"
    return [Table(title, heading, rows, right=range(2, len(heading)))]


def list_speeds(result: dict[str, Any]) -> list[Speed]:
    """Processor time of the default search on each network."""
    return [
        Speed(f"default search, {row['network']}", row["seconds"], "s") for row in result["rows"] if row["method"] == "default"
    ]
