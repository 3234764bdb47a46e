"""Retention: reports, labels and removed users older than `retention_days` are erased."""

from __future__ import annotations

import logging
from typing import Final, NamedTuple

from sqlalchemy import delete, select

from privact.aggregator.domain.erasure.erased_labels import select_ended
from privact.aggregator.domain.erasure.user_erasure import erase_user
from privact.aggregator.settings import Settings
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import label_tables, reports, users

__all__ = ["Purged", "purge"]

_DAY: Final = 86_400
_log = logging.getLogger("privact.aggregator.erasure")


class Purged(NamedTuple):
    """What retention removed.

    reports: how many. users: ids of removed users who lost their row.
    """

    reports: int
    users: list[str]


def purge(store: Store, settings: Settings, now: int) -> Purged:
    """Remove what is older than `retention_days`: reports of rounds that ended, and users removed, before then.

    now: UTC seconds.
    """
    if not settings.retention_days:
        return Purged(0, [])
    before = now - settings.retention_days * _DAY
    with store.write() as connection:
        old = select_ended(before)
        n_reports = connection.execute(delete(reports).where(reports.c.round_id.in_(old))).rowcount
        connection.execute(delete(label_tables).where(label_tables.c.round_id.in_(old)))
        gone = select(users.c.id).where(users.c.removed < before, users.c.digest.not_in(select(reports.c.user)))
        names = list(connection.execute(gone).scalars())
    for name in names:
        erase_user(store, settings, name)
    if n_reports or names:
        _log.info("retention removed data", extra={"reports": n_reports, "users": len(names)})
    return Purged(n_reports, names)
