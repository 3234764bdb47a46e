"""RoundLog: every round that an operator ever opened, signed, in a list to which entries can only be added.

Devices keep the head that they saw last. A log that does not continue from it was rewritten; a round that is not in the log was
shown to some users only. Either way the device does not answer. Two people who compare heads see whether they see the same log.

Canonical bytes, version 1; integers are unsigned and big endian:

    offset  bytes  field
    0       4      "PCLG"
    4       1      version, 1
    5       32     the operator's Ed25519 public key
    37      4      number of entries
    41      ...    entries in the order in which rounds were opened, each:
                   2 length a, a canonical bytes of the round, 64 signature

Entries form a hash chain. link_0 is BLAKE2b-256 of the first 37 bytes, and link_i that of link_{i-1} and the bytes of round i.
The signature of entry i is over "PCLH", version 1, i in 8 bytes, and link_i. The head is the last link: it fixes the whole log.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from privact.errors import ProtocolError
from privact.protocol.round import DIGEST_SIZE, Round
from privact.protocol.signing import PUBLIC_KEY_SIZE, SIGNATURE_SIZE, is_signed, sign

__all__ = ["LONGEST_LOG", "MAX_LOG_ENTRIES", "LogEntry", "RoundLog"]

MAX_LOG_ENTRIES: Final = 10_000
"""Most rounds of one log."""
LONGEST_LOG: Final = 2**22
"""Bytes that no log exceeds."""

_VERSION: Final = 1
_MAGIC: Final = b"PCLG"
_HEAD: Final = struct.Struct(f">4sB{PUBLIC_KEY_SIZE}sI")
_START: Final = struct.Struct(f">4sB{PUBLIC_KEY_SIZE}s")
_SIGNED: Final = struct.Struct(f">4sBQ{DIGEST_SIZE}s")
_LENGTH: Final = struct.Struct(">H")


@dataclass(frozen=True)
class LogEntry:
    """One opened round.

    parameters: canonical bytes of the round.
    signature: the operator's, over the head of the log that ends with this entry.
    """

    parameters: bytes
    signature: bytes


@dataclass(frozen=True)
class RoundLog:
    """All rounds that an operator opened, in order.

    public_key: the operator's.
    entries: one for each round.
    """

    public_key: bytes
    entries: tuple[LogEntry, ...] = ()

    def links(self) -> Iterator[bytes]:
        """The link after 0, 1, ... entries; the last is the head."""
        link = hashlib.blake2b(_START.pack(_MAGIC, _VERSION, self.public_key), digest_size=DIGEST_SIZE).digest()
        yield link
        for entry in self.entries:
            link = hashlib.blake2b(link + entry.parameters, digest_size=DIGEST_SIZE).digest()
            yield link

    @property
    def head(self) -> bytes:
        """The last link, 32 bytes: logs with the same head are the same."""
        *_, head = self.links()
        return head

    def continues(self, n_entries: int, head: bytes) -> bool:
        """Whether this log begins with the log of `n_entries` entries that had this head."""
        return any(place == n_entries and link == head for place, link in enumerate(self.links()))

    def lists(self, round: Round) -> bool:
        """Whether exactly this round is in the log."""
        parameters = round.to_bytes()
        return any(entry.parameters == parameters for entry in self.entries)

    def append(self, round: Round, secret_key: bytes) -> RoundLog:
        """This log with one more round.

        round: a round whose id is not in the log.
        secret_key: the operator's.
        """
        if any(Round.from_bytes(entry.parameters).id == round.id for entry in self.entries):
            raise ProtocolError(f"round {round.id} is in the log already: an id is listed once, choose another")
        if len(self.entries) >= MAX_LOG_ENTRIES:
            raise ProtocolError(f"the log has {MAX_LOG_ENTRIES:,} rounds, the most that it can have: begin another aggregator")
        unsigned = RoundLog(self.public_key, (*self.entries, LogEntry(round.to_bytes(), b"")))
        signature = sign(secret_key, _signed_bytes(len(unsigned.entries), unsigned.head))
        return RoundLog(self.public_key, (*self.entries, LogEntry(round.to_bytes(), signature)))

    def to_bytes(self) -> bytes:
        """The one encoding of this log; the layout is in the module's docstring."""
        parts = [_HEAD.pack(_MAGIC, _VERSION, self.public_key, len(self.entries))]
        for entry in self.entries:
            parts += [_LENGTH.pack(len(entry.parameters)), entry.parameters, entry.signature]
        return b"".join(parts)

    @classmethod
    def from_bytes(cls, data: bytes) -> RoundLog:
        """The log that these bytes encode; refused unless every round is well formed, listed once, and signed."""
        if len(data) < _HEAD.size or data[:4] != _MAGIC:
            raise ProtocolError(f"{len(data)} bytes starting with {data[:4]!r} are no log of rounds: one starts with {_MAGIC!r}")
        _, version, public_key, n_entries = _HEAD.unpack_from(data)
        if version != _VERSION:
            raise ProtocolError(f"log of rounds has version {version}; only {_VERSION} is known here: update the older side")
        if n_entries > MAX_LOG_ENTRIES:
            raise ProtocolError(f"log of rounds has {n_entries:,} entries; the most is {MAX_LOG_ENTRIES:,}: tell the operator")
        log = cls(public_key, tuple(_split(data, n_entries)))
        log._check()
        return log

    def _check(self) -> None:
        """Refuse a log with a malformed or repeated round, or with a signature that is not the operator's."""
        links = self.links()
        next(links)
        seen: set[str] = set()
        for number, (entry, link) in enumerate(zip(self.entries, links, strict=True), 1):
            round = Round.from_bytes(entry.parameters)
            if round.id in seen:
                raise ProtocolError(f"log of rounds lists {round.id} twice: it is not trusted, tell the operator")
            seen.add(round.id)
            if not is_signed(self.public_key, _signed_bytes(number, link), entry.signature):
                raise ProtocolError(f"entry {number} of the log of rounds is not signed with its key: it is not trusted")


def _split(data: bytes, n_entries: int) -> Iterator[LogEntry]:
    """The entries of a log; refused if bytes are missing or left over."""
    place = _HEAD.size
    for number in range(1, n_entries + 1):
        length = _LENGTH.unpack_from(data, place)[0] if place + _LENGTH.size <= len(data) else 0
        begin = place + _LENGTH.size
        place = begin + length + SIGNATURE_SIZE
        if not length or place > len(data):
            raise ProtocolError(f"log of rounds ends within entry {number} of {n_entries}: fetch it again")
        yield LogEntry(data[begin : begin + length], data[begin + length : place])
    if place != len(data):
        raise ProtocolError(f"log of rounds has {len(data) - place} bytes after its last entry: fetch it again")


def _signed_bytes(number: int, link: bytes) -> bytes:
    """What the operator signs: the head after `number` entries."""
    return _SIGNED.pack(b"PCLH", _VERSION, number, link)
