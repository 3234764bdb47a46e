"""Erasure and retention: what the aggregator holds about a person -> gone, and a tree that keeps the leaf without the name.

A user is erased when the operator says so, or after `retention_days`. Reports, tokens and ids leave the database; the ids in
released files become made-up names that say nothing. The shape of a released tree stays: it was learned from everybody.
Backups made before still hold what was erased, until they are thrown away.
"""

from __future__ import annotations

import json
import logging
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy import Connection, Select, and_, delete, func, or_, select, update

from privact.aggregator.domain.access.operators import erase_subject
from privact.aggregator.domain.enrolment import check_user_id
from privact.aggregator.domain.refusals import WrongState
from privact.aggregator.domain.release import joined_folder, release_path, sha256_of
from privact.aggregator.domain.suggestions.rating_file import erase_ratings
from privact.aggregator.settings import Settings
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import invitations, label_tables, releases, reports, rounds, users
from privact.errors import PrivaCTError, UnknownUserError
from privact.protocol.labels import LabelTable
from privact.protocol.users import user_digest
from privact.tree.hct import HierarchicalClusterTree
from privact.tree.user_ids import UserIds

__all__ = ["ERASED", "Purged", "erase_user", "is_erased_name", "purge"]

ERASED: Final = "erased-"
"""How the made-up name of an erased user begins; the rest is random."""

_DAY: Final = 86_400
_log = logging.getLogger("privact.aggregator.erasure")


class Purged(NamedTuple):
    """What retention removed.

    reports: how many. users: how many removed users lost their row.
    """

    reports: int
    users: int


def is_erased_name(name: str) -> bool:
    """Whether a name in a tree stands for somebody who was erased."""
    return name.startswith(ERASED)


def erase_user(store: Store, settings: Settings, user_id: str) -> bytes:
    """Remove everything about a user: row, token, reports, ratings, labels, names in released files and records; the digest.

    The labels of a round that still takes reports are fixed by its digest: they go when it has ended and the user is erased
    again, or with the retention.

    store, settings: of the server. user_id: enrolled or removed, in any spelling.
    """
    normal = check_user_id(user_id)
    digest = user_digest(normal)
    with store.write() as connection:
        store.one_at_a_time(connection)
        known = connection.execute(select(users.c.digest).where(users.c.digest == digest)).one_or_none() is not None
        if not _delete_labels(connection, normal, store.seconds(connection)) and not known:
            raise UnknownUserError(f"no user {normal!r} is or was enrolled")
        _refuse_while_learning(connection, digest)
        _delete_reports(connection, digest)
        _delete_draft_labels(connection, normal)
        connection.execute(delete(invitations).where(invitations.c.user == digest))
        connection.execute(delete(users).where(users.c.digest == digest))
        erase_subject(connection, normal)
        released = list(connection.execute(select(releases.c.round_id)).scalars())
    for round_id in released:
        _erase_name(store, settings, round_id, normal)
    erase_ratings(settings.ratings_folder, normal)
    return digest


def purge(store: Store, settings: Settings, now: int) -> Purged:
    """Remove what is older than `retention_days`: reports of rounds that ended, and users removed, before then.

    now: UTC seconds.
    """
    if not settings.retention_days:
        return Purged(0, 0)
    before = now - settings.retention_days * _DAY
    with store.write() as connection:
        old = _select_ended(before)
        n_reports = connection.execute(delete(reports).where(reports.c.round_id.in_(old))).rowcount
        connection.execute(delete(label_tables).where(label_tables.c.round_id.in_(old)))
        gone = select(users.c.id).where(users.c.removed < before, users.c.digest.not_in(select(reports.c.user)))
        names = connection.execute(gone).scalars().all()
    for name in names:
        erase_user(store, settings, name)
    if n_reports or names:
        _log.info("retention removed data", extra={"reports": n_reports, "users": len(names)})
    return Purged(n_reports, len(names))


def _refuse_while_learning(connection: Connection, digest: bytes) -> None:
    """A round that is being learned from a user's report would be released with the name."""
    learning = select(rounds.c.id).join(reports, reports.c.round_id == rounds.c.id)
    busy = learning.where(reports.c.user == digest, rounds.c.state == "learning").limit(1)
    round_id = connection.execute(busy).scalar_one_or_none()
    if round_id is not None:
        raise WrongState(
            f"round {round_id!r} is being learned from this user's report: erase once it is released", retry_after=30
        )


def _select_ended(before: int) -> Select[tuple[str]]:
    """Ids of rounds that take no reports any more, not from late joiners either, since a time in UTC seconds.

    The earlier rounds of a series end with its last one.
    """
    ended = and_(
        rounds.c.state.in_(("released", "failed")),
        func.coalesce(rounds.c.released, rounds.c.closed, rounds.c.created) < before,
        or_(rounds.c.joiners_until.is_(None), rounds.c.joiners_until < before),
    )
    series = select(rounds.c.series).where(ended, rounds.c.series.is_not(None))
    return select(rounds.c.id).where(or_(ended, rounds.c.series.in_(series)))


def _delete_labels(connection: Connection, name: str, now: int) -> int:
    """Remove a user from the label tables of rounds that no device needs any more; from how many."""
    n_changed = 0
    tables = select(label_tables.c.round_id, label_tables.c.bytes).where(label_tables.c.bytes.is_not(None))
    for row in connection.execute(tables.where(label_tables.c.round_id.in_(_select_ended(now)))).all():
        left = LabelTable.from_bytes(row.bytes).without(name).to_bytes()
        if left != row.bytes:
            connection.execute(update(label_tables).where(label_tables.c.round_id == row.round_id).values(bytes=left))
            n_changed += 1
    return n_changed


def _delete_draft_labels(connection: Connection, name: str) -> None:
    """Remove a user from the labels of drafts."""
    drafts = select(label_tables.c.round_id, label_tables.c.source).where(label_tables.c.source.is_not(None))
    for row in connection.execute(drafts).all():
        label_of = json.loads(row.source)
        if label_of.pop(name, None) is not None:
            draft = update(label_tables).where(label_tables.c.round_id == row.round_id)
            connection.execute(draft.values(source=json.dumps(label_of)))


def _delete_reports(connection: Connection, digest: bytes) -> None:
    """Delete a user's reports and count them out of their rounds."""
    for row in connection.execute(select(reports.c.round_id, reports.c.late).where(reports.c.user == digest)).all():
        column = rounds.c.n_joiners if row.late else rounds.c.n_reports
        connection.execute(update(rounds).where(rounds.c.id == row.round_id).values({column.name: column - 1}))
    connection.execute(delete(reports).where(reports.c.user == digest))


def _erase_name(store: Store, settings: Settings, round_id: str, name: str) -> None:
    """Write the files of a released round again without a name, and remove those that were made from them."""
    _rename(release_path(joined_folder(settings.releases_folder), round_id), name)
    path = release_path(settings.releases_folder, round_id)
    if not _rename(path, name):
        return
    with store.write() as connection:
        connection.execute(update(releases).where(releases.c.round_id == round_id).values(digest=sha256_of(path)))
    for converted in (settings.data_folder / "downloads").glob(f"{round_id}-*"):
        converted.unlink(missing_ok=True)


def _rename(path: Path, name: str) -> bool:
    """Give a user of a tree file a made-up name; False if the file is not there or does not name the user."""
    try:
        tree = HierarchicalClusterTree.load(path)
    except PrivaCTError:
        return False
    if tree.users is None or name not in tree.users:
        return False
    ids = [f"{ERASED}{secrets.token_hex(8)}" if user == name else user for user in tree.users]
    replace(tree, users=UserIds.of(ids)).save(path)
    return True
