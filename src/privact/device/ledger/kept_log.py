"""What a device remembers of an aggregator's log of rounds: the operator's key, and the head that it saw last.

A device that has once seen a key for an aggregator never accepts less: no log, another key, or a log that does not continue
from the kept head stop it from answering.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from privact.errors import LedgerError, RefusedError
from privact.protocol.round_log import RoundLog
from privact.storage import write_privately

__all__ = ["KeptLog", "LogHead"]


@dataclass(frozen=True)
class LogHead:
    """How far a log had come when it was seen last: the operator's public key, the number of entries, and the last link."""

    key: bytes
    entries: int
    head: bytes


@dataclass(frozen=True)
class KeptLog:
    """The file of one account in which the head is kept.

    path: the file; it is missing until a log is seen first.
    """

    path: Path

    def read(self) -> LogHead | None:
        """What was seen last; None if no log was ever seen."""
        if not self.path.exists():
            return None
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
            return LogHead(bytes.fromhex(kept["key"]), int(kept["entries"]), bytes.fromhex(kept["head"]))
        except (OSError, ValueError, LookupError, TypeError):
            raise LedgerError(
                f"{self.path} is damaged, which tells how far the log of rounds had come: restore it, or ask the operator "
                "for the key and run `privact device join URL --token TOKEN --key HEX`"
            ) from None

    def accept(self, log: RoundLog | None, url: str, expected: bytes | None = None) -> None:
        """Keep the head of a log that continues the one seen before; refused if it does not.

        log: what the aggregator shows now; None if it shows none.
        url: the aggregator, for errors.
        expected: a key that the person confirmed; what was kept for another key is given up.
        """
        replaced = expected is not None and log is not None and log.public_key == expected
        kept = None if replaced and (self._kept_key() != expected) else self.read()
        if log is None:
            if kept is not None:
                raise RefusedError(
                    f"{url} showed a signed log of rounds and shows none now: nothing is answered, ask the operator"
                )
            return
        found = LogHead(log.public_key, len(log.entries), log.head)
        if kept is not None and kept.key != found.key:
            raise RefusedError(
                f"{url} signs rounds with the key {found.key.hex()}, not with {kept.key.hex()} as before: nothing is answered; "
                "if the operator confirms the new key, run `privact device join URL --token TOKEN --key HEX`"
            )
        if kept is not None and not log.continues(kept.entries, kept.head):
            raise RefusedError(
                f"the log of rounds at {url} does not continue from the head {kept.head.hex()[:16]}... after {kept.entries} "
                "rounds that this device saw: it was rewritten, nothing is answered, tell others"
            )
        if found != kept:
            self.keep(found)

    def _kept_key(self) -> bytes | None:
        """The key of what is kept; None if there is none, or it is damaged."""
        try:
            kept = self.read()
        except LedgerError:
            return None
        return None if kept is None else kept.key

    def keep(self, head: LogHead) -> None:
        """Write down a head, whatever was kept before."""
        kept = {"version": 1, "key": head.key.hex(), "entries": head.entries, "head": head.head.hex()}
        write_privately(self.path, json.dumps(kept).encode())
