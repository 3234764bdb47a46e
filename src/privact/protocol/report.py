"""Report: a noisy degree vector bound to a round and a user, with one encoding.

Canonical bytes, version 1; integers are big endian:

    offset  bytes  field
    0       4      "PCRP"
    4       1      version, 1
    5       4      number of bins, unsigned
    9       32     digest of the round
    41      16     digest of the user: BLAKE2b-128 of the normalised user id
    57      4 x    entries, signed; a noisy count beyond four bytes is sent as the nearest that fits

The length depends on the number of bins alone: 57 + 4 n_bins bytes for a user without contacts and for one with a million.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from privact.errors import ProtocolError
from privact.protocol.round import DIGEST_SIZE, MAX_BINS, Round
from privact.protocol.users import USER_DIGEST_SIZE, user_digest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ENTRY_MAX", "ENTRY_MIN", "Report", "ReportLayout", "read_vectors", "report_length"]

ENTRY_MIN: Final = -(2**31)
"""Smallest entry of a report."""
ENTRY_MAX: Final = 2**31 - 1
"""Largest entry of a report."""

_VERSION: Final = 1
_MAGIC: Final = b"PCRP"
_HEAD: Final = struct.Struct(f">4sBI{DIGEST_SIZE}s{USER_DIGEST_SIZE}s")
_ENTRY_SIZE: Final = 4
_USER: Final = slice(_HEAD.size - USER_DIGEST_SIZE, _HEAD.size)


def report_length(n_bins: int) -> int:
    """Bytes of every report of a round with n_bins bins."""
    return _HEAD.size + _ENTRY_SIZE * n_bins


@dataclass(frozen=True)
class Report:
    """What a device sends: noisy counts of its user's contacts per bin, and nothing else.

    round_digest: Round.digest() of the round that is answered, 32 bytes.
    user: user_digest(user_id) of the user who answers, 16 bytes.
    vector: noisy count per bin, each from ENTRY_MIN to ENTRY_MAX.
    """

    round_digest: bytes
    user: bytes
    vector: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse anything that could not be a report."""
        for name, value, size in (("round digest", self.round_digest, DIGEST_SIZE), ("user", self.user, USER_DIGEST_SIZE)):
            if not isinstance(value, bytes) or len(value) != size:
                raise ProtocolError(f"the {name} of a report must be {size} bytes: build reports with Report.bind")
        if not isinstance(self.vector, tuple) or not 1 <= len(self.vector) <= MAX_BINS:
            raise ProtocolError(
                f"the vector of a report must be a tuple of 1 to {MAX_BINS} counts: build reports with Report.bind"
            )
        for entry in self.vector:
            if type(entry) is not int or not ENTRY_MIN <= entry <= ENTRY_MAX:
                raise ProtocolError(
                    f"report has an entry {entry!r}; entries are whole numbers from {ENTRY_MIN} to {ENTRY_MAX}: clamp it"
                )

    @classmethod
    def bind(cls, round: Round, user_id: str, vector: Iterable[int]) -> Report:
        """Tie a noisy vector to its round and user; entries beyond four bytes become the nearest that fits.

        round: the round that is answered.
        user_id: the user who answers, in any spelling.
        vector: noisy count per bin, n_bins whole numbers. Exact counts must never come here.
        """
        try:
            clamped = tuple(min(max(operator.index(entry), ENTRY_MIN), ENTRY_MAX) for entry in vector)
        except TypeError:
            raise ProtocolError(
                "a report takes whole numbers only: randomize counts with privact.device.noise.randomize"
            ) from None
        report = cls(round.digest(), user_digest(user_id), clamped)
        report.require(round)
        return report

    def require(self, round: Round) -> None:
        """Refuse this report unless it answers the given round."""
        if self.round_digest != round.digest():
            raise ProtocolError(
                f"report answers round {self.round_digest.hex()}, not {round.id} ({round.digest().hex()}): fetch the round again"
            )
        if len(self.vector) != round.n_bins:
            raise ProtocolError(
                f"report has {len(self.vector)} entries; round {round.id} has {round.n_bins} bins: send one entry per bin"
            )

    def to_bytes(self) -> bytes:
        """The one encoding of this report; the layout is in the module's docstring."""
        head = _HEAD.pack(_MAGIC, _VERSION, len(self.vector), self.round_digest, self.user)
        return head + struct.pack(f">{len(self.vector)}i", *self.vector)

    @classmethod
    def from_bytes(cls, data: bytes) -> Report:
        """The report that these bytes encode; anything but a report's one encoding is refused."""
        if len(data) < _HEAD.size or data[:4] != _MAGIC:
            raise ProtocolError(f"{len(data)} bytes starting with {data[:4]!r} are not a report, which starts with {_MAGIC!r}")
        _, version, n_bins, round_digest, user = _HEAD.unpack_from(data)
        if version != _VERSION:
            raise ProtocolError(f"report has version {version}; only {_VERSION} is known here: update the older side")
        if not 1 <= n_bins <= MAX_BINS or len(data) != report_length(n_bins):
            raise ProtocolError(
                f"report says {n_bins} bins in {len(data)} bytes; it must be 1 to {MAX_BINS} bins in 57 + 4 bytes each"
            )
        return cls(round_digest, user, struct.unpack_from(f">{n_bins}i", data, _HEAD.size))


class ReportLayout(NamedTuple):
    """What every report of a round looks like: the encoding leaves only the user and the entries open.

    head: the bytes before the user.
    length: of the whole report.
    """

    head: bytes
    length: int

    @classmethod
    def of_round(cls, round: Round) -> ReportLayout:
        """The layout of the reports of a round."""
        head = _HEAD.pack(_MAGIC, _VERSION, round.n_bins, round.digest(), bytes(USER_DIGEST_SIZE))
        return cls(head[: _USER.start], report_length(round.n_bins))

    def fits(self, data: bytes, user: bytes) -> bool:
        """Whether these bytes are a report of this round by the user with this digest; far quicker than decoding them."""
        return len(data) == self.length and data[: _USER.start] == self.head and data[_USER] == user


def read_vectors(encoded: Sequence[bytes], n_bins: int) -> NDArray[np.int32]:
    """The noisy counts of many reports of one round, (n_reports, n_bins), read at once.

    encoded: reports in their canonical encoding that were checked when they came in; only their length is checked here.
    n_bins: number of bins of the round.
    """
    import numpy as np  # who has the reports of a round has it; a device has not

    length = report_length(n_bins)
    if wrong := [len(report) for report in encoded if len(report) != length]:
        raise ProtocolError(f"a report has {wrong[0]} bytes, not the {length} of {n_bins} bins: take another copy of the reports")
    data = np.frombuffer(b"".join(encoded), np.uint8).reshape(len(encoded), length)
    return np.ascontiguousarray(data[:, _HEAD.size :]).view(">i4").astype(np.int32)
