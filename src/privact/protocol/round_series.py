"""Series: what a device agrees to once, before the first of several rounds over the same contacts.

The rounds of a series are named `<series>.1`, `<series>.2` and so on, so that no number can be asked twice: an id is listed once
in the log of rounds, and a device answers an id once. Each round costs at most an equal share of the total, so that any of them
together cost at most the total. A round carries its number, the number of rounds and the total; its name gives the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from privact.errors import ProtocolError
from privact.protocol.promise import MIN_EPSILON, amount, check_epsilon
from privact.protocol.round_ids import is_round_id

__all__ = ["MAX_SERIES_ROUNDS", "Series", "series_name"]

MAX_SERIES_ROUNDS: Final = 100
"""Most rounds of a series."""


@dataclass(frozen=True)
class Series:
    """Rounds that share one promise.

    name: of the series; with ".100" behind it, it must still be a round id.
    rounds: how many rounds there are at most, 2 to MAX_SERIES_ROUNDS.
    epsilon: the promise per edge over everything sent about that edge in all rounds of the series together.
    """

    name: str
    rounds: int
    epsilon: float

    def __post_init__(self) -> None:
        """Refuse anything that could not be a series."""
        if type(self.rounds) is not int or not 2 <= self.rounds <= MAX_SERIES_ROUNDS:
            raise ProtocolError(
                f"a series of {self.rounds!r} rounds cannot be: give a whole number from 2 to {MAX_SERIES_ROUNDS}, for example 4"
            )
        if not isinstance(self.name, str) or not is_round_id(f"{self.name}.{MAX_SERIES_ROUNDS}") or not is_round_id(self.name):
            raise ProtocolError(
                f"series name {self.name!r} must be 1 to 60 of A-Z a-z 0-9 . _ - and start with a letter or digit: choose another"
            )
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        if self.epsilon < 2 * MIN_EPSILON * self.rounds:
            raise ProtocolError(
                f"epsilon {self.epsilon!r} over {self.rounds} rounds is too little for any: choose for example {self.rounds}.0"
            )

    @property
    def epsilon_per_round(self) -> float:
        """The largest epsilon that every round may cost."""
        share = float(amount(self.epsilon) / self.rounds)
        while not self.allows(share):  # the quotient was rounded up: a step or two
            share = math.nextafter(share, 0.0)
        return share

    def allows(self, epsilon: float) -> bool:
        """Whether a round of this epsilon costs at most an equal share of the total, in exact decimals."""
        return amount(epsilon) * self.rounds <= amount(self.epsilon)

    def round_id(self, number: int) -> str:
        """The id of a round, 1 to `rounds`."""
        return f"{self.name}.{number}"

    def most_from(self, number: int) -> Fraction:
        """What the rounds from a number on cost at most together."""
        return amount(self.epsilon_per_round) * (self.rounds - number + 1)

    def check_round(self, round_id: str, number: object, epsilon: float) -> None:
        """Refuse a round that cannot be one of this series.

        round_id, epsilon: of the round. number: its place in the series, from 1.
        """
        if type(number) is not int or not 1 <= number <= self.rounds:
            raise ProtocolError(f"round {round_id} is number {number!r} of a series of {self.rounds} rounds: it is not answered")
        if round_id != self.round_id(number):
            raise ProtocolError(
                f"round {round_id} is number {number} of series {self.name}, whose name is {self.round_id(number)}: rename it"
            )
        if not self.allows(epsilon):
            raise ProtocolError(
                f"round {round_id} costs epsilon {epsilon!r}, more than 1/{self.rounds} of the {self.epsilon!r} of its series: "
                f"at most {self.epsilon_per_round!r} is allowed"
            )


def series_name(round_id: str, number: int) -> str:
    """The name of the series whose round of this number has this id; the id itself if it is no such id."""
    return round_id.removesuffix(f".{number}")
