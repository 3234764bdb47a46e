"""How private a report is at best, found by attacking it: an empirical lower bound of its epsilon.

The attack plays a game that an epsilon_report edge-private device makes hard. For every bin a coin decides whether one more
contact falls in it: that is one edge between two neighbouring contact lists. The device randomizes the vector, and the
attacker guesses every coin from the noisy vector alone. Whatever the attacker does, the number of right guesses is then
stochastically at most binomial with e^epsilon / (1 + e^epsilon) a guess, also where entries depend on each other (Steinke, Nasr,
Jagielski: Privacy Auditing with One (1) Training Run, NeurIPS 2023, for pure privacy). So a Clopper-Pearson limit
of the probability p of a right guess gives epsilon >= ln(p / (1 - p)): `by_guesses`. One call of the device thus gives as many
trials as it has bins. Guessing "contact" where the noisy count exceeds the count without it is the best attack on discrete
Laplace noise, and reaches e^epsilon / (1 + e^epsilon) exactly: nothing is given away but the width of the limit.

`by_sides` is the textbook bound, ln of the ratio of two limits: how often "contact" is guessed with the contact, and how often
without it. It takes trials for independent, which `by_guesses` does not. Pooling bins is sound in both: if no bin exceeds
epsilon, their mean does not.

All events are in EVENTS, fixed before anything is drawn. All limits of a run hold together except with probability `alpha`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from privact.audit.bounds import at_least, at_most
from privact.audit.guessing import COUNTS, REAL, WIDE, Bits, Device, Ints, play_reports, play_vectors
from privact.errors import InputError

__all__ = ["ALPHA", "BOUNDS_OF_AN_EVENT", "EVENTS", "WHOLE_REPORT", "EpsilonAudit", "EventBound", "audit_epsilon", "bound_event"]

BOUNDS_OF_AN_EVENT: Final = 3
"""Limits that an event has, each of which may be wrong."""
ALPHA: Final = 1e-6
"""How often a run may accuse a device that keeps its promise."""


@dataclass(frozen=True)
class EventBound:
    """What one attack shows.

    event: which trials were taken and how they were guessed.
    without, with_contact: trials on each side.
    guesses, right: how many coins were guessed, and how many rightly.
    by_guesses: epsilon is at least this, from the right guesses; also where trials depend on each other.
    by_sides: epsilon is at least this, from the two frequencies of a guess; for independent trials.
    """

    event: str
    without: int
    with_contact: int
    guesses: int
    right: int
    by_guesses: float
    by_sides: float


@dataclass(frozen=True)
class EpsilonAudit:
    """Lower bounds of the epsilon of one report.

    epsilon_report: what was promised.
    alpha: probability that any bound of the run is too high although the promise holds.
    events: the bounds, one per event.
    """

    epsilon_report: float
    alpha: float
    events: tuple[EventBound, ...]

    @property
    def bound(self) -> float:
        """Epsilon is at least this."""
        return max(max(event.by_guesses, event.by_sides) for event in self.events)

    @property
    def trials(self) -> int:
        """Trials on the smaller side of the event that has most."""
        return max(min(event.without, event.with_contact) for event in self.events)

    @property
    def holds(self) -> bool:
        """Whether no bound exceeds what was promised."""
        return self.bound <= self.epsilon_report


def _own(noise: Ints) -> Ints:
    """Guess "contact" (1) or "no contact" (-1) from the bin's own noisy count: the best attack on exact noise."""
    return np.where(noise >= 1, 1, -1)


def _next(noise: Ints) -> Ints:
    """Guess from how far a bin is above the next one; 0 if it is not: finds noise that bins share."""
    return np.asarray(np.sign(noise - np.roll(noise, -1, axis=1)))


class Attack(NamedTuple):
    """A way to guess coins, fixed before anything is drawn.

    name: what is attacked.
    guess: noise to guesses.
    bins: (WIDE,) which bins are guessed.
    """

    name: str
    guess: Callable[[Ints], Ints]
    bins: Bits


_PLACE: Final = np.arange(WIDE)

EVENTS: Final = (
    Attack("all bins", _own, _PLACE >= 0),
    *(Attack(f"{count} contacts or {count + 1}", _own, _PLACE % len(COUNTS) == turn) for turn, count in enumerate(COUNTS)),
    Attack("first bin", _own, _PLACE == 0),
    Attack("last bin", _own, _PLACE == WIDE - 1),
    Attack("even bins", _own, _PLACE % 2 == 0),
    Attack("difference to the next bin", _next, _PLACE >= 0),
)
"""The attacks on randomized vectors. Whole reports are one event more."""
WHOLE_REPORT: Final = "whole reports of contact lists"


def audit_epsilon(
    epsilon_report: float,
    trials: int = 1_000_000,
    *,
    device: Device = REAL,
    alpha: float = ALPHA,
    rng: np.random.Generator | None = None,
    workers: int = 2,
    progress: Callable[[int, int], None] | None = None,
) -> EpsilonAudit:
    """Attack a device's reports and bound their epsilon from below.

    epsilon_report: what each report promises per edge.
    trials: the least number on each side.
    device: what is attacked; by default the code that devices run.
    alpha: probability that a device that keeps its promise is accused all the same.
    rng: tosses the coins; the device's noise has no seed. By default nobody can guess them.
    workers: calls of the device at a time.
    progress: called with (calls done, calls in all).
    """
    if trials < 1 or not 0.0 < alpha < 1.0:
        raise InputError(f"trials {trials} and alpha {alpha!r} cannot be used: give at least 1 trial and 0 < alpha < 1")
    coins = np.random.default_rng() if rng is None else rng
    share = alpha / (BOUNDS_OF_AN_EVENT * (len(EVENTS) + 1))
    calls = math.ceil((2 * trials + 12 * math.sqrt(2 * trials)) / WIDE)  # a side has fewer trials once in 10^32
    game = play_vectors(epsilon_report, calls, device, coins, workers, progress)
    found = [bound_event(event.name, game.coins, event.guess(game.noise) * event.bins, share) for event in EVENTS]
    whole = play_reports(epsilon_report, device, coins)
    found.append(bound_event(WHOLE_REPORT, whole.coins, _own(whole.noise), share))
    return EpsilonAudit(epsilon_report, alpha, tuple(found))


def bound_event(event: str, coins: Bits, guess: Ints, alpha: float) -> EventBound:
    """What guesses show.

    coins: whether each contact was there. guess: 1 contact, -1 none, 0 no guess.
    alpha: how often each of the three limits or ratios may be wrong.
    """
    guessed = guess != 0
    there = coins & guessed
    absent = ~coins & guessed
    says_there = guess == 1
    with_contact, without = int(there.sum()), int(absent.sum())
    hits, false_hits = int((there & says_there).sum()), int((absent & says_there).sum())
    right, guesses = hits + without - false_hits, with_contact + without
    rate = at_least(right, guesses, alpha)
    by_guesses = math.log(rate / (1.0 - rate)) if 0.0 < rate < 1.0 else -math.inf
    by_sides = max(
        _ratio(hits, with_contact, false_hits, without, alpha),
        _ratio(without - false_hits, without, with_contact - hits, with_contact, alpha),
    )
    return EventBound(event, without, with_contact, guesses, right, by_guesses, by_sides)


def _ratio(hits: int, trials: int, other_hits: int, other_trials: int, alpha: float) -> float:
    """ln of a lower limit over an upper limit, each with half of alpha."""
    low, high = at_least(hits, trials, alpha / 2), at_most(other_hits, other_trials, alpha / 2)
    return math.log(low / high) if low > 0.0 else -math.inf
