"""Everything that `privact bench tree` measures, as one dictionary.

Keys: `datasets` (per network: `paper`, `default`, `average_linkage`; losses in percent), `paper_reported` (the paper's
Table 2), `peers` (other ways to learn a tree on the same vectors), `bins` (what the number of bins does), `joiners` (placed
against relearned), `speed`, `growth` and `million` (parts that must work for a million users). They are stable: later versions
add keys and keep these.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.bench.benchmark import Speed, Task
from privact.bench.fresh_process import run_alone, time_side_by_side
from privact.bench.late_joiners import compare_joiners
from privact.bench.tree_peers import compare_peers
from privact.bench.tree_tables import make_tables
from privact.experiments.bins.measure import sweep_bins
from privact.experiments.running.seeded_trees import random_partition
from privact.experiments.table2.measure import measure_network
from privact.experiments.table2.paper import PAPER
from privact.network.datasets import load_dataset
from privact.protocol.round import default_bins
from privact.query.quality import draw_random_tree
from privact.simulate.federated_network import make_federated_network
from privact.simulate.reports import degree_vectors, simulate_reports
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["list_speeds", "make_tables", "measure"]

GROWTH = (1_000, 3_000, 10_000, 30_000)
TWIN_STEPS = 3_000


def measure(task: Task) -> dict[str, Any]:
    """Run every measurement; the published tables have at least 5 seeds."""
    seeds = task.options["seeds"]
    result: dict[str, Any] = {"seeds": seeds, "paper_reported": PAPER}
    graphs = {name: load_dataset(name, task.data).graph for name in PAPER}
    result |= {key: {} for key in ("datasets", "peers", "bins", "joiners")}
    for name, graph in graphs.items():

        def show(text: str, name: str = name) -> None:
            task.show(f"{name}: {text}")

        result["datasets"][name] = measure_network(graph, seeds, show)
        result["peers"][name] = list(compare_peers(graph, show))
        result["bins"][name] = list(sweep_bins(graph, 2, show))
        show("late joiners")
        result["joiners"][name] = compare_joiners(graph, 1.0, seed=0)
    result["speed"] = measure_speed(
        {
            **{name: _vectors(graph) for name, graph in graphs.items()},
            "synthetic": _vectors(make_federated_network(10_000, random_state=0).graph),
        },
        task.show,
    )
    result["growth"] = []
    for n in GROWTH[:2] if task.quick else GROWTH:
        task.show(f"growth: {n:,} users")
        result["growth"].append({"n": n, **measure_growth(n)})
    many = 20_000 if task.quick else 1_000_000
    task.show(f"{many:,} users")
    result["million"] = measure_million(many)
    return result


def _vectors(graph: Any) -> NDArray[np.int64]:
    n_bins = default_bins(graph.n_users)
    return degree_vectors(graph, random_partition(graph.n_users, n_bins, np.random.default_rng(0)), n_bins)


def measure_growth(n: int) -> dict[str, Any]:
    """Time and memory of a whole round's learning at epsilon 1: posterior and default search."""
    vectors = _vectors(make_federated_network(n, random_state=0).graph)
    reports = simulate_reports(vectors, 1.0, np.random.default_rng(0))
    return {"n_bins": reports.shape[1], **run_alone("posterior+default", reports)}


def measure_million(n: int = 1_000_000) -> dict[str, Any]:
    """Posterior, exact cost and loading of a tree with a million users whose number of contacts is heavy-tailed."""
    rng = np.random.default_rng(0)
    n_bins = default_bins(n)
    rates = rng.pareto(1.5, n) + 0.3
    counts = rng.poisson((14.0 / rates.mean() / n_bins * np.minimum(rates, 2_000.0 * rates.mean()))[:, None], (n, n_bins))
    found = {"posterior": run_alone("posterior", simulate_reports(counts, 1.0, rng)), "cost": run_alone("cost", counts)}
    tree = draw_random_tree(n, rng, [f"user{i}" for i in range(n)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.hct"
        tree.save(path)
        begin = time.perf_counter()
        HierarchicalClusterTree.load(path)
        return {**found, "load": {"seconds": time.perf_counter() - begin}}


def measure_speed(vectors: dict[str, NDArray[np.int64]], show: Callable[[str], None]) -> dict[str, Any]:
    """Kernel against its plain twin, and the default search against other people's average linkage, in one run."""
    show("speed: kernel and plain twin")
    result: dict[str, Any] = {"kernel": measure_kernel(vectors["lastfm"])}
    methods = ["default", "fastcluster", "scipy"]
    for name, repeats in (("delicious", 7), ("lastfm", 7), ("douban", 7), ("synthetic", 3)):
        part = vectors[name]
        show(f"speed: {len(part):,} users")
        seconds = time_side_by_side(methods if name == "douban" else methods[:2], part, repeats)
        median = {method: float(np.median(runs)) for method, runs in seconds.items()}
        result[f"n={len(part)}"] = {
            "seconds": median,
            "default_over_fastcluster": median["default"] / median["fastcluster"],
            "extra_mb": {method: run_alone(method, part)["extra_mb"] for method in median},
        }
    return result


def measure_kernel(vectors: NDArray[np.int64]) -> dict[str, float]:
    """Proposed swaps a second of the compiled chain and of its plain twin, from the same tree with the same draws."""
    from privact.learn.search._swaps import random_children, run_chain
    from privact.learn.search.search_state import state_of
    from privact.learn.search.swaps import PlainSearch

    n = len(vectors)
    embedding = Embedding.from_counts(vectors)
    left, right = random_children(n, np.random.default_rng(0))
    run_chain(state_of(embedding, left, right), 10, 1.0, np.random.default_rng(1))

    state = state_of(embedding, left, right)
    begin = time.perf_counter()
    run_chain(state, 400 * n, 1.0, np.random.default_rng(1))
    compiled = 400 * n / (time.perf_counter() - begin)

    state = state_of(embedding, left, right)
    begin = time.perf_counter()
    run_chain(state, TWIN_STEPS, 1.0, np.random.default_rng(1))
    same_steps = TWIN_STEPS / (time.perf_counter() - begin)

    distances = np.abs(vectors[:, None, :] - vectors[None, :, :]).sum(axis=2).tolist()
    twin = PlainSearch.of(distances, left.tolist(), right.tolist())
    begin = time.perf_counter()
    twin.run(TWIN_STEPS, 1.0, np.random.default_rng(1))
    plain = TWIN_STEPS / (time.perf_counter() - begin)
    return {
        "steps_per_second": compiled,
        "first_steps_per_second": same_steps,
        "plain_steps_per_second": plain,
        "ratio": compiled / plain,
        "first_steps_ratio": same_steps / plain,
    }


def list_speeds(result: dict[str, Any]) -> list[Speed]:
    """Swaps a second, seconds and memory of the default search as users grow, and the parts of a million users."""
    kernel = result["speed"]["kernel"]
    found = [Speed("local swaps on lastfm", kernel["steps_per_second"], "swaps/s", more_is_better=True)]
    for size, each in result["speed"].items():
        if size != "kernel":
            found.append(Speed(f"default search, {size}", each["seconds"]["default"], "s"))
    for row in result["growth"]:
        name = f"a whole round of {row['n']:,} users"
        found += [Speed(name, row["seconds"], "s"), Speed(f"{name}, memory", row["extra_mb"], "MB")]
    return [*found, *(Speed(f"a million users, {part}", row["seconds"], "s") for part, row in result["million"].items())]
