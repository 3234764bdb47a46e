"""Why a device does not answer: exceptions of the device, each a PrivaCTError with one line."""

from __future__ import annotations

from privact.errors import FileFormatError, PrivaCTError

__all__ = ["AggregatorError", "LedgerError", "RefusedError"]


class RefusedError(PrivaCTError):
    """A round that this device will not answer, because it would break what the device promised its user."""


class LedgerError(FileFormatError):
    """A ledger that is lost, damaged or older than what was written: nobody knows any more what was spent."""


class AggregatorError(PrivaCTError):
    """An aggregator that cannot be reached, or that answers what no aggregator should."""
