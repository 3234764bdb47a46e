"""When a report is sent: a slot drawn by chance before the noise, so that the time of sending tells nothing.

How long it takes to read contacts and to draw noise depends on both. A report that left as soon as it was made would tell
something about them; one that leaves in a slot that was drawn before does not.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final

__all__ = ["LOOPBACK_WINDOW", "WINDOW", "draw_slot", "wait_for"]

WINDOW: Final = 600.0
"""Seconds over which slots are spread when nobody chose otherwise."""
LOOPBACK_WINDOW: Final = 2.0
"""The same for an aggregator on this machine."""

_LEAD: Final = 0.2
"""The part of the window that is left free for reading contacts and drawing noise."""


def draw_slot(asked: float, window: float, closes: float) -> int:
    """When to send, in UTC milliseconds: evenly drawn from the window after its lead, and before the round closes.

    asked: when the person asked, UTC seconds: before contacts were read.
    window: length of the window in seconds; 0 sends at once.
    closes: when the round closes for this device, UTC seconds.
    """
    first = int(1000 * (asked + _LEAD * window))
    last = int(1000 * min(asked + window, closes - 1))
    return first if last <= first else first + secrets.randbelow(last - first + 1)


def wait_for(send_at: int, window: float, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
    """Sleep until a slot; never longer than the window, so that a clock which was set back cannot hold a report for years.

    send_at: the slot, UTC milliseconds; window: seconds.
    clock: gives UTC seconds; sleep: takes seconds.
    """
    seconds = min(send_at / 1000 - clock(), window)
    if seconds > 0:
        sleep(seconds)
