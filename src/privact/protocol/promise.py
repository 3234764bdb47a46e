"""Epsilon and what it promises: the share of each report, and the sentence that people read."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Real
from typing import Any, Final

from privact.errors import ProtocolError
from privact.protocol.round_ids import is_round_id

__all__ = [
    "MIN_EPSILON",
    "PROTECTS_NOTHING",
    "amount",
    "check_epsilon",
    "epsilon_per_report",
    "meaning_sentence",
    "privacy_sentence",
    "public_parameters",
    "say_nothing_protected",
]

MIN_EPSILON: Final = 1e-6
"""Smallest epsilon of a round: below it the noise would no longer fit a report's four-byte entries."""

PROTECTS_NOTHING: Final = 10.0
"""Above this epsilon one edge makes a report more than 100 times as likely, and a warning says that nothing is protected."""


def check_epsilon(epsilon: object) -> float:
    """Epsilon as a float; refused if no noise can be made for it."""
    try:
        number = math.nan if isinstance(epsilon, bool) or not isinstance(epsilon, Real) else float(epsilon)
    except OverflowError:
        number = math.inf
    if not MIN_EPSILON <= number < math.inf:
        raise ProtocolError(
            f"epsilon is {epsilon!r}; it must be a finite number of at least {MIN_EPSILON}: choose for example 1.0"
        )
    return number


def amount(epsilon: float) -> Fraction:
    """An epsilon as an exact number that can be added up: the decimal that people read, so that ten times 0.1 is 1."""
    return Fraction(repr(float(epsilon)))


def epsilon_per_report(epsilon: float) -> float:
    """The epsilon of one report, half of what is promised per edge: both ends of an edge report it.

    epsilon: the promise per edge over everything sent about that edge in one round.
    """
    return check_epsilon(epsilon) / 2


def meaning_sentence(epsilon: float) -> str:
    """What an epsilon means to somebody who never heard of it: how sure anybody can become, exp(epsilon) / (1 + exp(epsilon)).

    epsilon: the promise per edge over everything sent about that edge.
    """
    sure = min(100, math.ceil(100 / (1 + math.exp(-check_epsilon(epsilon))) - 1e-9))
    return (
        f"Somebody who has no idea whether you know a certain person, fifty-fifty, can be at most {sure} percent sure after "
        "seeing everything that is sent, by you and by that person."
    )


def privacy_sentence(epsilon: float, round_id: str = "simulation", rounds: int = 1) -> str:
    """What a round promises, and what it does not, in plain English.

    epsilon: the promise per edge over everything sent about that edge in the round.
    round_id: name of the round, or of the series.
    rounds: how many rounds share epsilon.
    """
    promised = check_epsilon(epsilon)
    if not is_round_id(round_id):
        raise ProtocolError(
            f"round id {round_id!r} must be 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter or digit: name the round"
        )
    about = f", about {math.exp(promised):.3g}" if promised < 100 else ""
    where, whole = ("round", "Per round") if rounds == 1 else (f"the {rounds} rounds of series", "Per series")
    other = "rounds add up, the next one spends" if rounds == 1 else "series and rounds add up, the next one spends"
    return (
        f"Per edge: in {where} {round_id}, whether any one contact exists changes the probability of anything that the "
        f"aggregator can receive by at most a factor of e^{promised!r}{about} "
        f"(epsilon {promised!r} over everything sent about that edge). "
        f"Per report: both ends of an edge report it, each with epsilon {epsilon_per_report(promised / rounds)!r}. "
        f"{whole}: {other} its own epsilon on top. "
        f"Not protected: a whole contact list at once (k contacts together spend k times as much), ratings, "
        f"and the fact that a user takes part."
    )


def public_parameters(epsilon: float | None, n_bins: int, random_bins: bool, bins_seed: bytes | None = None) -> dict[str, Any]:
    """What a tree says about reports that belong to no announced round. Never the seed of the noise, which would undo it.

    epsilon: the promise per edge; None without noise. bins_seed: of random bins, where it is known.
    """
    facts = {
        "epsilon": epsilon,
        "epsilon_report": None if epsilon is None else epsilon_per_report(epsilon),
        "n_bins": n_bins,
        "bins": "random" if random_bins else "labels",
        "bins_seed": None if bins_seed is None else bins_seed.hex(),
    }
    return {name: value for name, value in facts.items() if value is not None}


def say_nothing_protected(epsilon: float) -> str:
    """What a warning says about an epsilon above PROTECTS_NOTHING."""
    return f"epsilon {epsilon:g} protects nothing: reports are almost exact above {PROTECTS_NOTHING:g}; 1 is usual"
