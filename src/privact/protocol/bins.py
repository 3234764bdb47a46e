"""Which bin a user falls in: user id + round -> 0 .. n_bins - 1, the same on every device and at the aggregator.

Random bins: keyed BLAKE2b of the normalised user id in UTF-8 under the round's seed, 8 bytes, read as a big-endian
integer, modulo n_bins. The modulo makes no bin likelier than another by more than 2**-64, so the whole law is
within n_bins / 2**64 of uniform. Label bins: the label in the round's table; a user in no group falls in no bin (-1)
and is counted nowhere. The privacy promise holds for every partition, also for one that an adversary chose, as long as
the labels themselves were not computed from private edges.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from privact.errors import ProtocolError
from privact.protocol.labels import LabelTable
from privact.protocol.round import MAX_BINS, Round, check_bins, check_seed
from privact.protocol.users import normalise_user_id

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["assign_bins", "assign_round_bins", "bin_of"]

_HASH_SIZE = 8  # bytes of the hash that decides on a bin
_BLOCK = 1 << 16  # users whose hashes are kept at a time


def assign_bins(user_ids: Iterable[str], seed: bytes, n_bins: int) -> NDArray[np.int32]:
    """The random bin of each user, 0 to n_bins - 1.

    user_ids: in any spelling; they are normalised.
    seed: 16 to 32 bytes, the key of the hash.
    n_bins: number of bins.
    """
    import numpy as np  # for the users of a whole round; a device has none

    check_seed(seed)
    check_bins(n_bins, MAX_BINS)
    keyed = hashlib.blake2b(digest_size=_HASH_SIZE, key=seed)

    def compute_hash(user: str) -> bytes:  # as _hash does; the key is taken in once for all users
        state = keyed.copy()
        state.update(normalise_user_id(user).encode())
        return state.digest()

    users = iter(user_ids)
    blocks = [np.empty(0, np.int32)]
    while hashes := b"".join(map(compute_hash, islice(users, _BLOCK))):
        blocks.append((np.frombuffer(hashes, ">u8") % np.uint64(n_bins)).astype(np.int32))
    return np.concatenate(blocks)


def assign_round_bins(user_ids: Iterable[str], round: Round, labels: LabelTable | None = None) -> NDArray[np.int32]:
    """The bin of each user in a round, -1 where a user is in no bin.

    user_ids: in any spelling; they are normalised.
    round: the round's public parameters.
    labels: the round's label table; only for label bins.
    """
    table = _table_of(round, labels)
    return assign_bins(user_ids, round.seed, round.n_bins) if table is None else table.labels_of(user_ids)


def bin_of(user_id: str, round: Round, labels: LabelTable | None = None) -> int:
    """The bin in which one user is counted, or -1 for a user in no bin; arguments as for assign_round_bins."""
    table = _table_of(round, labels)
    return int.from_bytes(_hash(user_id, round.seed)) % round.n_bins if table is None else table.label_of(user_id)


def _hash(user_id: str, seed: bytes) -> bytes:
    """The eight bytes that decide on the random bin of a user."""
    return hashlib.blake2b(normalise_user_id(user_id).encode(), digest_size=_HASH_SIZE, key=seed).digest()


def _table_of(round: Round, labels: LabelTable | None) -> LabelTable | None:
    """The label table, if it is the one that the round names; None for random bins."""
    if round.bins != "labels":
        if labels is not None:
            raise ProtocolError(f"round {round.id} has random bins and takes no label table; leave labels out")
        return None
    if labels is None:
        raise ProtocolError(
            f"round {round.id} has label bins; download its label table {round.labels_digest.hex()} and pass it as labels"
        )
    if labels.digest() != round.labels_digest:
        raise ProtocolError(
            f"label table {labels.digest().hex()} is not that of round {round.id}; download {round.labels_digest.hex()}"
        )
    if labels.n_labels != round.n_bins:
        raise ProtocolError(
            f"label table has {labels.n_labels} labels but round {round.id} has {round.n_bins} bins; they must be equal"
        )
    return labels
