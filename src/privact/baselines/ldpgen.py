"""LDPGen (Qin, Yu, Yang, Khalil, Xiao, Ren; CCS 2017): a synthetic contact graph from two rounds of noisy degree vectors.

Round one: users are put in k0 groups at random and report how many contacts they have in each, with noise. The server puts
users with similar reports together, in k1 groups, by k-means. Round two: users report their contacts in those groups. The server
groups users once more and draws a graph in which groups are as linked as reported. Here both rounds are simulations of a
whole network by one program that sees all contacts, with `simulated_noise`: good for experiments, never for a device.

The PrivaCT paper's appendix names what is wrong in LDPGen. That, and what is open besides, is decided here:

- *Epsilon.* Both ends of a contact report it, in both rounds. The promise is per contact over all four reports, so the
  rounds share it, epsilon = epsilon_1 + epsilon_2, and each report of round i is made with epsilon_i / 2. (LDPGen counts
  epsilon_i: its values are half of what they should be.)
- *Number of groups.* The closed form for k1 holds for degrees up to 50 only, which real networks exceed. k0 and k1 are
  floor(ln n) as in PrivaCT, or arguments.
- *Probability of a contact.* The published p_uv is not p_vu, and not Chung-Lu. Here the expected number of contacts between two
  groups is the mean of what both sides report, and is spread in proportion to each user's estimated number of contacts in the
  other group: symmetric, with expected degrees preserved (_block_model.py).
- *Negative counts.* Kept where sums over users cancel the noise, cut only where a probability cannot be negative
  (`estimate_blocks`).
- *The last grouping.* How many contacts users have in the last groups, nobody reported. So the groups that round two asked
  about stay the blocks of the graph, and the last grouping is returned beside it. (Measured on lastfm at epsilon 1, mean error
  of expected degrees: 5.6 contacts this way, 7.7 with counts spread over the last groups by their numbers of contacts, 6.4 with
  each count drawn to the mean of its last group.)
- *Recommendations.* The appendix could not reproduce the NDCG reported for LDPGen, far above that of methods without
  privacy; nothing here is tuned to meet it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privact.baselines._block_model import BlockModel, estimate_blocks
from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.protocol.round import default_bins, epsilon_per_report
from privact.simulate.reports import degree_vectors, simulated_noise

__all__ = ["LDPGenResult", "run_ldpgen"]

ROUNDS_OF_K_MEANS = 30


@dataclass(frozen=True, eq=False)
class LDPGenResult:
    """What LDPGen makes of a network.

    graph: the synthetic graph, of the same users.
    groups: (n,) the last grouping of users, by their reports of round two; it does not change the graph.
    start: (n,) the random groups that round one asked about.
    blocks: (n,) the groups that round two asked about, by the reports of round one.
    reports: (n, k1) noisy number of contacts in each block, as reported in round two.
    epsilon: the promise per contact over everything sent; None without noise.
    epsilon_rounds: how it is split over the two rounds.
    epsilon_reports: with which epsilon each single report of the two rounds is made: half, as both ends report.
    model: the probability of every contact of the synthetic graph.
    """

    graph: ContactGraph
    groups: NDArray[np.int64]
    start: NDArray[np.int64]
    blocks: NDArray[np.int64]
    reports: NDArray[np.int64]
    epsilon: float | None
    epsilon_rounds: tuple[float, float] | None
    epsilon_reports: tuple[float, float] | None
    model: BlockModel


def run_ldpgen(
    graph: ContactGraph,
    epsilon: float | None = 1.0,
    *,
    start_groups: int | None = None,
    groups: int | None = None,
    first_share: float = 0.5,
    random_state: int | np.random.Generator | None = None,
) -> LDPGenResult:
    """Play both rounds of LDPGen on a whole network, and draw the synthetic graph.

    graph: the true contacts; at least two users.
    epsilon: the promise per contact, over both rounds and both ends; None for no noise.
    start_groups: k0, the random groups of round one; floor(ln n) unless given.
    groups: k1, the groups of k-means; floor(ln n) unless given.
    first_share: the part of epsilon that round one spends, between 0 and 1.
    random_state: seed or generator of groups, noise and graph; the same seed gives the same graph.
    """
    n = graph.n_users
    if n < 2:
        raise InputError(f"the graph has {n} user, but LDPGen needs at least 2: give more users")
    if not 0.0 < first_share < 1.0:
        raise InputError(f"first_share is {first_share!r}, outside 0 to 1: both rounds need a part of epsilon, 0.5 is usual")
    k0 = _check_groups("start_groups", start_groups, n)
    k1 = _check_groups("groups", groups, n)
    rounds, each = None, None
    if epsilon is not None:
        epsilon = 2.0 * epsilon_per_report(epsilon)  # checked
        rounds = epsilon * first_share, epsilon * (1.0 - first_share)
        each = epsilon_per_report(rounds[0]), epsilon_per_report(rounds[1])
    rng = np.random.default_rng(random_state)

    start = rng.permutation(n) % k0
    blocks = _group_similar(_reports(graph, start, each and each[0], rng), k1, rng)
    reports = _reports(graph, blocks, each and each[1], rng)
    refined = _group_similar(reports, k1, rng)
    model = estimate_blocks(reports, blocks)
    synthetic = ContactGraph.from_rows(model.draw(rng), users=graph.users)
    return LDPGenResult(synthetic, refined, start, blocks, reports, epsilon, rounds, each, model)


def _reports(
    graph: ContactGraph, group: NDArray[np.int64], epsilon_report: float | None, rng: np.random.Generator
) -> NDArray[np.int64]:
    """What everybody answers when asked for the number of contacts in each group."""
    vectors = degree_vectors(graph, group, int(group.max()) + 1)
    return vectors if epsilon_report is None else vectors + simulated_noise(vectors.shape, epsilon_report, rng)


def _group_similar(reports: NDArray[np.int64], n_groups: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Users with similar reports in one group each, numbered without gaps; fewer groups where there is less to tell apart."""
    from scipy.cluster.vq import kmeans2

    different = len(np.unique(reports, axis=0)) if n_groups > 1 else 1
    if min(different, n_groups) == 1:
        return np.zeros(len(reports), np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # groups that lost everybody are dropped below
        _, labels = kmeans2(reports.astype(np.float64), min(different, n_groups), iter=ROUNDS_OF_K_MEANS, minit="++", seed=rng)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _check_groups(name: str, wanted: int | None, n: int) -> int:
    """A number of groups, if that many can be made."""
    if wanted is None:
        return default_bins(n)
    if not isinstance(wanted, (int, np.integer)) or isinstance(wanted, bool) or not 1 <= wanted <= n:
        raise InputError(f"{name} is {wanted!r}, not a whole number from 1 to the {n} users: floor(ln n) is usual")
    return int(wanted)
