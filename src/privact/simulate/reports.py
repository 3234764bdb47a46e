"""Play every device of a whole network at once: contact graph + bins -> exact vectors -> reports. For experiments only.

`play_devices` runs the code of a real device for each user, noise included. `simulated_noise` draws from the same law with
NumPy, hundreds of times faster and from a seed: good for experiments, never for a device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from privact.device.degrees import degree_vector
from privact.device.noise import randomize
from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.protocol.labels import LabelTable
from privact.protocol.round import Round, epsilon_per_report
from privact.protocol.users import normalise_user_id

__all__ = ["degree_vectors", "play_devices", "simulate_reports", "simulated_noise"]

_BLOCK = 2_000_000  # edge ends counted at a time: bounds the memory beside the result to some 70 MB


def degree_vectors(graph: ContactGraph, bins: NDArray[np.integer], n_bins: int) -> NDArray[np.int64]:
    """The exact degree vector of every user, as if each device had counted its own contacts.

    graph: the whole contact graph.
    bins: (n_users,) bin of each user, 0 to n_bins - 1, or -1 for users who are counted nowhere.
    n_bins: number of bins.

    Returns (n_users, n_bins) counts.
    """
    bins = np.asarray(bins)
    if bins.shape != (graph.n_users,) or bins.dtype.kind not in "iu":
        raise InputError(f"bins has shape {bins.shape}, type {bins.dtype}; give one integer for each of {graph.n_users} users")
    if n_bins < 1 or (bins.size and not -1 <= int(bins.min()) <= int(bins.max()) < n_bins):
        raise InputError(
            f"bins go from {bins.min(initial=0)} to {bins.max(initial=0)}; with {n_bins} bins they must be -1 to {n_bins - 1}"
        )
    vectors = np.empty((graph.n_users, n_bins), dtype=np.int64)
    for first, last in _blocks(graph.indptr, n_bins):
        ends = slice(graph.indptr[first], graph.indptr[last])
        row = np.repeat(np.arange(last - first), np.diff(graph.indptr[first : last + 1]))
        column = bins[graph.indices[ends]]
        counted = column >= 0
        cell = row[counted] * n_bins + column[counted]
        vectors[first:last] = np.bincount(cell, minlength=(last - first) * n_bins).reshape(last - first, n_bins)
    return vectors


def simulated_noise(shape: int | tuple[int, ...], epsilon_report: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Discrete Laplace integers, P(k) proportional to exp(-epsilon_report |k|), for simulations and never for a device.

    The difference of two geometric numbers has exactly this law; floating point and a seed make it unfit for privacy.

    shape: shape of the result.
    epsilon_report: the epsilon of one report.
    rng: decides everything.
    """
    if not 0 < epsilon_report < np.inf:
        raise InputError(f"epsilon_report is {epsilon_report!r}; it must be a finite number above 0: use epsilon_per_report")
    success = -np.expm1(-epsilon_report)
    return rng.geometric(success, size=shape) - rng.geometric(success, size=shape)


def simulate_reports(vectors: NDArray[np.int64], epsilon: float | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """The noisy vectors that devices with these exact vectors could have sent.

    vectors: (n_users, n_bins) exact counts.
    epsilon: the promise per edge, halved here for each report; None for no noise.
    rng: decides everything.
    """
    if epsilon is None:
        return vectors.copy()
    return vectors + simulated_noise(vectors.shape, epsilon_per_report(epsilon), rng)


def play_devices(
    graph: ContactGraph,
    round: Round,
    labels: LabelTable | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> NDArray[np.int64]:
    """The noisy vectors of every user, each made from the user's own contact ids by the code that runs on a device.

    graph: the whole contact graph.
    round: the round that all devices answer.
    labels: the round's label table; only for label bins.
    progress: called with (devices done, devices in all) after each device.

    Returns (n_users, n_bins) noisy counts; another call gives other noise.
    """
    users = graph.names
    _refuse_shared_spelling(users)
    reports = np.empty((graph.n_users, round.n_bins), dtype=np.int64)
    for user, owner in enumerate(users):
        contacts = [users[contact] for contact in graph.indices[graph.indptr[user] : graph.indptr[user + 1]]]
        reports[user] = randomize(degree_vector(contacts, round, labels, owner=owner), round)
        if progress is not None:
            progress(user + 1, graph.n_users)
    return reports


def _blocks(indptr: NDArray[np.int64], n_bins: int) -> Iterator[tuple[int, int]]:
    """Ranges of users who have at most a block of contacts and of counts, or of one user who has more."""
    first, n_users = 0, len(indptr) - 1
    while first < n_users:
        full = int(np.searchsorted(indptr, indptr[first] + _BLOCK, side="right")) - 1
        last = min(max(full, first + 1), first + max(_BLOCK // n_bins, 1), n_users)
        yield first, last
        first = last


def _refuse_shared_spelling(users: tuple[str, ...]) -> None:
    """Devices could not tell two users apart whose ids are one after normalising."""
    seen: dict[str, str] = {}
    for user in users:
        other = seen.setdefault(normalise_user_id(user), user)
        if other is not user:
            raise InputError(
                f"users {other!r} and {user!r} are one id on a device ({normalise_user_id(user)!r}): rename one of them"
            )
