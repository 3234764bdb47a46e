"""What `privact bench scale` runs, each in a process of its own: a table of reports -> a tree.

python -m privact.experiments.scale.methods METHOD REPORTS.npy CHILDREN.npy

All methods are given the same reports. Ours reads them from the file as a round is read; peers get the same posterior, as the
dissimilarities of all pairs where they take those, and as expected counts where they take vectors. Two peers are given the
contacts themselves, in contacts.npy beside the reports: they are not private, and show what a tree of the graph costs.
"""

from __future__ import annotations

import contextlib
import json
import resource
import sys
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

Children = tuple[NDArray[Any], NDArray[Any]]


def privact(path: str, workers: int | None = None, cluster: str | None = None) -> Children:
    """Our own: reports, posterior, parts, graft and polish."""
    from privact.learn.evidence.profile import RoundReports
    from privact.learn.pipeline import LearnSettings, learn_from_reports
    from privact.learn.reports.report_files import read_reports
    from privact.learn.scale.engines import open_engine

    with open_engine(workers, cluster) as engine:
        reports = RoundReports(read_reports(path, Path(path).parent), EPSILON_REPORT)
        tree = learn_from_reports(reports, LearnSettings(random_state=0), engine=engine).tree
    return tree.left, tree.right


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


def run_method(method: str, path: str) -> Children:
    """Run a peer by name, or ours: "privact:2" in two processes, "privact dask:2" with two Dask workers."""
    if peer := (PEERS | GRAPH_PEERS).get(method):
        return peer(path)
    name, workers = method.rsplit(":", 1)
    return privact(path, None, f"local:{workers}") if name.endswith("dask") else privact(path, int(workers))


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


def main(method: str, path: str, output: str, most_memory: str) -> None:
    """Run a method, write the children of its tree, and print the seconds it took as JSON; memory errors exit with 3."""
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (int(most_memory), int(most_memory)))
    if method not in GRAPH_PEERS:
        few = Path(output).parent / "few.npy"
        np.save(few, np.load(path, mmap_mode="r")[:64])
        run_method("privact:1" if method not in PEERS else method, str(few))  # compile and import before the clock starts
    begin = time.perf_counter()
    try:
        left, right = run_method(method, path)
    except MemoryError:
        sys.exit(3)
    seconds = time.perf_counter() - begin
    np.save(output, np.array([left, right], np.int32))
    sys.stdout.write(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main(*sys.argv[1:])
