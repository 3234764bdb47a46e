"""Randomized response on the contact list (section 2.2): each of a user's n bits is flipped with probability 1 / (1 + e^eps).

The naive way to be locally private. Both ends of a contact answer for it, so the promise of epsilon per contact leaves
epsilon / 2 for each answer, and a bit is flipped with probability q = 1 / (1 + e^(epsilon / 2)). Most bits are zeros: a
user claims q n contacts whom they do not have, whatever they do have. Sums over many bits can be cleared of that,

    (claims - q * bits) / (1 - 2 q)  is the number of true ones, on average,

single contacts cannot. Here whole networks are simulated by one program that sees all contacts: good for experiments, never
for a device.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privact.errors import InputError, UnknownUserError
from privact.network.graph import ContactGraph
from privact.protocol.round import epsilon_per_report

__all__ = ["RandomizedResponse", "debiased", "flip_probability", "randomized_response", "simulated_claims"]

MOST_USERS = 20_000
"""For how many users all n^2 bits are drawn: 50 MB."""

_BLOCK = 4_000_000  # bits drawn or unpacked at a time


def flip_probability(epsilon: float) -> float:
    """The probability with which each bit of a contact list is flipped.

    epsilon: the promise per contact; halved here for each answer, as both ends give one.
    """
    kept = math.exp(-epsilon_per_report(epsilon))
    return kept / (1.0 + kept)


def debiased(claims: ArrayLike, bits: ArrayLike, flip: float) -> NDArray[np.float64]:
    """What numbers of claimed contacts say about the numbers of true ones: right on average, often negative.

    claims: how many of the bits were reported as contacts.
    bits: how many bits were reported.
    flip: the probability with which each was flipped.
    """
    return np.asarray((np.asarray(claims, dtype=np.float64) - flip * np.asarray(bits)) / (1.0 - 2.0 * flip))


def simulated_claims(degrees: NDArray[np.integer[Any]], epsilon: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """How many contacts each user claims, drawn from its exact law without any bits; for simulations of any size.

    degrees: how many contacts each user has.
    epsilon: the promise per contact.
    rng: decides everything.
    """
    flip, n = flip_probability(epsilon), len(degrees)
    return np.asarray(rng.binomial(degrees, 1.0 - flip) + rng.binomial(n - 1 - degrees, flip), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class RandomizedResponse:
    """The noisy contact lists of a whole network.

    users: the id of each row.
    rows: (n, ceil(n / 8)) each user's list as packed bits, bit v set where the user claims to know v; never the user.
    flip: the probability with which each bit was flipped.
    epsilon: the promise per contact.
    """

    users: tuple[str, ...]
    rows: NDArray[np.uint8]
    flip: float
    epsilon: float

    def claims(self) -> NDArray[np.int64]:
        """(n,) how many contacts each user claims."""
        return np.asarray(np.bitwise_count(self.rows).sum(axis=1, dtype=np.int64))

    def degrees(self) -> NDArray[np.float64]:
        """(n,) estimated number of contacts of each user, from both ends: what u claims and who claims u."""
        claimed = np.zeros(len(self.users), np.int64)
        for _, bits in self._blocks():
            claimed += bits.sum(axis=0, dtype=np.int64)
        return debiased(self.claims() + claimed, 2 * (len(self.users) - 1), self.flip) / 2.0

    def densities(self, groups: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """(G, G) estimated share of pairs of users who know each other, between groups and within; NaN where no pairs are.

        groups: (n,) the group of each user, 0 to G-1.
        """
        groups = np.asarray(groups)
        if groups.shape != (len(self.users),) or groups.dtype.kind not in "iu" or groups.min() < 0:
            raise InputError(
                f"groups has shape {groups.shape}, type {groups.dtype}: give a number >= 0 for each of {len(self.users)} users"
            )
        member = np.eye(int(groups.max()) + 1, dtype=np.float32)[groups]
        claims = np.zeros((member.shape[1], member.shape[1]))
        for first, bits in self._blocks():
            claims += member[first : first + len(bits)].T @ (bits.astype(np.float32) @ member)
        sizes = member.sum(axis=0, dtype=np.float64)
        pairs = np.outer(sizes, sizes) - np.diag(sizes)
        claims, pairs = claims + claims.T, 2.0 * pairs
        return np.divide(debiased(claims, pairs, self.flip), pairs, out=np.full_like(pairs, np.nan), where=pairs > 0)

    def claimed(self, user: Hashable) -> tuple[str, ...]:
        """The ids of everyone whom a user claims to know."""
        if str(user) not in self.users:
            raise UnknownUserError(f"user {str(user)!r} is not among these {len(self.users)} users: see users")
        bits = np.unpackbits(self.rows[self.users.index(str(user))], count=len(self.users))
        return tuple(self.users[other] for other in np.flatnonzero(bits))

    def graph(self, rule: Literal["both", "either"] = "both") -> ContactGraph:
        """The noisy contact graph.

        rule: whether a contact counts if both ends claim it, or if either does.
        """
        if rule not in ("both", "either"):
            raise InputError(f"rule is {rule!r}: use 'both' or 'either'")
        mirrored = np.empty_like(self.rows)  # bit v of row u: v claims u
        for first, bits in self._blocks():
            mirrored[:, first // 8 : -(-(first + len(bits)) // 8)] = np.packbits(bits.T, axis=1)
        joined = self.rows & mirrored if rule == "both" else self.rows | mirrored
        found = []
        for first, bits in self._blocks(joined):
            u, v = np.nonzero(bits)
            above = u + first < v
            found.append(np.column_stack((u[above] + first, v[above])))
        return ContactGraph.from_edges(np.concatenate(found), users=self.users)

    def _blocks(self, rows: NDArray[np.uint8] | None = None) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """A few rows at a time as 0/1 bytes, with the number of the first, which is a multiple of 8."""
        packed, n = self.rows if rows is None else rows, len(self.users)
        for first in range(0, n, step := _rows_at_a_time(n)):
            yield first, np.unpackbits(packed[first : first + step], axis=1, count=n)


def randomized_response(
    graph: ContactGraph, epsilon: float, random_state: int | np.random.Generator | None = None
) -> RandomizedResponse:
    """Play everybody: flip each bit of each contact list, n^2 bits in all.

    graph: the true contacts, of 2 to 20,000 users.
    epsilon: the promise per contact.
    random_state: seed or generator; the same seed gives the same lists.
    """
    n, flip = graph.n_users, flip_probability(epsilon)
    if not 2 <= n <= MOST_USERS:
        raise InputError(f"the graph has {n:,} users, outside 2 to {MOST_USERS:,}: use simulated_claims, which draws no bits")
    rng = np.random.default_rng(random_state)
    rows = np.empty((n, -(-n // 8)), np.uint8)
    for first in range(0, n, step := _rows_at_a_time(n)):
        last = min(first + step, n)
        bits = rng.random((last - first, n)) < flip
        row = np.repeat(np.arange(last - first), graph.degrees[first:last])
        bits[row, graph.indices[graph.indptr[first] : graph.indptr[last]]] ^= True
        bits[np.arange(last - first), np.arange(first, last)] = False
        rows[first:last] = np.packbits(bits, axis=1)
    return RandomizedResponse(graph.users, rows, flip, epsilon)


def _rows_at_a_time(n: int) -> int:
    """How many lists of n bits are worked on together: whole bytes of users."""
    return max(8, _BLOCK // n // 8 * 8)
