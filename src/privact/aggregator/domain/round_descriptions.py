"""What anyone may know about a round: a row of the table -> its public description, and its parameters, kept in memory."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Row, select

from privact.aggregator.domain.enrolment import User
from privact.aggregator.domain.intake import check_window, layout_of
from privact.aggregator.domain.refusals import NotFound
from privact.aggregator.domain.rounds import find_round
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.report_counts import select_rounds
from privact.aggregator.storage.schema import VISIBILITIES, label_tables, reports, rounds
from privact.protocol.report import report_length
from privact.protocol.round import LAST_SECOND, MAX_BINS, Round, epsilon_per_report
from privact.protocol.round_ids import is_round_id

__all__ = ["Parameters", "describe", "describe_round", "list_rounds", "list_rounds_for", "read_label_names", "read_label_table"]

_MOST: Final = 256
_LONGEST_REPORT: Final = report_length(MAX_BINS)


class Parameters:
    """Canonical bytes of opened rounds.

    store: where rounds are.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[str, bytes] = OrderedDict()
        self._visibility: OrderedDict[str, str] = OrderedDict()

    def find(self, round_id: str) -> bytes | None:
        """The parameters of a round, or None if there is no such round or it is a draft."""
        known = self._known.get(round_id)
        if known is not None or not is_round_id(round_id):
            return known
        with self._store.read() as connection:
            found = connection.execute(select(rounds.c.parameters).where(rounds.c.id == round_id)).scalar_one_or_none()
        if found is not None:
            self._known[round_id] = found
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
        return found

    def find_visibility(self, round_id: str) -> str:
        """Who may read the release of a round: "public", "users" or "operator"; "public" if there is no such round."""
        known = self._visibility.get(round_id)
        if known is None and is_round_id(round_id):
            with self._store.read() as connection:
                known = connection.execute(select(rounds.c.visibility).where(rounds.c.id == round_id)).scalar_one_or_none()
            if known is not None:
                self._visibility[round_id] = known
                if len(self._visibility) > _MOST:
                    self._visibility.popitem(last=False)
        return known or "public"

    async def longest_report(self, round_id: str) -> int:
        """How many bytes a report of this round has; of a round that is not there, as many as any report can have."""
        parameters = self._known.get(round_id) or await asyncio.to_thread(self.find, round_id)
        return _LONGEST_REPORT if parameters is None else layout_of(parameters).length


def describe(row: Row[Any], reads: Collection[str] = VISIBILITIES) -> dict[str, Any]:
    """A round as the API shows it.

    reads: of which visibilities the reader may read what is derived from a round, such as the evidence of a series.
    """
    evidence = row.evidence if row.visibility in reads else None
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
        "visibility": row.visibility,
        "profile": row.profile,
        "search_seed": row.search_seed,
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
        "series": wish.get("series"),
        "evidence": None if evidence is None else json.loads(evidence),
    }


def describe_round(store: Store, round_id: str, *, drafts: bool, reads: Collection[str] = VISIBILITIES) -> dict[str, Any]:
    """One round as the API shows it.

    store: where rounds are.
    drafts: whether a draft is shown. reads: as for `describe`.
    """
    with store.read() as connection:
        row = find_round(connection, round_id)
    if row.state == "draft" and not drafts:
        raise NotFound(f"no round {round_id!r}")
    return describe(row, reads)


def list_rounds(store: Store, *, drafts: bool, reads: Collection[str] = VISIBILITIES) -> list[dict[str, Any]]:
    """All rounds, newest first.

    store: where rounds are.
    drafts: also those that are not open yet. reads: as for `describe`.
    """
    wanted = select_rounds().order_by(rounds.c.created.desc(), rounds.c.id.desc())
    with store.read() as connection:
        rows = connection.execute(wanted if drafts else wanted.where(rounds.c.state != "draft")).all()
    return [describe(row, reads) for row in rows]


def list_rounds_for(store: Store, user: User, now: int) -> list[dict[str, Any]]:
    """The rounds from one user's point of view, newest first.

    store: where rounds are.
    user: who asks.
    now: UTC seconds.
    """
    wanted = select_rounds().where(rounds.c.state != "draft").order_by(rounds.c.created.desc(), rounds.c.id.desc())
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
                "series": json.loads(row.settings).get("series"),
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


def read_label_names(store: Store, round_id: str) -> list[str]:
    """The names of the labels of a round that was opened, by number; groups that nobody named are numbered from 1.

    store: where rounds are.
    """
    wanted = select(label_tables.c.names).where(label_tables.c.round_id == round_id)
    with store.read() as connection:
        row = find_round(connection, round_id)
        found = connection.execute(wanted).one_or_none()
    if row.state == "draft":
        raise NotFound(f"no round {round_id!r}")
    if found is None:
        raise NotFound(f"round {round_id!r} has random bins and no labels")
    n_labels = Round.from_bytes(row.parameters, row.digest).n_bins
    return [f"group {number}" for number in range(1, n_labels + 1)] if found.names is None else json.loads(found.names)


def _read_received(connection: Connection, user: User, round_ids: Sequence[str]) -> dict[str, tuple[int, bool]]:
    """When the user's report to each of these rounds was received, and whether late."""
    statement = select(reports.c.round_id, reports.c.received, reports.c.late)
    rows = connection.execute(statement.where(reports.c.user == user.digest, reports.c.round_id.in_(round_ids)))
    return {row[0]: (row[1], row[2]) for row in rows}
