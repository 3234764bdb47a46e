"""What anyone may know about a round: a row of the table -> its public description."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from privact.aggregator.domain.enrolment import User
from privact.aggregator.domain.intake import check_window
from privact.aggregator.domain.refusals import NotFound
from privact.aggregator.domain.rounds import find_round
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import label_tables, reports, rounds
from privact.protocol.round import LAST_SECOND, Round, epsilon_per_report

__all__ = ["describe", "describe_round", "list_rounds", "list_rounds_for", "read_label_table"]


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


def describe_round(store: Store, round_id: str, *, drafts: bool) -> dict[str, Any]:
    """One round as the API shows it.

    store: where rounds are.
    drafts: whether a draft is shown.
    """
    with store.read() as connection:
        row = find_round(connection, round_id)
    if row.state == "draft" and not drafts:
        raise NotFound(f"no round {round_id!r}")
    return describe(row)


def list_rounds(store: Store, *, drafts: bool) -> list[dict[str, Any]]:
    """All rounds, newest first.

    store: where rounds are.
    drafts: also those that are not open yet.
    """
    wanted = select(rounds).order_by(rounds.c.created.desc(), rounds.c.id.desc())
    with store.read() as connection:
        rows = connection.execute(wanted if drafts else wanted.where(rounds.c.state != "draft")).all()
    return [describe(row) for row in rows]


def list_rounds_for(store: Store, user: User, now: int) -> list[dict[str, Any]]:
    """The rounds from one user's point of view, newest first.

    store: where rounds are.
    user: who asks.
    now: UTC seconds.
    """
    wanted = select(rounds).where(rounds.c.state != "draft").order_by(rounds.c.created.desc(), rounds.c.id.desc())
    with store.read() as connection:
        rows = connection.execute(wanted).all()
        received_of = _read_received(connection, user, [row.id for row in rows])
    listed = []
    for row in rows:
        decision, (received, late) = check_window(row, user.serial, now), received_of.get(row.id, (None, False))
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


def read_label_table(store: Store, round_id: str) -> bytes:
    """The whole label table of a round that was opened, in its canonical bytes; refused if its bins are random.

    store: where rounds are.
    """
    wanted = select(label_tables.c.bytes).where(label_tables.c.round_id == round_id)
    with store.read() as connection:
        row = find_round(connection, round_id)
        table: bytes | None = connection.execute(wanted).scalar_one_or_none()
    if row.state == "draft":
        raise NotFound(f"no round {round_id!r}")
    if table is None:
        raise NotFound(f"round {round_id!r} has random bins and no labels")
    return table


def _read_received(connection: Connection, user: User, round_ids: Sequence[str]) -> dict[str, tuple[int, bool]]:
    """When the user's report to each of these rounds was received, and whether late."""
    statement = select(reports.c.round_id, reports.c.received, reports.c.late)
    rows = connection.execute(statement.where(reports.c.user == user.digest, reports.c.round_id.in_(round_ids)))
    return {row[0]: (row[1], row[2]) for row in rows}
