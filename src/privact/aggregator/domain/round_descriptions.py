"""What anyone may know about a round: a row of the table -> its public description."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from privact.aggregator.domain.intake import window
from privact.aggregator.http.auth import User
from privact.aggregator.storage.schema import label_tables, reports, rounds
from privact.protocol.round import LAST_SECOND, Round, epsilon_per_report

__all__ = ["describe", "described_rounds", "label_bytes", "rounds_of_user"]


def describe(row: Row[Any]) -> dict[str, Any]:
    """A round as the API shows it."""
    wish = json.loads(row.settings)
    fixed = None if row.parameters is None else Round.from_bytes(row.parameters)
    progress = None if row.stage is None else {"stage": row.stage, "done": row.done, "total": row.total}
    return {
        "id": row.id,
        "state": row.state,
        "epsilon": wish["epsilon"],
        "epsilon_report": epsilon_per_report(wish["epsilon"]),
        "n_bins": fixed.n_bins if fixed else wish["n_bins"],
        "bins": wish["bins"],
        "n_users": row.n_users,
        "opens": row.opens,
        "closes": None if row.closes == LAST_SECOND else row.closes,
        "joiner_seconds": wish["joiner_seconds"],
        "digest": row.digest.hex() if fixed else None,
        "privacy": fixed.privacy_sentence() if fixed else None,
        "reports": row.n_reports,
        "joiners": row.n_joiners,
        "progress": progress if row.state == "learning" else None,
        "failure": row.failure,
        "opened_at": row.opened,
        "closed_at": row.closed,
        "released_at": row.released,
        "created_at": row.created,
    }


def described_rounds(connection: Connection, *, drafts: bool) -> list[dict[str, Any]]:
    """All rounds, newest first.

    connection: to read from.
    drafts: also those that are not open yet.
    """
    wanted = select(rounds).order_by(rounds.c.created.desc(), rounds.c.id.desc())
    return [describe(row) for row in connection.execute(wanted if drafts else wanted.where(rounds.c.state != "draft"))]


def rounds_of_user(connection: Connection, user: User, now: int) -> list[dict[str, Any]]:
    """The rounds from one user's point of view, newest first.

    connection: to read from.
    user: who asks.
    now: UTC seconds.
    """
    wanted = select(rounds).where(rounds.c.state != "draft").order_by(rounds.c.created.desc(), rounds.c.id.desc())
    rows = connection.execute(wanted).all()
    answered = _answered(connection, user, [row.id for row in rows])
    listed = []
    for row in rows:
        decision, (received, late) = window(row, user.serial, now), answered.get(row.id, (None, False))
        listed.append(
            {
                "id": row.id,
                "state": row.state,
                "digest": row.digest.hex(),
                "may_answer": decision.outcome == "accepted",
                "answered_at": received,
                "late": late if received is not None else decision.late,
            }
        )
    return listed


def label_bytes(connection: Connection, round_id: str) -> bytes | None:
    """The whole label table of a round that was opened, or None if its bins are random."""
    return connection.execute(select(label_tables.c.bytes).where(label_tables.c.round_id == round_id)).scalar_one_or_none()


def _answered(connection: Connection, user: User, round_ids: Sequence[str]) -> dict[str, tuple[int, bool]]:
    """When the user answered which of these rounds, and whether late."""
    statement = select(reports.c.round_id, reports.c.received, reports.c.late)
    rows = connection.execute(statement.where(reports.c.user == user.digest, reports.c.round_id.in_(round_ids)))
    return {row[0]: (row[1], row[2]) for row in rows}
