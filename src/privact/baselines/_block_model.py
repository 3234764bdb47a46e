"""A random graph with blocks: Chung-Lu between any two blocks, with the same probability from both ends.

Between blocks i and j there are edges[i, j] contacts in expectation, and user u has the share share[u, j] of those ends that
lie in u's block. So for u in block i and v in block j

    p_uv = edges[i, j] * share[u, j] * share[v, i],        at most 1,

which is symmetric, adds up to edges[i, j] over all pairs, and gives u edges[i, j] * share[u, j] contacts in block j: Chung-Lu,
with expected degrees counted block by block. Within a block, pairs of a user with themselves are left out and the other pairs
raised by 2 / (1 - sum of squared shares), so that the number of contacts is right there too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class BlockModel:
    """The probability of every contact.

    block: (n,) the block of each user, 0 to K-1.
    share: (n, K) of the contacts between u's block and block j, the share that are u's; adds up to 1 over each block.
    edges: (K, K) expected number of contacts between blocks, symmetric; at most as many as there are pairs of users.
    """

    block: NDArray[np.int64]
    share: NDArray[np.float64]
    edges: NDArray[np.float64]

    @cached_property
    def rate(self) -> NDArray[np.float64]:
        """(K, K) what the product of two users' shares is multiplied by."""
        apart = np.ones(len(self.edges))
        own = self.share[np.arange(len(self.block)), self.block]
        np.subtract.at(apart, self.block, own**2)
        rate = self.edges.copy()
        inside = np.diag(self.edges)
        np.fill_diagonal(rate, np.divide(2.0 * inside, apart, out=np.zeros_like(inside), where=apart > 1e-12))
        return rate

    def probability(self, u: int, v: int) -> float:
        """The probability that users u and v know each other; the same as that of v and u."""
        i, j = self.block[u], self.block[v]
        return 0.0 if u == v else min(1.0, float(self.rate[i, j] * (self.share[u, j] * self.share[v, i])))

    def expected_degrees(self) -> NDArray[np.float64]:
        """(n,) the expected number of contacts of each user where no probability had to be cut to 1."""
        between = self.rate[self.block] * self.share
        own = np.arange(len(self.block)), self.block
        between[own] *= 1.0 - self.share[own]
        return np.asarray(between.sum(axis=1))

    def draw(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Contacts drawn independently, as (m, 2) row numbers; in O(n K log n + m)."""
        from privact.baselines._skip_sampling import draw_pairs

        members = [np.flatnonzero(self.block == i) for i in range(len(self.edges))]
        drawn = [np.empty((0, 2), np.int64)]
        for i, j in combinations_with_replacement(range(len(members)), 2):
            one, other = self._falling(members[i], j), self._falling(members[j], i)
            pairs = draw_pairs(self.share[one, j], self.share[other, i], self.rate[i, j], i == j, rng)
            drawn.append(np.column_stack((one[pairs[:, 0]], other[pairs[:, 1]])))
        return np.concatenate(drawn)

    def _falling(self, users: NDArray[np.int64], j: int) -> NDArray[np.int64]:
        """Users by falling share in block j."""
        return users[np.argsort(-self.share[users, j], kind="stable")]


def estimate_blocks(reports: NDArray[np.int64], block: NDArray[np.int64]) -> BlockModel:
    """The model that noisy degree vectors speak for.

    The number of contacts between two blocks is the mean of what both sides report, noise and all: over many users the noise
    cancels, but only while negative counts are left negative. Set to zero one by one they would add contacts that nobody has.
    Only then, for the shares of single users, a negative count counts zero.

    reports: (n, K) noisy number of contacts of each user in each block.
    block: (n,) the block of each user; none is empty.
    """
    sizes = np.bincount(block).astype(np.float64)
    sums = _sums(reports, block)
    pairs = np.outer(sizes, sizes)
    np.fill_diagonal(pairs, sizes * (sizes - 1.0))
    edges = np.clip((sums + sums.T) / 2.0, 0.0, pairs)
    np.fill_diagonal(edges, np.diag(edges) / 2.0)  # inside a block each contact is reported twice

    counts = np.maximum(reports, 0.0)
    totals = _sums(counts, block)[block]
    even = np.broadcast_to(1.0 / sizes[block, None], counts.shape)
    return BlockModel(block, np.divide(counts, totals, out=even.copy(), where=totals > 0.0), edges)


def _sums(values: NDArray[np.float64] | NDArray[np.int64], block: NDArray[np.int64]) -> NDArray[np.float64]:
    """The rows of each block added up."""
    return np.column_stack([np.bincount(block, weights=column) for column in values.T])
