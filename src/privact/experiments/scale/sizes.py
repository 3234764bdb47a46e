"""Time, memory and utility of trees as users grow, ours beside other methods: what `privact bench scale` measures.

Keys: `epsilon`, of the promise per edge; `balance`, the floor of our trees, null for the usual one; `cores` and `memory_mb` of
the machine; `measure`, what relative_utility says; `rows`, each with

- `n`, `n_bins`: users, and bins: floor(ln n);
- `method`, `workers`: "privact" in that many processes (1 is the process itself), "privact dask" with that many Dask workers, or
  a peer; the peers "on the contacts" are given the graph, not the reports: they are not private;
- `seconds`: from the file of reports with ids to the saved tree with ids, starting workers included, and of peers to the tree;
  `processor_seconds`: user and system time of all processes; `peak_mb`: the most memory that all processes together had, in MB;
  `relative_utility`: Dasgupta's cost of the tree on the exact counts behind the reports, divided by rho; all of them are null
  where there is no tree;
- `status`: "ok", or why there is no tree.

A peer that fails at one size is not tried at larger ones. Above a million users peers are given a sample: `samples`, each with
`n`, `sampled` users, `method`, `seconds`, `relative_utility` and `status`; ours is there the tree of all users restricted to the
sample. `predictions`: see predictions.py. They are stable: later versions add keys and keep these.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.experiments.scale.methods import CONTACTS, EPSILON, GRAPH_PEERS, PEERS, write_reports_with_ids
from privact.experiments.scale.predictions import predict_processor_seconds
from privact.experiments.scale.samples import restrict_tree
from privact.experiments.scale.watched_process import machine_memory, run_watched
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["PATIENCE", "SIZES", "make_network", "measure_method", "measure_sizes"]

SIZES = (10_000, 20_000, 100_000, 1_000_000, 3_000_000, 10_000_000)
MEASURE = "Dasgupta's cost on the exact counts, which only a simulation knows, divided by rho = (n^3 - n) / 3"
OURS = ("privact:1", "privact:2", "privact dask:1", "privact dask:2")
"""Our own: the first two at every size up to MANY, all at the largest of those, the second alone beyond."""

MANY = 1_000_000
"""Larger networks are made of several of this size, and peers are given a sample of their users."""

SAMPLE = 100_000
"""Users of such a sample."""

PATIENCE = 1800.0
"""Seconds that a peer is given unless told otherwise."""


def measure_sizes(
    progress: Callable[[str], None],
    sizes: Sequence[int] = SIZES,
    patience: float = PATIENCE,
    peers: bool = True,
    balance: float | None = None,
) -> dict[str, Any]:
    """Run every measurement.

    progress: told what is running. sizes: numbers of users. patience: seconds that a peer is given. peers: whether they run.
    balance: the floor of our trees; None for the usual one.
    """
    result: dict[str, Any] = {
        "epsilon": EPSILON,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_mb": machine_memory() / 2**20,
        "measure": MEASURE,
        "balance": balance,
        **{key: [] for key in ("rows", "samples", "predictions")},
    }
    rows = result["rows"]
    failed: dict[str, int] = {}
    largest = max((n for n in sizes if n <= MANY), default=0)
    for n in sorted(sizes):
        progress(f"{n:,} users: making the network")
        counts, reports = make_network(n)
        if n > MANY:
            result["predictions"] += predict_processor_seconds(rows, n)
            progress(f"{n:,} users: {OURS[1]}")
            row, tree = measure_method(OURS[1], counts, reports, None, balance)
            rows.append(_label(n, counts, OURS[1], row))
            result["samples"] += _compare_on_sample(tree, counts, reports, patience, peers, progress)
            continue
        ours = OURS if n == largest else OURS[:2]
        for method in [*ours, *([*PEERS, *GRAPH_PEERS] if peers else [])]:
            progress(f"{n:,} users: {method}")
            if method in failed:
                row = _no_tree(f"not tried: failed at {failed[method]:,}")
            else:
                row, _ = measure_method(method, counts, reports, None if method in ours else patience, balance)
            if row["status"] != "ok":
                failed.setdefault(method, n)
            rows.append(_label(n, counts, method, row))
    return result


def _label(n: int, counts: NDArray[Any], method: str, row: dict[str, Any]) -> dict[str, Any]:
    """A row with what was measured."""
    name, _, workers = method.rpartition(":") if method in OURS else (method, "", "1")
    return {"n": n, "n_bins": counts.shape[1], "method": name, "workers": int(workers), **row}


def _compare_on_sample(
    tree: HierarchicalClusterTree | None,
    counts: NDArray[np.int32],
    reports: NDArray[np.int32],
    patience: float,
    peers: bool,
    progress: Callable[[str], None],
) -> list[dict[str, Any]]:
    """The tree of all users, restricted to a sample of them, beside trees that peers learn from the sample."""
    from privact.tree.cost import relative_utility

    n = len(counts)
    chosen = np.sort(np.random.default_rng(0).choice(n, min(SAMPLE, n), replace=False))
    mine = _no_tree("no tree of all users")
    if tree is not None:
        utility = relative_utility(restrict_tree(tree, chosen), counts[chosen])
        mine = {"seconds": None, "relative_utility": utility, "status": "ok"}
    found = {"privact": mine}
    for method in PEERS if peers else ():
        progress(f"{n:,} users: {method} on a sample of {len(chosen):,}")
        found[method], _ = measure_method(method, counts[chosen], reports[chosen], patience)
    kept = ("seconds", "relative_utility", "status")
    return [{"n": n, "sampled": len(chosen), "method": m, **{k: row[k] for k in kept}} for m, row in found.items()]


def make_network(n: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The exact counts of a heavy-tailed network in random bins, and the reports of its users at epsilon 1.

    More than a million users are several networks side by side, so that memory stays within that of one.
    """
    from privact.experiments.running.seeded_trees import random_partition
    from privact.protocol.round import default_bins
    from privact.simulate.reports import degree_vectors, simulate_reports

    rng = np.random.default_rng(0)
    n_bins = default_bins(n)
    counts, reports = np.empty((n, n_bins), np.int32), np.empty((n, n_bins), np.int32)
    bounds = np.linspace(0, n, -(-n // MANY) + 1).astype(int).tolist()
    for network, (first, last) in enumerate(pairwise(bounds)):
        exact = degree_vectors(_make_graph(last - first, network), random_partition(last - first, n_bins, rng), n_bins)
        counts[first:last], reports[first:last] = exact, simulate_reports(exact, EPSILON, rng)
    return counts, reports


def measure_method(
    method: str,
    counts: NDArray[np.int32],
    reports: NDArray[np.int32],
    patience: float | None,
    balance: float | None = None,
) -> tuple[dict[str, Any], HierarchicalClusterTree | None]:
    """Run a method in processes of its own; seconds, memory, utility and status, and the tree.

    patience: seconds after which it is given up; None waits. balance: the floor of our trees; None for the usual one.
    """
    from privact.tree.cost import relative_utility

    with tempfile.TemporaryDirectory(prefix="privact-") as folder:
        source = Path(folder) / "reports.npy"
        target = Path(folder) / ("tree.hct" if method in OURS else "children.npy")
        np.save(source, reports)
        if method in OURS:
            write_reports_with_ids(source.parent, reports)
        if method in GRAPH_PEERS:
            np.save(source.parent / CONTACTS, _make_graph(len(reports)).edges())
        command = [sys.executable, "-m", "privact.experiments.scale.methods", method, str(source), str(target)]
        code, output, peak = run_watched(
            [*command, str(int(0.9 * machine_memory())), "" if balance is None else str(balance)], patience
        )
        if code is None:
            return _no_tree(f"gave up after {patience:,.0f} s"), None
        if code in (3, -signal.SIGKILL):
            return _no_tree("out of memory"), None
        if code != 0:
            last = output.strip().splitlines()[-1][:120] if output.strip() else f"exit {code}"
            return _no_tree(f"failed: {last}"), None
        saved = method in OURS
        tree = HierarchicalClusterTree.load(target) if saved else HierarchicalClusterTree.from_children(*np.load(target))
    utility = relative_utility(tree, counts)
    return {**json.loads(output), "peak_mb": peak, "relative_utility": utility, "status": "ok"}, tree


def _make_graph(n: int, seed: int = 0) -> Any:
    from privact.simulate.federated_network import make_federated_network

    return make_federated_network(n, n_artists=64, ratings_per_user=0.0, random_state=seed).graph


def _no_tree(status: str) -> dict[str, Any]:
    return dict.fromkeys(("seconds", "processor_seconds", "peak_mb", "relative_utility")) | {"status": status}
