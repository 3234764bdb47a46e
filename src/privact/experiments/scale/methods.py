"""What `privact bench scale` runs, each in a process of its own: a table of reports -> a tree.

python -m privact.experiments.scale.methods METHOD REPORTS.npy OUTPUT BYTES

All methods are given the same reports. Ours reads them with the ids of their users from reports.parquet beside the table, as a
round is read, and saves the tree with the ids; peers get the same posterior, as the
dissimilarities of all pairs where they take those, and as expected counts where they take vectors. Two peers are given the
contacts themselves, in contacts.npy beside the reports: they are not private, and show what a tree of the graph costs.
"""

from __future__ import annotations

import contextlib
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

EPSILON = 1.0
EPSILON_REPORT = EPSILON / 2.0

CONTACTS = "contacts.npy"
"""The contacts, two row numbers each, in a file beside the reports for peers that need them."""

REPORTS = "reports.parquet"
"""The reports with ids, in a file beside the table of reports for our own methods."""

ROWS = 1 << 17
"""Reports written at a time."""

Children = tuple[NDArray[Any], NDArray[Any]]


def privact(path: str, output: str, workers: int | None = None, cluster: str | None = None, balance: float | None = None) -> None:
    """Our own: from the file of reports to the file of the tree, with ids. balance: the floor; None for the usual one."""
    from privact.learn.evidence.profile import RoundReports
    from privact.learn.pipeline import LearnSettings, learn_from_reports
    from privact.learn.reports.report_files import read_reports
    from privact.learn.scale.engines import open_engine

    with open_engine(workers, cluster) as engine:
        folder = Path(path).parent
        reports = RoundReports(read_reports(folder / REPORTS, folder), EPSILON_REPORT)
        learn_from_reports(reports, LearnSettings(balance=balance, random_state=0), engine=engine).tree.save(output)


def average_linkage(path: str) -> Children:
    """fastcluster's average linkage of all pairs."""
    from privact.learn.search.linkage import linkage_children

    return linkage_children(_embedding(path).condensed())


def scikit_learn(path: str) -> Children:
    """scikit-learn's agglomerative clustering, average linkage of all pairs."""
    from scipy.spatial.distance import squareform
    from sklearn.cluster import AgglomerativeClustering

    pairs = squareform(_embedding(path).condensed(), checks=False)
    found = AgglomerativeClustering(n_clusters=None, metric="precomputed", linkage="average", distance_threshold=0.0).fit(pairs)
    return found.children_[:, 0], found.children_[:, 1]


def hdbscan(path: str) -> Children:
    """The tree inside scikit-learn's HDBSCAN: single linkage of mutual reachability, on expected counts."""
    from sklearn.cluster import HDBSCAN

    found = HDBSCAN(metric="manhattan", copy=True).fit(_expected_counts(path))
    merges = found._single_linkage_tree_
    return merges["left_node"], merges["right_node"]


def bisecting(path: str) -> Children:
    """Bisecting k-means on expected counts."""
    from privact.baselines.bisecting_kmeans import bisecting_kmeans

    tree = bisecting_kmeans(_expected_counts(path), 0)
    return tree.left, tree.right


PEERS: dict[str, Callable[[str], Children]] = {
    "average linkage (fastcluster)": average_linkage,
    "average linkage (scikit-learn)": scikit_learn,
    "HDBSCAN (scikit-learn)": hdbscan,
    "bisecting k-means": bisecting,
}


def paris(path: str) -> Children:
    """scikit-network's Paris, on the contact graph itself: not private."""
    from privact.baselines.linkage_peers import paris

    tree = paris(_contacts(path))
    return tree.left, tree.right


def louvain(path: str) -> Children:
    """scikit-network's hierarchy of Louvain communities, on the contact graph itself: not private."""
    from privact.baselines.linkage_peers import louvain

    tree = louvain(_contacts(path))
    return tree.left, tree.right


GRAPH_PEERS: dict[str, Callable[[str], Children]] = {"Paris on the contacts": paris, "Louvain on the contacts": louvain}


def run_method(method: str, path: str, output: str, balance: float | None = None) -> None:
    """Run a peer by name, or ours: "privact:2" in two processes, "privact dask:2" with two Dask workers.

    path: the table of reports. output: where our tree, or the two rows of children of a peer's tree, are written.
    balance: the floor of ours; None for the usual one.
    """
    if peer := (PEERS | GRAPH_PEERS).get(method):
        np.save(output, np.array(peer(path), np.int32))
        return
    name, workers = method.rsplit(":", 1)
    if name.endswith("dask"):
        privact(path, output, cluster=f"local:{workers}", balance=balance)
    else:
        privact(path, output, int(workers), balance=balance)


def _contacts(path: str) -> Any:
    from privact.network.graph import ContactGraph

    n_users = len(np.load(path, mmap_mode="r"))
    return ContactGraph.from_rows(np.load(Path(path).parent / CONTACTS), range(n_users))


def _posterior(path: str) -> Any:
    from privact.learn.evidence.count_posterior import CountPosterior

    reports = np.load(path, mmap_mode="r")
    return CountPosterior.fit(reports, EPSILON_REPORT, equal_bins=True), reports


def _embedding(path: str) -> Any:
    posterior, reports = _posterior(path)
    return posterior.embed(reports)


def _expected_counts(path: str) -> Any:
    posterior, reports = _posterior(path)
    return posterior.counts(reports)


def write_reports_with_ids(folder: Path, reports: NDArray[np.integer[Any]]) -> None:
    """Write reports and made-up ids of their users, a block at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    kind = pa.list_(pa.int32(), reports.shape[1])
    with parquet.ParquetWriter(folder / REPORTS, pa.schema({"user": pa.string(), "report": kind})) as writer:
        for first in range(0, len(reports), ROWS):
            block = np.ascontiguousarray(reports[first : first + ROWS], np.int32)
            ids = [f"user{first + i}@example.social" for i in range(len(block))]
            lists = pa.FixedSizeListArray.from_arrays(pa.array(block.ravel()), reports.shape[1])
            writer.write_table(pa.table({"user": ids, "report": lists}))


def main(method: str, path: str, output: str, most_memory: str, balance: str = "") -> None:
    """Run a method, and print the seconds and processor seconds it took as JSON; memory errors exit with 3."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (int(most_memory), int(most_memory)))
    floor = float(balance) if balance else None
    if method not in GRAPH_PEERS:
        with tempfile.TemporaryDirectory(dir=Path(output).parent) as folder:  # compile and import before the clock starts
            few = Path(folder) / "few.npy"
            np.save(few, np.load(path, mmap_mode="r")[:64])
            write_reports_with_ids(few.parent, np.load(few))
            run_method(method if method in PEERS else "privact:1", str(few), str(few.parent / "few.tree.npy"), floor)
    begin, used = time.perf_counter(), _used_seconds()
    try:
        run_method(method, path, output, floor)
    except MemoryError:
        sys.exit(3)
    sys.stdout.write(json.dumps({"seconds": time.perf_counter() - begin, "processor_seconds": _used_seconds() - used}))


def _used_seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    main(*sys.argv[1:])
