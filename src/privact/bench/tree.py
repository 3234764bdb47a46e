"""Everything that `privact bench tree` measures, as one dictionary.

Keys: `datasets` (per network: `paper`, `default`, `average_linkage`; losses in percent), `paper_reported` (the paper's
Table 2), `bins` (what the number of bins does), `joiners` (placed against relearned), `speed`, `growth` and `million` (parts
that must work for a million users). They are stable: later versions add keys and keep these.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.bench.joiners import compare_joiners
from privact.bench.measure import alone, side_by_side
from privact.experiments.tree_quality import PAPER, bins_sweep, random_partition, table_2
from privact.network.datasets import load_dataset
from privact.protocol.round import default_bins
from privact.query.quality import random_tree
from privact.simulate.federated_network import federated_network
from privact.simulate.reports import degree_vectors, simulate_reports
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree

GROWTH = (1_000, 3_000, 10_000, 30_000)
TWIN_STEPS = 3_000


def bench_tree(data: str | None, seeds: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """Run every measurement.

    data: folder of the datasets. seeds: runs per cell, at least 5 for the published table. tell: is told what is running.
    """
    result: dict[str, Any] = {"seeds": seeds, "paper_reported": PAPER, "datasets": {}, "bins": {}, "joiners": {}}
    graphs = {name: load_dataset(name, data).graph for name in PAPER}
    for name, graph in graphs.items():
        result["datasets"][name] = table_2(graph, seeds, lambda text, name=name: tell(f"{name}: trees, {text}"))  # type: ignore[misc]
    for name, graph in graphs.items():
        result["bins"][name] = list(bins_sweep(graph, 2, lambda text, name=name: tell(f"{name}: {text}")))  # type: ignore[misc]
        tell(f"{name}: late joiners")
        result["joiners"][name] = compare_joiners(graph, 1.0, seed=0)
    largest = graphs["douban"]
    result["speed"] = speed(
        {
            "lastfm": _vectors(graphs["lastfm"]),
            "douban": _vectors(largest),
            "synthetic": _vectors(federated_network(10_000, random_state=0).graph),
        },
        tell,
    )
    result["growth"] = []
    for n in GROWTH:
        tell(f"growth: {n:,} users")
        result["growth"].append({"n": n, **growth(n)})
    tell("a million users")
    result["million"] = million()
    return result


def _vectors(graph: Any) -> NDArray[np.int64]:
    n_bins = default_bins(graph.n_users)
    return degree_vectors(graph, random_partition(graph.n_users, n_bins, np.random.default_rng(0)), n_bins)


def growth(n: int) -> dict[str, Any]:
    """Time and memory of a whole round's learning at epsilon 1: posterior and default search."""
    vectors = _vectors(federated_network(n, random_state=0).graph)
    reports = simulate_reports(vectors, 1.0, np.random.default_rng(0))
    return {"n_bins": reports.shape[1], **alone("posterior+default", reports)}


def million(n: int = 1_000_000) -> dict[str, Any]:
    """Posterior, exact cost and loading of a tree with a million users whose number of contacts is heavy-tailed."""
    rng = np.random.default_rng(0)
    n_bins = default_bins(n)
    rates = rng.pareto(1.5, n) + 0.3
    counts = rng.poisson((14.0 / rates.mean() / n_bins * np.minimum(rates, 2_000.0 * rates.mean()))[:, None], (n, n_bins))
    found = {"posterior": alone("posterior", simulate_reports(counts, 1.0, rng)), "cost": alone("cost", counts)}
    tree = random_tree(n, rng, [f"user{i}" for i in range(n)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.hct"
        tree.save(path)
        begin = time.perf_counter()
        HierarchicalClusterTree.load(path)
        return {**found, "load": {"seconds": time.perf_counter() - begin}}


def speed(vectors: dict[str, NDArray[np.int64]], tell: Callable[[str], None]) -> dict[str, Any]:
    """Kernel against its plain twin, and the default search against other people's average linkage, in one run."""
    tell("speed: kernel and plain twin")
    result: dict[str, Any] = {"kernel": kernel_speed(vectors["lastfm"])}
    methods = ["default", "fastcluster", "scipy"]
    for name, repeats in (("douban", 7), ("synthetic", 3)):
        part = vectors[name]
        tell(f"speed: {len(part):,} users")
        seconds = side_by_side(methods if name == "douban" else methods[:2], part, repeats)
        median = {method: float(np.median(runs)) for method, runs in seconds.items()}
        result[f"n={len(part)}"] = {
            "seconds": median,
            "default_over_fastcluster": median["default"] / median["fastcluster"],
            "extra_mb": {method: alone(method, part)["extra_mb"] for method in median},
        }
    return result


def kernel_speed(vectors: NDArray[np.int64]) -> dict[str, float]:
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
