"""How many rounds a series has, unless another number is asked for; docs/explanation/series.md says why."""

from __future__ import annotations

__all__ = ["choose_rounds"]

USUAL, MORE = 4, 5
"""Rounds where epsilon is small, and where each of five rounds still tells enough."""

ENOUGH = 4.0
"""From this epsilon on five rounds find more than four."""


def choose_rounds(epsilon: float | None) -> int:
    """The number of rounds that serves most networks.

    Every round amplifies what the one before it found, and leaves less epsilon for each.

    epsilon: the promise per edge over all rounds together; None without noise, where four rounds find all.
    """
    return MORE if epsilon is not None and epsilon >= ENOUGH else USUAL
