"""How private a whole series of rounds is at best, found by attacking all reports about an edge together.

Both ends of an edge report it in every round, so a series of T rounds sends 2 T reports about it. The game is that of
`audit.epsilon`, over all of them: a coin decides whether the edge is there, and the attacker guesses it from everything
received. Bins are adaptive, and chosen by the attacker: in each round edges fall in bins in the order of what earlier reports
say about them.

A noisy count above the count without the edge is a vote for it; for discrete Laplace noise votes are all that there is to
know. The attacker guesses where votes agree and abstains elsewhere, which the bound allows: given all reports, a coin is as
guessed with probability e^epsilon / (1 + e^epsilon) at most, whichever coins are guessed. If all 2 T votes agree it is exactly
that. Adaptive bins make trials depend on each other, so only `by_guesses` counts here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from privact.audit.epsilon import ALPHA, BOUNDS_OF_AN_EVENT, EventBound, bound_event
from privact.audit.guessing import COUNTS, REAL, WIDE, Bits, Device, Ints, make_audit_round
from privact.device.noise import SENSITIVITY
from privact.errors import InputError
from privact.protocol.promise import epsilon_per_report

__all__ = ["SeriesAudit", "audit_series"]

ENDS = 2
"""Ends of an edge: each sends a report in every round."""


@dataclass(frozen=True)
class SeriesAudit:
    """Lower bounds of the epsilon of a series: over all reports about an edge.

    epsilon: what was promised per edge over all rounds. rounds: how many share it.
    trials: edges that were there or edges that were not, whichever are fewer; guessed or not.
    alpha: probability that any bound of the run is too high although the promise holds.
    events: the bounds, one per event.
    """

    epsilon: float
    rounds: int
    trials: int
    alpha: float
    events: tuple[EventBound, ...]

    @property
    def bound(self) -> float:
        """Epsilon is at least this."""
        return max(event.by_guesses for event in self.events)

    @property
    def holds(self) -> bool:
        """Whether no bound exceeds what was promised."""
        return self.bound <= self.epsilon


def audit_series(
    epsilon: float,
    rounds: int,
    trials: int = 250_000,
    *,
    device: Device = REAL,
    alpha: float = ALPHA,
    rng: np.random.Generator | None = None,
    workers: int = 2,
    progress: Callable[[int, int], None] | None = None,
) -> SeriesAudit:
    """Attack all reports of a series about an edge and bound their epsilon from below.

    epsilon: what the series promises per edge over all rounds, which share it equally.
    trials: the least number of edges that are there, and that are not.
    device, alpha, rng, workers, progress: as for `audit_epsilon`.
    """
    if trials < 1 or rounds < 1 or not 0.0 < alpha < 1.0:
        raise InputError(
            f"trials {trials}, rounds {rounds} and alpha {alpha!r} cannot be used: "
            "give at least 1 trial, at least 1 round and 0 < alpha < 1"
        )
    coins_rng = np.random.default_rng() if rng is None else rng
    calls = math.ceil((2 * trials + 12 * math.sqrt(2 * trials)) / WIDE)  # a side has fewer trials once in 10^32
    coins = coins_rng.integers(0, 2, (calls, WIDE)).astype(bool)
    votes = _play_rounds(epsilon_per_report(epsilon / rounds), rounds, coins, device, workers, progress)
    guesses = _guess(votes)
    share = alpha / (BOUNDS_OF_AN_EVENT * len(guesses))
    events = tuple(bound_event(name, coins, guess, share) for name, guess in guesses.items())
    there = int(coins.sum())
    return SeriesAudit(epsilon, rounds, min(there, coins.size - there), alpha, events)


def _play_rounds(
    epsilon_report: float,
    rounds: int,
    coins: Bits,
    device: Device,
    workers: int,
    progress: Callable[[int, int], None] | None,
) -> Bits:
    """(calls, 2 rounds, edges) whether each report votes for each edge; the two ends of a round one after the other."""
    round = make_audit_round(epsilon_report, WIDE)
    without = np.resize(np.array(COUNTS), WIDE)
    votes = np.empty((len(coins), ENDS * rounds, WIDE), bool)

    def play(call: int) -> None:
        for report in range(0, ENDS * rounds, ENDS):
            so_far = votes[call, :report].sum(axis=0)
            bin_of_edge = np.empty(WIDE, np.int64)
            bin_of_edge[np.argsort(so_far, kind="stable")] = np.arange(WIDE)
            exact = without.copy()
            exact[bin_of_edge] += SENSITIVITY * coins[call]
            for end in range(ENDS):
                noisy = np.asarray(device.randomize(exact, round))
                votes[call, report + end] = (noisy > without)[bin_of_edge]

    with ThreadPoolExecutor(workers) as pool:
        for done, _ in enumerate(pool.map(play, range(len(coins))), 1):
            if progress is not None:
                progress(done, len(coins))
    return votes


def _guess(votes: Bits) -> dict[str, Ints]:
    """Every attack and its guesses: 1 for an edge, -1 for none, 0 for neither."""
    n_reports = votes.shape[1]
    return {
        "most reports agree": _guess_by_majority(votes, 1),
        "all reports but one agree": _guess_by_majority(votes, max(1, n_reports - 2)),
        "all reports agree": _guess_by_majority(votes, n_reports),
        "all reports of one end agree": _guess_by_majority(votes[:, ::ENDS], n_reports // ENDS),
        "both reports of the last round agree": _guess_by_majority(votes[:, -ENDS:], ENDS),
    }


def _guess_by_majority(votes: Bits, least: int) -> Ints:
    """Guess with the majority where it leads by at least `least` votes."""
    lead = 2 * votes.sum(axis=1) - votes.shape[1]
    return np.asarray(np.sign(lead) * (np.abs(lead) >= least))
