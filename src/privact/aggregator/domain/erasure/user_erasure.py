"""Erasing one user from the database, from released files, ratings and records; what has to wait is finished later.

Reports, tokens and ids leave the database; the ids in released files become made-up names that say nothing. The shape of a
released tree stays: it was learned from everybody. Two things have to wait: labels that an open round fixes, and the file that a
round being learned will write. Until then the id is in `pending_erasures`; the server looks there again and again.
Backups made before still hold what was erased, until they are thrown away.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, delete, select, update

from privact.aggregator.domain.access.operators import erase_subject
from privact.aggregator.domain.enrolment import check_user_id
from privact.aggregator.domain.erasure.erased_labels import erase_draft_labels, erase_labels, find_fixed_labels
from privact.aggregator.domain.erasure.erased_names import strike_out
from privact.aggregator.domain.erasure.pending_erasures import (
    find_learning,
    forget_erasure,
    note_erasure,
    read_pending,
)
from privact.aggregator.domain.release import joined_folder, release_path, sha256_of
from privact.aggregator.domain.suggestions.rating_file import erase_ratings, list_rating_files
from privact.aggregator.settings import Settings
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import invitations, releases, reports, rounds, users
from privact.aggregator.storage.shared_files import change_files, fetch_file, share_file
from privact.errors import UnknownUserError
from privact.protocol.users import user_digest

__all__ = ["Erased", "erase_user", "finish_erasures"]


class Erased(NamedTuple):
    """What an erasure did.

    name: the normalised id. digest: `user_digest` of it.
    waits_for: rounds that have to end first, because they fix a label or are being learned from a report; the rest is gone.
    """

    name: str
    digest: bytes
    waits_for: list[str]


def erase_user(store: Store, settings: Settings, user_id: str) -> Erased:
    """Remove everything about a user: row, token, reports, ratings, labels, names in released files and records.

    store, settings: of the server. user_id: enrolled, removed, labelled or in the ratings, in any spelling.
    """
    normal = check_user_id(user_id)
    digest = user_digest(normal)
    had_ratings = _erase_ratings(store, settings, normal)
    with store.write() as connection:
        store.one_at_a_time(connection)
        now = store.seconds(connection)
        n_labels = erase_labels(connection, normal, now)
        waits_for = find_fixed_labels(connection, normal)
        known = connection.execute(select(users.c.digest).where(users.c.digest == digest)).one_or_none() is not None
        if not (known or had_ratings or n_labels or waits_for or normal in read_pending(connection)):
            raise UnknownUserError(f"no user {normal!r} is or was enrolled")
        if _delete_reports(connection, digest):
            waits_for = sorted({*waits_for, *find_learning(connection, now)})
        erase_draft_labels(connection, normal)
        connection.execute(delete(invitations).where(invitations.c.user == digest))
        connection.execute(delete(users).where(users.c.digest == digest))
        erase_subject(connection, normal)
        (note_erasure(connection, normal, now) if waits_for else forget_erasure(connection, normal))
        released = list(connection.execute(select(releases.c.round_id)).scalars())
    for round_id in released:
        _erase_name(store, settings, round_id, normal)
    return Erased(normal, digest, waits_for)


def finish_erasures(store: Store, settings: Settings) -> list[str]:
    """Erase what had to wait and need not wait any more; the ids that are gone everywhere now."""
    with store.read() as connection:
        pending = read_pending(connection)
    return [name for name, asked in pending.items() if _finish(store, settings, name, asked)]


def _finish(store: Store, settings: Settings, name: str, asked: int) -> bool:
    """Erase what had to wait of one user; whether nothing is left. A user who was enrolled again is left alone."""
    with store.write() as connection:
        store.one_at_a_time(connection)
        if name not in read_pending(connection):
            return False
        erase_labels(connection, name, store.seconds(connection))
        if find_fixed_labels(connection, name) or find_learning(connection, asked):
            return False
        released = list(connection.execute(select(releases.c.round_id)).scalars())
    for round_id in released:
        _erase_name(store, settings, round_id, name)
    with store.write() as connection:
        forget_erasure(connection, name)
    return True


def _delete_reports(connection: Connection, digest: bytes) -> int:
    """Delete a user's reports and count them out of their rounds; how many there were."""
    rows = connection.execute(select(reports.c.round_id, reports.c.late).where(reports.c.user == digest)).all()
    for row in rows:
        column = rounds.c.n_joiners if row.late else rounds.c.n_reports
        connection.execute(update(rounds).where(rounds.c.id == row.round_id).values({column.name: column - 1}))
    connection.execute(delete(reports).where(reports.c.user == digest))
    return len(rows)


def _erase_ratings(store: Store, settings: Settings, name: str) -> bool:
    """Write the ratings again without those of a user, here and for other servers; whether there were any."""
    files = list_rating_files(settings.ratings_folder)
    with change_files(store):
        for path in files:
            fetch_file(store, settings.data_folder, path)
        if not erase_ratings(settings.ratings_folder, name):
            return False
        with store.write() as connection:
            for path in files:
                share_file(store, connection, settings.data_folder, path)
    return True


def _erase_name(store: Store, settings: Settings, round_id: str, name: str) -> None:
    """Write the files of a released round again without a name, and remove those that were made from them."""
    path = release_path(settings.releases_folder, round_id)
    with change_files(store):
        fetch_file(store, settings.data_folder, path)
        strike_out(release_path(joined_folder(settings.releases_folder), round_id), {name})
        if not strike_out(path, {name}):
            return
        with store.write() as connection:
            share_file(store, connection, settings.data_folder, path)
            connection.execute(update(releases).where(releases.c.round_id == round_id).values(digest=sha256_of(path)))
    for converted in (settings.data_folder / "downloads").glob(f"{round_id}-*"):
        converted.unlink(missing_ok=True)
