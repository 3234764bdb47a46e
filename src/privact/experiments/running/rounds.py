"""Rounds on a network that do not depend on ratings: the same in every fold, so played once a seed."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from privact.estimator import PrivaCT
from privact.experiments.running.networks import RatedNetwork
from privact.learn.evidence.count_posterior import CountPosterior
from privact.query.quality import draw_random_tree
from privact.tree.hct import HierarchicalClusterTree

__all__ = ["Rounds", "reported_degrees", "rounds_of"]


class Rounds:
    """The rounds of one seed; each is played when it is first asked for.

    network: whose contacts report. seed: of bins, noise and trees. epsilon: the promise per edge.
    """

    def __init__(self, network: RatedNetwork, seed: int, epsilon: float) -> None:
        self.network, self.seed, self.epsilon = network, seed, epsilon

    @cached_property
    def paper(self) -> PrivaCT:
        """The paper's method: random bins, GenTree on the reports as they are."""
        model = PrivaCT(self.epsilon, denoise=False, search="gentree", random_state=self._rng(0))
        return model.fit(self.network.graph)

    @cached_property
    def random_bins(self) -> PrivaCT:
        """The default method on random bins."""
        return PrivaCT(self.epsilon, balance=0.0, random_state=self._rng(0)).fit(self.network.graph)

    @cached_property
    def degree_only(self) -> PrivaCT:
        """A round that asks for the number of contacts alone."""
        return PrivaCT(self.epsilon, n_bins=1, balance=0.0, random_state=self._rng(1)).fit(self.network.graph)

    @cached_property
    def blind_tree(self) -> HierarchicalClusterTree:
        """A tree that knows nothing."""
        graph = self.network.graph
        return draw_random_tree(graph.n_users, self._rng(2), graph.users)

    def _rng(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, purpose, 0])


@lru_cache(maxsize=4)
def rounds_of(network: RatedNetwork, seed: int, epsilon: float) -> Rounds:
    """The rounds of a seed, the same object for every fold."""
    return Rounds(network, seed, epsilon)


@lru_cache(maxsize=16)
def reported_degrees(played: PrivaCT) -> NDArray[np.float64]:
    """m: how many contacts each user has, as the user's own report in a round says."""
    assert played.epsilon_report_ is not None
    posterior = CountPosterior.fit(played.reports_, played.epsilon_report_, equal_bins=isinstance(played.bins, str))
    return posterior.degrees(played.reports_).mean
