"""When a report is sent: a slot drawn by chance before the noise, so that the time of sending tells nothing.

How long it takes to read contacts and to draw noise depends on both. A report that left as soon as it was made would tell
something about them; one that leaves in a slot that was drawn before does not.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final

__all__ = ["LOOPBACK_RESERVE", "LOOPBACK_WINDOW", "RESERVE", "WINDOW", "draw_slot", "wait_for"]

WINDOW: Final = 600.0
"""Seconds over which slots are spread when nobody chose otherwise."""
LOOPBACK_WINDOW: Final = 2.0
"""The same for an aggregator on this machine."""
RESERVE: Final = 30.0
"""Seconds before the close of a round that are kept for sending: slots end before them, and nothing is charged in them."""
LOOPBACK_RESERVE: Final = 1.0
"""The same for an aggregator on this machine."""

_LEAD: Final = 0.2
"""The part of the window that is left free for reading contacts and drawing noise."""


def draw_slot(asked: float, window: float, last: float) -> int:
    """When to send, in UTC milliseconds: evenly drawn from the window after its lead; the window shrinks to what is left.

    asked: when the person asked, UTC seconds: before contacts were read.
    window: length of the window in seconds; 0 sends at once.
    last: when the report must be sent at the latest, UTC seconds.
    """
    length = max(0.0, min(window, last - asked))
    first, end = int(1000 * (asked + _LEAD * length)), int(1000 * (asked + length))
    return first + secrets.randbelow(end - first + 1)


def wait_for(send_at: int, window: float, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
    """Sleep until a slot; never longer than the window, so that a clock which was set back cannot hold a report for years.

    send_at: the slot, UTC milliseconds; window: seconds.
    clock: gives UTC seconds; sleep: takes seconds.
    """
    seconds = min(send_at / 1000 - clock(), window)
    if seconds > 0:
        sleep(seconds)
