"""One network with one random partition: the vectors, reports and costs that experiments on tree quality compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privact.learn.evidence.count_posterior import CountPosterior
from privact.learn.search.learn_tree import learn_tree
from privact.network.graph import ContactGraph
from privact.protocol.round import epsilon_per_report
from privact.simulate.reports import degree_vectors, simulate_reports
from privact.tree.cost import dasgupta_cost, rho
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["EPSILONS", "SeededNetwork", "denoise", "random_partition", "summarize_runs"]

EPSILONS = (0.5, 1.0, 2.0)
"""The promises per edge of the paper's tables."""


def summarize_runs(runs: list[float]) -> dict[str, Any]:
    """Mean, spread (standard deviation) and the runs themselves."""
    return {"mean": float(np.mean(runs)), "sd": float(np.std(runs, ddof=1)) if len(runs) > 1 else 0.0, "runs": runs}


def random_partition(n_users: int, n_bins: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Users in bins of equal size at random, as the paper partitions them."""
    return rng.permutation(np.arange(n_users) % n_bins)


def denoise(reports: NDArray[np.int64], epsilon: float) -> Embedding:
    """The posterior of the counts in random bins, which the default method learns from."""
    return CountPosterior.fit(reports, epsilon_per_report(epsilon), equal_bins=True).embed(reports)


@dataclass
class SeededNetwork:
    """One network with one random partition: vectors, reports, costs of trees, and the paper's loss of one against another.

    graph: who knows whom. n_bins: of the partition. seed: of the partition, the noise and the searches.
    """

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
