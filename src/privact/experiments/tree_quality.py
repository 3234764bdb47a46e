"""How good the trees are: the paper's Table 2 beside ours, and what the number of bins does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.count_posterior import CountPosterior
from privact.learn.search.learn_tree import learn_tree
from privact.learn.search.linkage import average_linkage
from privact.network.graph import ContactGraph
from privact.protocol.round import default_bins, epsilon_per_report
from privact.query.quality import share_of_contacts
from privact.simulate.reports import degree_vectors, simulate_reports
from privact.tree.cost import dasgupta_cost, rho
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree

EPSILONS = (0.5, 1.0, 2.0)

PAPER: dict[str, dict[str, Any]] = {
    "lastfm": {"relative_utility": 22.82, "loss": {"0.5": 9.57, "1.0": 4.05, "2.0": 1.45}},
    "delicious": {"relative_utility": 12.20, "loss": {"0.5": 10.87, "1.0": 6.61, "2.0": 3.29}},
    "douban": {"relative_utility": 28.83, "loss": {"0.5": 7.09, "1.0": 3.27, "2.0": 1.14}},
}
"""Table 2 of the paper: relative utility of GenTree, and percent of it that PrivaCT loses at each epsilon."""


def summary(runs: list[float]) -> dict[str, Any]:
    """Mean, spread (standard deviation) and the runs themselves."""
    return {"mean": float(np.mean(runs)), "sd": float(np.std(runs, ddof=1)) if len(runs) > 1 else 0.0, "runs": runs}


def random_partition(n_users: int, n_bins: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Users in bins of equal size at random, as the paper partitions them."""
    return rng.permutation(np.arange(n_users) % n_bins)


def denoised(reports: NDArray[np.int64], epsilon: float) -> Embedding:
    """What the default method learns from: the posterior of the counts in random bins."""
    return CountPosterior.fit(reports, epsilon_per_report(epsilon), equal_bins=True).embed(reports)


@dataclass
class Seeded:
    """One network with one random partition: the costs of trees, and the paper's loss of one against another."""

    graph: ContactGraph
    n_bins: int
    seed: int

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        bins = random_partition(self.graph.n_users, self.n_bins, self.rng)
        self.vectors = degree_vectors(self.graph, bins, self.n_bins)
        self.gentree = learn_tree(self.vectors, search="gentree", random_state=self.seed)

    def utility(self, tree: HierarchicalClusterTree) -> float:
        """Dasgupta's cost over rho on the noise-free vectors, with the paper's max(1, .)."""
        return dasgupta_cost(tree, self.vectors) / rho(self.graph.n_users)

    def loss(self, tree: HierarchicalClusterTree) -> float:
        """Percent of the noise-free GenTree tree's cost that a tree falls short by."""
        reference = self.utility(self.gentree)
        return 100.0 * (reference - self.utility(tree)) / reference

    def reports(self, epsilon: float) -> NDArray[np.int64]:
        """What devices send at this epsilon per edge."""
        return simulate_reports(self.vectors, epsilon, self.rng)


def table_2(graph: ContactGraph, seeds: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """Relative utility and loss by the paper's method and by ours, on the same partitions and the same reports."""
    from scipy.cluster.hierarchy import linkage

    utility: dict[str, list[float]] = {"paper": [], "default": [], "fastcluster": [], "scipy": []}
    loss: dict[str, dict[str, list[float]]] = {way: {str(e): [] for e in EPSILONS} for way in ("paper", "default")}
    for seed in range(seeds):
        tell(f"seed {seed + 1} of {seeds}")
        run = Seeded(graph, default_bins(graph.n_users), seed)
        utility["paper"].append(run.utility(run.gentree))
        utility["default"].append(run.utility(learn_tree(run.vectors, random_state=seed)))
        children = average_linkage(Embedding.from_counts(run.vectors))
        utility["fastcluster"].append(run.utility(HierarchicalClusterTree.from_children(*children)))
        merges = linkage(run.vectors, method="average", metric="cityblock")
        utility["scipy"].append(run.utility(HierarchicalClusterTree.from_linkage(merges)))
        for epsilon in EPSILONS:
            reports = run.reports(epsilon)
            raw = learn_tree(reports, search="gentree", random_state=seed)
            loss["paper"][str(epsilon)].append(run.loss(raw))
            ours = learn_tree(denoised(reports, epsilon), random_state=seed)
            loss["default"][str(epsilon)].append(run.loss(ours))
    result: dict[str, Any] = {"n_users": graph.n_users, "n_edges": graph.n_edges, "n_bins": default_bins(graph.n_users)}
    for way in ("paper", "default"):
        spread = {e: summary(runs) for e, runs in loss[way].items()}
        result[way] = {
            "relative_utility": summary(utility[way]),
            "loss": {e: s["mean"] for e, s in spread.items()},
            "loss_sd": {e: s["sd"] for e, s in spread.items()},
            "loss_runs": loss[way],
        }
    both = {way: summary(utility[way]) for way in ("fastcluster", "scipy")}
    result["average_linkage"] = {"relative_utility": max(s["mean"] for s in both.values()), **both}
    return result


def bin_counts(n_users: int) -> list[int]:
    """1, 3, floor(ln n), floor(2 ln n) and floor(sqrt n) bins."""
    return [1, 3, default_bins(n_users), int(2 * np.log(n_users)), int(np.sqrt(n_users))]


def bins_sweep(graph: ContactGraph, seeds: int, tell: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """What K does: loss against the noise-free tree of the same K, and true contacts among the nearest users."""
    adjacency = graph.to_scipy()
    for n_bins in bin_counts(graph.n_users):
        tell(f"{n_bins} bins")
        runs = [Seeded(graph, n_bins, seed) for seed in range(seeds)]
        for epsilon in (*EPSILONS, None):
            losses, shares = [], []
            for run in runs:
                points = Embedding.from_counts(run.vectors) if epsilon is None else denoised(run.reports(epsilon), epsilon)
                tree = learn_tree(points, random_state=run.seed)
                losses.append(run.loss(tree))
                shares.append(share_of_contacts(tree, adjacency))
            yield {
                "n_bins": n_bins,
                "epsilon": epsilon,
                "loss": float(np.mean(losses)),
                "share_of_contacts": float(np.mean(shares)),
            }
