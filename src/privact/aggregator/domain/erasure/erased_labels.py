"""Labels of erased users: taken out of drafts and of rounds that no device needs any more; those of other rounds wait.

The digest of an open round fixes its label table: devices would refuse the round if one user were taken out. So the entry stays
until the round takes no more reports, and goes then by itself (`user_erasure.finish_erasures`).
"""

from __future__ import annotations

import json

from sqlalchemy import Connection, Select, and_, func, or_, select, update

from privact.aggregator.storage.schema import label_tables, rounds
from privact.protocol.labels import NO_LABEL, LabelTable

__all__ = ["erase_draft_labels", "erase_labels", "find_fixed_labels", "select_ended"]


def select_ended(before: int) -> Select[tuple[str]]:
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


def erase_labels(connection: Connection, name: str, now: int) -> int:
    """Remove a user from the label tables of rounds that have ended; from how many.

    name: the normalised id. now: UTC seconds.
    """
    n_changed = 0
    tables = select(label_tables.c.round_id, label_tables.c.bytes).where(label_tables.c.bytes.is_not(None))
    for row in connection.execute(tables.where(label_tables.c.round_id.in_(select_ended(now)))).all():
        left = LabelTable.from_bytes(row.bytes).without(name).to_bytes()
        if left != row.bytes:
            connection.execute(update(label_tables).where(label_tables.c.round_id == row.round_id).values(bytes=left))
            n_changed += 1
    return n_changed


def find_fixed_labels(connection: Connection, name: str) -> list[str]:
    """Ids of opened rounds whose label table still holds a user; after `erase_labels`, those that have not ended."""
    tables = select(label_tables.c.round_id, label_tables.c.bytes).where(label_tables.c.bytes.is_not(None))
    rows = connection.execute(tables.order_by(label_tables.c.round_id)).all()
    return [row.round_id for row in rows if LabelTable.from_bytes(row.bytes).label_of(name) != NO_LABEL]


def erase_draft_labels(connection: Connection, name: str) -> None:
    """Remove a user from the labels of drafts."""
    drafts = select(label_tables.c.round_id, label_tables.c.source).where(label_tables.c.source.is_not(None))
    for row in connection.execute(drafts).all():
        label_of = json.loads(row.source)
        if label_of.pop(name, None) is not None:
            draft = update(label_tables).where(label_tables.c.round_id == row.round_id)
            connection.execute(draft.values(source=json.dumps(label_of)))
