"""Time, memory and utility of trees as users grow, ours beside other methods: what `privact bench scale` measures.

Keys: `epsilon`, of the promise per edge; `cores` and `memory_mb` of the machine; `measure`, what relative_utility says; `rows`,
each with

- `n`, `n_bins`: users, and bins: floor(ln n);
- `method`, `workers`: "privact" in that many processes (1 is the process itself), "privact dask" with that many Dask workers, or
  a peer; the peers "on the contacts" are given the graph, not the reports: they are not private;
- `seconds`: from the file of reports to the tree, starting workers included; `peak_mb`: the most memory that all processes
  together had, in MB; `relative_utility`: Dasgupta's cost of the tree on the exact counts behind the reports, divided by rho;
  all three are null where there is no tree;
- `status`: "ok", or why there is no tree.

A peer that fails at one size is not tried at larger ones. They are stable: later versions add keys and keep these.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.experiments.scale.methods import CONTACTS, EPSILON, GRAPH_PEERS, PEERS

__all__ = ["PATIENCE", "SIZES", "make_network", "measure_method", "measure_sizes"]

SIZES = (10_000, 20_000, 100_000, 1_000_000)
MEASURE = "Dasgupta's cost on the exact counts, which only a simulation knows, divided by rho = (n^3 - n) / 3"
LARGEST = ("privact:1", "privact:2", "privact dask:1", "privact dask:2")
"""What runs at the largest size; smaller ones need no cluster."""

PATIENCE = 1800.0
"""Seconds that a peer is given unless told otherwise."""


def measure_sizes(
    progress: Callable[[str], None], sizes: Sequence[int] = SIZES, patience: float = PATIENCE, peers: bool = True
) -> dict[str, Any]:
    """Run every measurement.

    progress: told what is running. sizes: numbers of users. patience: seconds that a peer is given. peers: whether they run.
    """
    result: dict[str, Any] = {
        "epsilon": EPSILON,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_mb": _memory() / 2**20,
        "measure": MEASURE,
        "rows": [],
    }
    failed: dict[str, int] = {}
    for n in sorted(sizes):
        progress(f"{n:,} users: making the network")
        counts, reports = make_network(n)
        ours = LARGEST if n == max(sizes) else LARGEST[:2]
        for method in [*ours, *([*PEERS, *GRAPH_PEERS] if peers else [])]:
            progress(f"{n:,} users: {method}")
            if method in failed:
                row = _no_tree(f"not tried: failed at {failed[method]:,}")
            else:
                row = measure_method(method, counts, reports, None if method in ours else patience)
            if row["status"] != "ok":
                failed.setdefault(method, n)
            name, _, workers = method.rpartition(":") if method in ours else (method, "", "1")
            result["rows"].append({"n": n, "n_bins": counts.shape[1], "method": name, "workers": int(workers), **row})
    return result


def make_network(n: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The exact counts of a heavy-tailed network in random bins, and the reports of its users at epsilon 1."""
    from privact.experiments.running.seeded_trees import random_partition
    from privact.protocol.round import default_bins
    from privact.simulate.reports import degree_vectors, simulate_reports

    rng = np.random.default_rng(0)
    n_bins = default_bins(n)
    counts = degree_vectors(_make_graph(n), random_partition(n, n_bins, rng), n_bins)
    return counts.astype(np.int32), simulate_reports(counts, EPSILON, rng).astype(np.int32)


def measure_method(method: str, counts: NDArray[np.int32], reports: NDArray[np.int32], patience: float | None) -> dict[str, Any]:
    """Run a method in processes of its own; seconds, memory, utility and status.

    patience: seconds after which it is given up; None waits.
    """
    from privact.tree.cost import relative_utility
    from privact.tree.hct import HierarchicalClusterTree

    with tempfile.TemporaryDirectory(prefix="privact-") as folder:
        source, target = Path(folder) / "reports.npy", Path(folder) / "children.npy"
        np.save(source, reports)
        if method in GRAPH_PEERS:
            np.save(source.parent / CONTACTS, _make_graph(len(reports)).edges())
        command = [sys.executable, "-m", "privact.experiments.scale.methods", method, str(source), str(target)]
        code, output, peak = _run_watched([*command, str(int(0.9 * _memory()))], patience)
        if code is None:
            return _no_tree(f"gave up after {patience:,.0f} s")
        if code in (3, -signal.SIGKILL):
            return _no_tree("out of memory")
        if code != 0:
            return _no_tree(f"failed: {output.strip().splitlines()[-1][:120] if output.strip() else f'exit {code}'}")
        left, right = np.load(target)
    tree = HierarchicalClusterTree.from_children(left, right)
    utility = relative_utility(tree, counts)
    return {"seconds": json.loads(output)["seconds"], "peak_mb": peak, "relative_utility": utility, "status": "ok"}


def _make_graph(n: int) -> Any:
    from privact.simulate.federated_network import make_federated_network

    return make_federated_network(n, n_artists=64, ratings_per_user=0.0, random_state=0).graph


def _no_tree(status: str) -> dict[str, Any]:
    return {"seconds": None, "peak_mb": None, "relative_utility": None, "status": status}


def _run_watched(command: list[str], patience: float | None) -> tuple[int | None, str, float]:
    """Run a command; its exit code (None if it took too long), what it said, and the memory of its processes at their peak."""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        begin, peak = time.monotonic(), 0.0
        try:
            while process.poll() is None:
                peak = max(peak, _session_mb(process.pid))
                if patience is not None and time.monotonic() - begin > patience:
                    return None, "", peak
                time.sleep(0.1)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        said.seek(0)
        return process.returncode, said.read(), peak


def _session_mb(session: int) -> float:
    """Resident memory of all processes of a session, in MB; pages that they share count for each."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has just ended
            continue
        if int(fields[3]) == session:
            total += int(fields[21])
    return total * os.sysconf("SC_PAGE_SIZE") / 2**20


def _memory() -> int:
    """Memory of the machine in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
