"""Round: the public parameters of one round, validated, with one encoding and one digest.

Canonical bytes, version 1; integers are unsigned and big endian:

    offset  bytes  field
    0       4      "PCRD"
    4       1      version, 1
    5       1      bins: 0 random, 1 labels
    6       8      epsilon, IEEE 754 double
    14      4      n_bins
    18      4      n_users
    22      8      opens, UTC seconds since 1970
    30      8      closes, UTC seconds since 1970
    38      8      joiner_seconds
    46      1+a    length of id (1 to 64), then id in ASCII
    47+a    1+b    length of seed (16 to 32) and seed, or 32 and the digest of the label table
"""

from __future__ import annotations

import hashlib
import math
import operator
import re
import struct
from dataclasses import dataclass
from numbers import Real
from typing import Final, Literal

from privact.errors import ProtocolError

__all__ = ["DIGEST_SIZE", "LAST_SECOND", "MAX_BINS", "MAX_USERS", "MIN_EPSILON", "Round", "default_bins", "epsilon_per_report"]

DIGEST_SIZE: Final = 32
"""Bytes of a digest of a round or of a label table (BLAKE2b-256)."""
MIN_EPSILON: Final = 1e-6
"""Smallest epsilon of a round: below it the noise would no longer fit a report's four-byte entries."""
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
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def epsilon_per_report(epsilon: float) -> float:
    """The epsilon of one report, half of what is promised per edge: both ends of an edge report it.

    epsilon: the promise per edge over everything sent about that edge in one round.
    """
    return _checked_epsilon(epsilon) / 2


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

    def __post_init__(self) -> None:
        """Refuse anything that could not be a round."""
        if not (isinstance(self.id, str) and _ID.fullmatch(self.id)):
            raise ProtocolError(f"round id {self.id!r} must be 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter or digit")
        object.__setattr__(self, "epsilon", _checked_epsilon(self.epsilon))
        self._set_integer("version", _VERSION, _VERSION, "this is the only version known here: update the older side")
        self._set_integer("n_users", 1, MAX_USERS, "split larger networks")
        self._set_integer("n_bins", 1, min(self.n_users, MAX_BINS), "default_bins(n_users) is a good choice")
        self._set_integer("opens", 0, LAST_SECOND - 1, "give UTC seconds since 1970")
        self._set_integer("closes", self.opens + 1, LAST_SECOND, "a round closes after it opens")
        self._set_integer("joiner_seconds", 0, LAST_SECOND - self.closes, "the window for joiners ends before the year 10000")
        if self.bins == "random":
            self._check_bytes("seed", self.seed, 16, 32, "random bins need secrets.token_bytes(32)")
            self._check_bytes("labels_digest", self.labels_digest, 0, 0, "random bins have no label table")
        elif self.bins == "labels":
            self._check_bytes("labels_digest", self.labels_digest, DIGEST_SIZE, DIGEST_SIZE, "pass LabelTable.digest()")
            self._check_bytes("seed", self.seed, 0, 0, "label bins have no seed")
        else:
            raise ProtocolError(f"bins is {self.bins!r}; it must be 'random' or 'labels'")

    @property
    def epsilon_report(self) -> float:
        """The epsilon with which each report of this round is made."""
        return epsilon_per_report(self.epsilon)

    def privacy_sentence(self) -> str:
        """What this round promises, and what it does not, in plain English."""
        about = f", about {math.exp(self.epsilon):.3g}" if self.epsilon < 100 else ""
        return (
            f"Per edge: in round {self.id}, whether any one contact exists changes the probability of anything that the "
            f"aggregator can receive by at most a factor of e^{self.epsilon!r}{about} "
            f"(epsilon {self.epsilon!r} over everything sent about that edge). "
            f"Per report: both ends of an edge report it, each with epsilon {self.epsilon_report!r}. "
            f"Per round: rounds add up, the next one spends its own epsilon on top. "
            f"Not protected: a whole contact list at once (k contacts together spend k times as much), ratings, "
            f"and the fact that a user takes part."
        )

    def to_bytes(self) -> bytes:
        """The one encoding of this round; the layout is in the module's docstring."""
        name, source = self.id.encode("ascii"), self.seed or self.labels_digest
        head = _HEAD.pack(
            _MAGIC, self.version, _KINDS.index(self.bins), self.epsilon,
            self.n_bins, self.n_users, self.opens, self.closes, self.joiner_seconds,
        )  # fmt: skip
        return head + bytes([len(name)]) + name + bytes([len(source)]) + source

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
        if kind >= len(_KINDS):
            raise ProtocolError(f"round has bins of kind {kind}; known kinds are 0 (random) and 1 (labels)")
        name = data[_HEAD.size + 1 :][: data[_HEAD.size]]
        source = data[_HEAD.size + 1 + len(name) + 1 :]
        decoded = cls(
            id=name.decode("latin-1"), epsilon=epsilon, n_bins=n_bins, n_users=n_users, bins=_KINDS[kind],
            seed=b"" if kind else source, labels_digest=source if kind else b"",
            opens=opens, closes=closes, joiner_seconds=joiner_seconds, version=version,
        )  # fmt: skip
        if decoded.to_bytes() != data:  # a length that does not fit, or bytes after the end
            raise ProtocolError("round is not in its one canonical encoding; ask the aggregator for the round again")
        return decoded

    def digest(self) -> bytes:
        """BLAKE2b-256 of the canonical bytes: what a report is bound to."""
        return hashlib.blake2b(self.to_bytes(), digest_size=DIGEST_SIZE).digest()

    def _set_integer(self, name: str, low: int, high: int, way_out: str) -> None:
        """Keep a field as a Python int between low and high."""
        value = getattr(self, name)
        try:
            number = operator.index(value)
        except TypeError:
            number = low - 1
        if isinstance(value, bool) or not low <= number <= high:
            raise ProtocolError(f"{name} is {value!r}; it must be a whole number from {low} to {high}: {way_out}")
        object.__setattr__(self, name, number)

    def _check_bytes(self, name: str, value: bytes, shortest: int, longest: int, way_out: str) -> None:
        """Refuse a field that is not bytes of the right length, without showing the bytes."""
        if not isinstance(value, bytes) or not shortest <= len(value) <= longest:
            found = f"{len(value)} bytes" if isinstance(value, bytes) else f"a {type(value).__name__}"
            raise ProtocolError(f"{name} is {found}; it must be {shortest} to {longest} bytes: {way_out}")


def _checked_epsilon(epsilon: object) -> float:
    """Epsilon as a float, if noise can be made for it."""
    try:
        number = math.nan if isinstance(epsilon, bool) or not isinstance(epsilon, Real) else float(epsilon)
    except OverflowError:
        number = math.inf
    if not MIN_EPSILON <= number < math.inf:
        raise ProtocolError(
            f"epsilon is {epsilon!r}; it must be a finite number of at least {MIN_EPSILON}: choose for example 1.0"
        )
    return number
