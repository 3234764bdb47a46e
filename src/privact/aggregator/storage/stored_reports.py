"""The reports of a round, streamed from the database: URL + round id -> batches of (user ids, noisy counts).

Users come in the order of their digests, whatever order their reports arrived in and whatever database holds them: the same
reports are the same arrays. That order is also the order of leaves in a released tree, and tells nothing about who enrolled when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import false, select, true
from sqlalchemy.exc import DBAPIError

from privact.aggregator.storage import schema
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.report_counts import joiner_count, report_count
from privact.errors import FileFormatError, InputError, ProtocolError
from privact.protocol.report import read_vectors
from privact.protocol.round import Round
from privact.tree.counts import check_count

__all__ = ["BATCH", "StoredRound", "read_all", "read_reports", "read_round"]

BATCH: Final = 10_000
"""Reports fetched at a time: about a megabyte."""


class StoredRound(NamedTuple):
    """What learning a round needs to know besides the reports.

    round: the public parameters.
    profile: "counts" or "shares", what users are compared by.
    search_seed: decides every choice of the search.
    n_reports: how many reports came in time.
    n_joiners: how many came from users who enrolled later.
    """

    round: Round
    profile: str
    search_seed: int
    n_reports: int
    n_joiners: int


def read_round(url: str, round_id: str) -> StoredRound:
    """What the database knows about an opened round.

    url: sqlite:///FILE or postgresql://USER@HOST/NAME.
    round_id: the name of the round.
    """
    with closing(_existing(url)) as store:
        return _round(store, round_id)


def read_reports(
    url: str, round_id: str, *, batch: int = BATCH, late: bool = False
) -> Iterator[tuple[list[str], NDArray[np.int32]]]:
    """The reports of a round in batches of user ids and (users, n_bins) noisy counts, in the order of user digests.

    url: sqlite:///FILE or postgresql://USER@HOST/NAME.
    round_id: the name of the round.
    batch: how many reports are held in memory at once.
    late: the reports of users who enrolled after the opening, instead of those that came in time.
    """
    size = check_count("batch", batch)
    with closing(_existing(url)) as store:
        n_bins = _round(store, round_id).round.n_bins
        reports, users = schema.reports, schema.users
        rows = (
            select(users.c.id, reports.c.bytes)
            .join(users, users.c.digest == reports.c.user)
            .where(reports.c.round_id == round_id, reports.c.late.is_(true() if late else false()))
            .order_by(reports.c.user)
            .execution_options(stream_results=True, yield_per=size)
        )
        with store.read() as connection:
            for part in connection.execute(rows).partitions(size):
                yield [row.id for row in part], _vectors([row.bytes for row in part], n_bins)


def read_all(
    url: str, round_id: str, *, late: bool = False, progress: Callable[[str, int, int], None] | None = None
) -> tuple[list[str], NDArray[np.int32]]:
    """All user ids and noisy counts of a round at once.

    progress: called with (what is done, how many reports, of how many). Other arguments as for read_reports.
    """
    stored = read_round(url, round_id)
    total = stored.n_joiners if late else stored.n_reports
    users: list[str] = []
    parts = [np.empty((0, stored.round.n_bins), np.int32)]
    for some, vectors in read_reports(url, round_id, late=late):
        users += some
        parts.append(vectors)
        if progress is not None:
            progress("reading reports", len(users), total)
    return users, np.concatenate(parts)


def _existing(url: str) -> Store:
    """The store at the URL; a SQLite file is not made by looking for it."""
    store = Store(url)
    if store.is_sqlite and not Path(str(store.url.database)).is_file():
        raise InputError(f"there is no database {store.url.database}: give the URL that the aggregator uses")
    return store


def _round(store: Store, round_id: str) -> StoredRound:
    rounds = schema.rounds
    wanted = select(
        rounds.c.parameters,
        rounds.c.digest,
        rounds.c.profile,
        rounds.c.search_seed,
        report_count().label("n_reports"),
        joiner_count().label("n_joiners"),
    ).where(rounds.c.id == round_id)
    try:
        with store.read() as connection:
            row = connection.execute(wanted).one_or_none()
    except DBAPIError as error:
        reason = " ".join(str(error.orig).split())
        raise InputError(f"cannot read rounds from {store}: {reason}; give the URL that the aggregator uses") from None
    if row is None:
        raise InputError(f"no round {round_id!r} in {store}: `privact round list` shows all")
    if row.parameters is None:
        raise InputError(f"round {round_id!r} was never opened and has no reports: open it first")
    return StoredRound(Round.from_bytes(row.parameters, row.digest), row.profile, row.search_seed, row.n_reports, row.n_joiners)


def _vectors(encoded: list[bytes], n_bins: int) -> NDArray[np.int32]:
    """The entries of stored reports."""
    try:
        return read_vectors(encoded, n_bins)
    except ProtocolError as error:
        raise FileFormatError(f"the database is damaged, restore a backup: {error}") from None
