"""Round: the public parameters of one round, validated, with one encoding and one digest.

Canonical bytes, version 1; integers are unsigned and big endian:

    offset  bytes  field
    0       4      "PCRD"
    4       1      version, 1
    5       1      bins: 0 random, 1 labels; and 2 more if the round is one of a series
    6       8      epsilon, IEEE 754 double
    14      4      n_bins
    18      4      n_users
    22      8      opens, UTC seconds since 1970
    30      8      closes, UTC seconds since 1970
    38      8      joiner_seconds
    46      1+a    length of id (1 to 64), then id in ASCII
    47+a    1+b    length of seed (16 to 32) and seed, or 32 and the digest of the label table

and, only if the round is one of a series, whose name is the id without "." and the number:

    48+a+b  2      number of the round in the series, from 1
    50+a+b  2      number of rounds of the series
    52+a+b  8      total epsilon of the series, IEEE 754 double
"""

from __future__ import annotations

import hashlib
import math
import operator
import struct
from dataclasses import dataclass
from typing import Final, Literal

from privact.errors import ProtocolError
from privact.protocol.promise import MIN_EPSILON, check_epsilon, epsilon_per_report, privacy_sentence
from privact.protocol.round_ids import is_round_id
from privact.protocol.round_series import Series, series_name

__all__ = [
    "DIGEST_SIZE",
    "LAST_SECOND",
    "MAX_BINS",
    "MAX_USERS",
    "MIN_EPSILON",
    "Round",
    "check_bins",
    "check_seed",
    "default_bins",
    "epsilon_per_report",
]

DIGEST_SIZE: Final = 32
"""Bytes of a digest of a round or of a label table (BLAKE2b-256)."""
MAX_BINS: Final = 2**16
"""Most bins of a round: a label takes two bytes."""
MAX_USERS: Final = 2**31 - 1
"""Most users of a round: every count fits a report's four-byte entries."""
LAST_SECOND: Final = 253_402_300_799
"""The last second of the year 9999: every time up to it is a date that every platform can show."""

_VERSION: Final = 1
_MAGIC: Final = b"PCRD"
_KINDS: Final[tuple[Literal["random", "labels"], ...]] = ("random", "labels")
_HEAD: Final = struct.Struct(">4sBBdIIQQQ")
_IN_SERIES: Final = 2  # added to the kind of bins
_SERIES: Final = struct.Struct(">HHd")


def default_bins(n_users: int) -> int:
    """The number of bins for n_users users when nobody chose one: floor(ln n), at least 1."""
    if n_users < 1:
        raise ProtocolError(f"the number of users is {n_users}; bins need at least 1 user")
    return max(1, math.floor(math.log(n_users)))


@dataclass(frozen=True, kw_only=True)
class Round:
    """What everybody agrees on before anybody answers: frozen public parameters of one round.

    id: name of the round, 1 to 64 of A-Z a-z 0-9 . _ - (safe in addresses and file names).
    epsilon: the promise per edge over everything sent about that edge in this round; at least MIN_EPSILON.
    n_bins: number of bins, the length of every report's vector.
    n_users: number of registered users.
    bins: "random" (keyed hash of the user id under seed) or "labels" (the label table with labels_digest).
    seed: 16 to 32 bytes, drawn for this round; only for random bins.
    labels_digest: digest of the label table, 32 bytes; only for label bins.
    opens: first second in which reports are taken, UTC seconds since 1970.
    closes: first second in which they no longer are; the default leaves the round open.
    joiner_seconds: for how long after closes a user who enrolled later may still answer, in seconds.
    version: protocol version.
    series: what is agreed on for all rounds of the series that this round is one of; None for a round on its own.
    series_number: the place of this round in the series, from 1; 0 for a round on its own.
    """

    id: str
    epsilon: float
    n_bins: int
    n_users: int
    bins: Literal["random", "labels"] = "random"
    seed: bytes = b""
    labels_digest: bytes = b""
    opens: int = 0
    closes: int = LAST_SECOND
    joiner_seconds: int = 0
    version: int = _VERSION
    series: Series | None = None
    series_number: int = 0

    def __post_init__(self) -> None:
        """Refuse anything that could not be a round."""
        if not is_round_id(self.id):
            raise ProtocolError(f"round id {self.id!r} must be 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter or digit")
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        self._set_integer("version", _VERSION, _VERSION, "this is the only version known here: update the older side")
        self._set_integer("n_users", 1, MAX_USERS, "split larger networks")
        object.__setattr__(self, "n_bins", check_bins(self.n_bins, self.n_users))
        self._set_integer("opens", 0, LAST_SECOND - 1, "give UTC seconds since 1970")
        self._set_integer("closes", self.opens + 1, LAST_SECOND, "a round closes after it opens")
        self._set_integer("joiner_seconds", 0, LAST_SECOND - self.closes, "the window for joiners ends before the year 10000")
        if self.bins == "random":
            check_seed(self.seed)
            _check_bytes("labels_digest", self.labels_digest, 0, 0, "random bins have no label table")
        elif self.bins == "labels":
            _check_bytes("labels_digest", self.labels_digest, DIGEST_SIZE, DIGEST_SIZE, "pass LabelTable.digest()")
            _check_bytes("seed", self.seed, 0, 0, "label bins have no seed")
        else:
            raise ProtocolError(f"bins is {self.bins!r}; it must be 'random' or 'labels'")
        if self.series is not None:
            self.series.check_round(self.id, self.series_number, self.epsilon)
        elif self.series_number != 0:
            raise ProtocolError(f"series_number is {self.series_number!r}, but round {self.id} is in no series: give the series")

    @property
    def epsilon_report(self) -> float:
        """The epsilon with which each report of this round is made."""
        return epsilon_per_report(self.epsilon)

    def privacy_sentence(self) -> str:
        """What this round promises, and what it does not, in plain English."""
        return privacy_sentence(self.epsilon, self.id)

    def to_bytes(self) -> bytes:
        """The one encoding of this round; the layout is in the module's docstring."""
        name, source = self.id.encode("ascii"), self.seed or self.labels_digest
        kind, tail = _KINDS.index(self.bins), b""
        if self.series is not None:
            kind, tail = kind + _IN_SERIES, _SERIES.pack(self.series_number, self.series.rounds, self.series.epsilon)
        head = _HEAD.pack(
            _MAGIC, self.version, kind, self.epsilon,
            self.n_bins, self.n_users, self.opens, self.closes, self.joiner_seconds,
        )  # fmt: skip
        return head + bytes([len(name)]) + name + bytes([len(source)]) + source + tail

    @classmethod
    def from_bytes(cls, data: bytes, digest: bytes | None = None) -> Round:
        """The round that these bytes encode; anything but a round's one encoding is refused.

        data: what to_bytes gave.
        digest: the digest under which the round was announced; another round's bytes are refused.
        """
        if digest is not None and hashlib.blake2b(data, digest_size=DIGEST_SIZE).digest() != digest:
            raise ProtocolError(
                f"round does not have the announced digest {digest.hex()}; ask the aggregator for the round again"
            )
        if len(data) < _HEAD.size + 2 or data[:4] != _MAGIC:
            raise ProtocolError(f"{len(data)} bytes starting with {data[:4]!r} are not a round, which starts with {_MAGIC!r}")
        _, version, kind, epsilon, n_bins, n_users, opens, closes, joiner_seconds = _HEAD.unpack_from(data)
        if kind >= len(_KINDS) + _IN_SERIES:
            raise ProtocolError(
                f"round has bins of kind {kind}; known kinds are 0 (random) and 1 (labels), and 2 and 3 in a series"
            )
        name = data[_HEAD.size + 1 :][: data[_HEAD.size]].decode("latin-1")
        source = data[_HEAD.size + 1 + len(name) + 1 :]
        series, number = None, 0
        if kind >= _IN_SERIES:
            kind -= _IN_SERIES
            if len(source) < _SERIES.size:
                raise ProtocolError(f"round {name!r} ends before it says of which series it is; ask the aggregator for it again")
            number, rounds, total = _SERIES.unpack(source[-_SERIES.size :])
            source, series = source[: -_SERIES.size], Series(series_name(name, number), rounds, total)
        decoded = cls(
            id=name, epsilon=epsilon, n_bins=n_bins, n_users=n_users, bins=_KINDS[kind],
            seed=b"" if kind else source, labels_digest=source if kind else b"",
            opens=opens, closes=closes, joiner_seconds=joiner_seconds, version=version, series=series, series_number=number,
        )  # fmt: skip
        if decoded.to_bytes() != data:  # a length that does not fit, or bytes after the end
            raise ProtocolError("round is not in its one canonical encoding; ask the aggregator for the round again")
        return decoded

    def digest(self) -> bytes:
        """BLAKE2b-256 of the canonical bytes: what a report is bound to."""
        return hashlib.blake2b(self.to_bytes(), digest_size=DIGEST_SIZE).digest()

    def _set_integer(self, name: str, low: int, high: int, way_out: str) -> None:
        """Keep a field as a Python int between low and high."""
        object.__setattr__(self, name, _whole_number(name, getattr(self, name), low, high, way_out))


def check_bins(n_bins: object, n_users: int) -> int:
    """The number of bins as a Python int; refused unless it is from 1 to the number of users and to MAX_BINS."""
    return _whole_number("n_bins", n_bins, 1, min(n_users, MAX_BINS), "default_bins(n_users) is a good choice")


def check_seed(seed: object) -> bytes:
    """The seed of random bins; refused unless it is 16 to 32 bytes."""
    _check_bytes("seed", seed, 16, 32, "random bins need secrets.token_bytes(32)")
    assert isinstance(seed, bytes)
    return seed


def _whole_number(name: str, value: object, low: int, high: int, way_out: str) -> int:
    """A value as a Python int between low and high."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # what is no number raises
    except TypeError:
        number = low - 1
    if isinstance(value, bool) or not low <= number <= high:
        raise ProtocolError(f"{name} is {value!r}; it must be a whole number from {low} to {high}: {way_out}")
    return number


def _check_bytes(name: str, value: object, shortest: int, longest: int, way_out: str) -> None:
    """Refuse a value that is not bytes of the right length, without showing the bytes."""
    if not isinstance(value, bytes) or not shortest <= len(value) <= longest:
        found = f"{len(value)} bytes" if isinstance(value, bytes) else f"a {type(value).__name__}"
        raise ProtocolError(f"{name} is {found}; it must be {shortest} to {longest} bytes: {way_out}")
