"""What can go wrong, as one tree of exceptions.

PrivaCTError
 ├── InputError (also ValueError)         an argument is outside what the call can take
 │    ├── GraphError                      a contact graph cannot be read or used
 │    └── TreeError                       arrays, linkage or text do not describe a full binary tree
 ├── UnknownUserError (also KeyError)     a user is not in this tree or graph
 ├── FileFormatError                      a file is truncated, foreign, damaged or from a newer version
 │    └── LedgerError                     a device's ledger is lost, damaged or older than what was written
 ├── ProtocolError (also ValueError)      a round or a report is malformed
 ├── RefusedError                         a device does not answer a round, to keep what it promised its user
 ├── AggregatorError                      an aggregator cannot be reached, refuses, or sends what no aggregator should
 ├── NotFittedError (also ValueError and  a model is asked before it has learned; also
 │    AttributeError)                     scikit-learn's own where that is loaded
 └── MissingExtraError (also ImportError) an optional dependency is not installed

Every message is one line that names the value, the limit and the way out.
"""

from __future__ import annotations

__all__ = [
    "AggregatorError",
    "FileFormatError",
    "GraphError",
    "InputError",
    "LedgerError",
    "MissingExtraError",
    "NotFittedError",
    "PrivaCTError",
    "ProtocolError",
    "RefusedError",
    "TreeError",
    "UnknownUserError",
]


class PrivaCTError(Exception):
    """Anything this package refuses, in one line."""


class InputError(PrivaCTError, ValueError):
    """An argument is outside what the call can take."""


class GraphError(InputError):
    """A contact graph cannot be read or used."""


class TreeError(InputError):
    """Arrays, linkage or text do not describe a full binary tree."""


class UnknownUserError(PrivaCTError, KeyError):
    """A user is not in this tree or graph."""

    def __str__(self) -> str:  # KeyError would show the message in quotes
        return str(self.args[0]) if self.args else ""


class FileFormatError(PrivaCTError):
    """A file is truncated, foreign, damaged or from a newer version."""


class LedgerError(FileFormatError):
    """A ledger that is lost, damaged or older than what was written: what was spent is no longer known."""


class RefusedError(PrivaCTError):
    """A round that a device will not answer, because it would break what the device promised its user."""


class AggregatorError(PrivaCTError):
    """An aggregator that cannot be reached, that refuses, or that sends what no aggregator should."""


class ProtocolError(PrivaCTError, ValueError):
    """A round or a report is malformed."""


class NotFittedError(PrivaCTError, ValueError, AttributeError):
    """A model is asked before it has learned."""


class MissingExtraError(PrivaCTError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed: pip install 'privact[{extra}]'")
