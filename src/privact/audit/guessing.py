"""The game that an audit plays against a device: coins decide who is a contact, the device randomizes, the attacker looks.

For every bin a coin decides whether one more contact falls in it: that is one edge between two neighbouring contact lists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privact.device.degrees import degree_vector
from privact.device.noise import SENSITIVITY, laplace_measurement, make_report, randomize
from privact.protocol.bins import bin_of
from privact.protocol.report import Report
from privact.protocol.round import Round

__all__ = [
    "COUNTS",
    "REAL",
    "REPORTS",
    "WIDE",
    "Bits",
    "Device",
    "Game",
    "Ints",
    "make_audit_round",
    "play_reports",
    "play_vectors",
    "weaken_noise",
]

WIDE: Final = 1_000
"""Bins of a vector that is randomized at once: a draw costs a tenth of what it costs alone."""
COUNTS: Final = (0, 1, 4, 25, 300)
"""Contacts in a bin without the contact in question, in turn from bin to bin: neighbours are (0, 1), (1, 2), (4, 5), ..."""
NARROW: Final = 7
"""Bins of the whole reports, made from contact lists: floor(ln n) of some 2,000 users."""
REPORTS: Final = 2_000
"""How many whole reports are made."""

Bits = NDArray[np.bool_]
Ints = NDArray[np.int64]


class Device(NamedTuple):
    """What is audited.

    randomize: exact vector and round to noisy vector.
    report: contacts, round and user to report.
    """

    randomize: Callable[[Any, Round], Sequence[int] | Ints]
    report: Callable[[list[str], Round, str], Report]


REAL: Final = Device(randomize, make_report)
"""The code that runs on every device."""


class Game(NamedTuple):
    """Coins and what an attacker sees.

    coins: (calls, bins) whether the contact was there.
    noise: (calls, bins) noisy count minus the count without the contact.
    """

    coins: Bits
    noise: Ints


def weaken_noise(scale: float) -> Device:
    """A device that breaks its promise: the real one with noise of another scale. An audit must catch it below 1.

    scale: what the noise scale is multiplied with.
    """

    def weaker(vector: Any, round: Round) -> list[int]:
        noisy: list[int] = laplace_measurement(round.epsilon_report / scale, round.n_bins)(np.asarray(vector).tolist())
        return noisy

    def weaker_report(contacts: list[str], round: Round, user: str) -> Report:
        return Report.bind(round, user, weaker(degree_vector(contacts, round, owner=user), round))

    return Device(weaker, weaker_report)


def make_audit_round(epsilon_report: float, n_bins: int) -> Round:
    """A round whose reports have this epsilon each."""
    return Round(id="audit", epsilon=2 * epsilon_report, n_bins=n_bins, n_users=2 * WIDE, seed=bytes(range(16)))


def play_vectors(
    epsilon_report: float,
    calls: int,
    device: Device,
    rng: np.random.Generator,
    workers: int,
    progress: Callable[[int, int], None] | None,
) -> Game:
    """Randomize wide vectors. OpenDP draws outside Python's lock, so threads use all cores.

    epsilon_report: of each report. calls: how many vectors. device: what is attacked. rng: tosses the coins.
    workers: calls at a time. progress: called with (calls done, calls in all).
    """
    round = make_audit_round(epsilon_report, WIDE)
    without = np.resize(np.array(COUNTS), WIDE)
    coins = rng.integers(0, 2, (calls, WIDE)).astype(bool)
    noise = np.empty((calls, WIDE), np.int64)

    def play(call: int) -> None:
        noise[call] = np.asarray(device.randomize(without + SENSITIVITY * coins[call], round)) - without

    with ThreadPoolExecutor(workers) as pool:
        for done, _ in enumerate(pool.map(play, range(calls)), 1):
            if progress is not None:
                progress(done, calls)
    return Game(coins, noise)


def play_reports(epsilon_report: float, device: Device, rng: np.random.Generator) -> Game:
    """Make whole reports of contact lists in which one contact of each bin is there or not; arguments as for play_vectors."""
    round = make_audit_round(epsilon_report, NARROW)
    usual = [f"contact{number}@audit.example" for number in range(20)]
    without = degree_vector(usual, round)
    in_question: dict[int, str] = {}
    number = 0
    while len(in_question) < NARROW:
        user = f"candidate{number}@audit.example"
        in_question.setdefault(bin_of(user, round), user)
        number += 1
    coins = rng.integers(0, 2, (REPORTS, NARROW)).astype(bool)
    noise = np.empty((REPORTS, NARROW), np.int64)
    for call in range(REPORTS):
        contacts = [*usual, *(in_question[place] for place in np.flatnonzero(coins[call]).tolist())]
        noise[call] = np.array(device.report(contacts, round, "owner@audit.example").vector) - without
    return Game(coins, noise)
