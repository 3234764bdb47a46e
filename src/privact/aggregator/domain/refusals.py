"""Why the domain refuses a request, without a word of HTTP; http/statuses.py says which status each one is."""

from __future__ import annotations

from privact.errors import PrivaCTError

__all__ = ["Busy", "NotFound", "Refused", "WrongState"]


class Refused(PrivaCTError):
    """A request that cannot be granted; the message is one line that says what to do."""


class NotFound(Refused):
    """There is no such round, user or report."""


class WrongState(Refused):
    """The round, or what is stored for it, does not allow this now.

    retry_after: seconds after which to try again, if waiting helps.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Busy(Refused):
    """Too many requests are waiting already."""
