"""What a device demands of a round, whoever announces it: round + rules + clock -> nothing, or a refusal with the reason."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Final

from privact.errors import InputError, RefusedError
from privact.protocol.promise import amount
from privact.protocol.round import LAST_SECOND, MIN_EPSILON, Round

__all__ = ["DEFAULT_BUDGET", "DEFAULT_CAP", "DEFAULT_MINIMUM_USERS", "Rules", "amount", "check_round", "format_epsilon"]

DEFAULT_BUDGET: Final = 10.0
"""Lifetime budget of a device, over all aggregators, when nobody chose one: ten rounds of epsilon 1."""
DEFAULT_CAP: Final = 2.0
"""Largest epsilon of a single round when nobody chose one: the largest that the paper tries."""
DEFAULT_MINIMUM_USERS: Final = 100
"""Fewest users of a round when nobody chose a number."""


@dataclass(frozen=True)
class Rules:
    """The limits that a person set at the beginning; later they can only become stricter.

    budget: lifetime budget, the sum of the epsilons of all rounds ever answered, at whatever aggregator. A round's epsilon is its
        promise per edge over both ends' reports; this device's own report costs half of it. So an edge between two people with
        budgets B and C costs at most (B + C) / 2 in its whole life, and B if both have B.
    cap: largest epsilon of a single round.
    minimum_users: fewest registered users of a round.
    """

    budget: float = DEFAULT_BUDGET
    cap: float = DEFAULT_CAP
    minimum_users: int = DEFAULT_MINIMUM_USERS

    def __post_init__(self) -> None:
        """Refuse limits that are none."""
        for name, value, least in (("budget", self.budget, 0.0), ("cap", self.cap, MIN_EPSILON)):
            if type(value) not in (int, float) or not least <= value < math.inf:
                raise InputError(f"{name} is {value!r}; it must be a finite number of at least {least:g}: choose for example 2")
            object.__setattr__(self, name, float(value))
        if type(self.minimum_users) is not int or self.minimum_users < 1:
            raise InputError(
                f"minimum_users is {self.minimum_users!r}; it must be a whole number of at least 1: keep the default"
            )

    def must_tighten(self, other: Rules) -> None:
        """Refuse other rules of which one is looser than here."""
        for name, own in vars(self).items():
            if getattr(self.tightened(other), name) != getattr(other, name):
                raise InputError(f"{name} is {own:g} and cannot become {getattr(other, name):g}: limits only become stricter")

    def tightened(self, other: Rules) -> Rules:
        """The stricter of each pair of limits."""
        return Rules(min(self.budget, other.budget), min(self.cap, other.cap), max(self.minimum_users, other.minimum_users))


def format_epsilon(epsilon: Fraction | float) -> str:
    """An epsilon for a sentence, such as 2.5."""
    return f"{float(epsilon):.10g}"


def check_round(round: Round, rules: Rules, now: float, *, late: bool = False, reserve: float = 0.0) -> None:
    """Refuse a round that breaks the rules, whatever is left of the budget.

    round: the round, already decoded: what is malformed never comes here.
    rules: this device's limits.
    now: the device's clock, UTC seconds since 1970.
    late: whether the aggregator says that this user enrolled after the round opened and may still join it.
    reserve: seconds before the close that are needed to send a report in time.
    """
    if not 0.0 < round.epsilon <= rules.cap:
        raise RefusedError(
            f"round {round.id} has epsilon {format_epsilon(round.epsilon)}, above the {format_epsilon(rules.cap)} "
            "that this device allows one round: not answered"
        )
    if round.n_users < rules.minimum_users:
        raise RefusedError(
            f"round {round.id} has {round.n_users:,} users, fewer than the {rules.minimum_users:,} that this device demands: "
            "not answered"
        )
    last = round.closes + (round.joiner_seconds if late else 0)
    if now < round.opens:
        raise RefusedError(
            f"round {round.id} opens at {_date(round.opens)} but the clock here says {_date(now)}: answer later, or set the clock"
        )
    if now >= last:
        raise RefusedError(
            f"round {round.id} closed at {_date(last)} but the clock here says {_date(now)}: it is over, or set the clock"
        )
    if now > last - reserve:
        raise RefusedError(
            f"round {round.id} closes in {last - now:.0f} s, and a report needs {reserve:.0f} s to be sure to come in time: "
            "not answered, so that nothing is spent in vain"
        )


def _date(seconds: float) -> str:
    """A time for people; what is before 1970 or after 9999 is shown as its limit."""
    return datetime.fromtimestamp(int(min(max(seconds, 0), LAST_SECOND)), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
