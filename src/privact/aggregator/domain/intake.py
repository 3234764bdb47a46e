"""Reports -> rows, each exactly once: a report that is called "accepted" is on disk before the response leaves.

Reports that arrive while a commit is under way wait for the next one, so that one flush of the disk serves many. Who may
report, whether the round is open and what the clock says are decided inside the transaction, while no round can close: no
report commits after its round has closed. Servers on one database do not wait for each other, unless both store a report of
the same user: one of them then decides again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from sqlalchemy import Connection, Row, and_, bindparam, insert, select
from sqlalchemy.exc import IntegrityError

from privact.aggregator.domain.access.tokens import Claim, is_right
from privact.aggregator.domain.enrolment import User, find_users, select_users
from privact.aggregator.domain.refusals import NotFound
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.report_counts import count_reports, draw_slot
from privact.aggregator.storage.schema import reports, rounds, users
from privact.errors import ProtocolError
from privact.protocol.moments import write_moment
from privact.protocol.report import Report, ReportLayout
from privact.protocol.round import Round
from privact.protocol.round_ids import is_round_id

__all__ = ["Arrival", "Decision", "Intake", "Outcome", "check_window", "layout_of", "read_report"]

Outcome = Literal["accepted", "again", "different", "closed", "early", "malformed", "unknown round", "unauthorised"]
"""What became of a report."""

_ROUNDS = select(rounds).where(rounds.c.id.in_(bindparam("ids", expanding=True)), rounds.c.state != "draft")
_STORED = and_(reports.c.round_id == bindparam("id"), reports.c.user == users.c.digest)
_USERS_WITH_REPORTS = select_users(reports.c.bytes, reports.c.late).select_from(users.outerjoin(reports, _STORED))
_ATTEMPTS: Final = 5


class Arrival(NamedTuple):
    """A report as it came in.

    round_id: the round that its address names.
    shown: the token.
    body: the bytes.
    """

    round_id: str
    shown: Claim
    body: bytes


class Decision(NamedTuple):
    """What became of a report.

    outcome: in a word.
    late: whether it is a joiner's.
    message: why it is refused, in one line; empty if it is not.
    """

    outcome: Outcome
    late: bool = False
    message: str = ""


@lru_cache(maxsize=256)
def layout_of(parameters: bytes) -> ReportLayout:
    """The layout of the reports of a round.

    parameters: canonical bytes of the round.
    """
    return ReportLayout.of_round(Round.from_bytes(parameters))


class Intake:
    """The one place where reports are written.

    store: where they go.
    now: the clock, UTC seconds.
    """

    def __init__(self, store: Store, now: Callable[[], float]) -> None:
        self._store = store
        self._now = now
        self._slot = draw_slot()

    def take(self, arrivals: list[Arrival]) -> list[Decision]:
        """Decide about a batch and write what is accepted; when this returns, it is on disk."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._take_once(arrivals)
            except IntegrityError:  # another server stored a report of the same user first, or erased the user
                continue
        return self._take_once(arrivals)

    def _take_once(self, arrivals: list[Arrival]) -> list[Decision]:
        with self._store.write() as connection:
            self._store.share_intake(connection)
            return self._take(connection, arrivals)

    def _take(self, connection: Connection, arrivals: list[Arrival]) -> list[Decision]:
        ids = sorted({arrival.round_id for arrival in arrivals if is_round_id(arrival.round_id)})
        open_rounds = {row.id: row for row in connection.execute(_ROUNDS, {"ids": ids}).all()}
        now = int(self._now())  # after the lock: nothing can close before the commit
        known: dict[bytes, User] = {}
        stored: dict[tuple[str, bytes], tuple[bytes, bool]] = {}
        for id in open_rounds:
            _read_users(connection, id, [arrival for arrival in arrivals if arrival.round_id == id], known, stored)
        known |= find_users(connection, [arrival.shown.digest for arrival in arrivals if arrival.round_id not in open_rounds])
        fresh: list[dict[str, Any]] = []
        decisions = []
        for arrival in arrivals:
            user, row = known.get(arrival.shown.digest), open_rounds.get(arrival.round_id)
            if not is_right(arrival.shown.sha256, user.token_sha256 if user else None) or user is None:
                decisions.append(Decision("unauthorised"))
            elif row is None:
                decisions.append(Decision("unknown round", False, f"no round {arrival.round_id!r}"))
            else:
                decision = _decide(arrival.body, user, row, stored.get((row.id, user.digest)), now)
                if decision.outcome == "accepted":
                    stored[row.id, user.digest] = (arrival.body, decision.late)
                    fresh.append(
                        {"round_id": row.id, "user": user.digest, "bytes": arrival.body, "received": now, "late": decision.late}
                    )
                decisions.append(decision)
        if fresh:
            fresh.sort(key=lambda report: (report["round_id"], report["user"]))  # two servers wait for each other in this order
            connection.execute(insert(reports), fresh)
            for id in sorted({report["round_id"] for report in fresh}):
                late = [report["late"] for report in fresh if report["round_id"] == id]
                count_reports(connection, id, self._slot, in_time=late.count(False), late=late.count(True))
        return decisions


def _read_users(
    connection: Connection,
    round_id: str,
    arrivals: list[Arrival],
    known: dict[bytes, User],
    stored: dict[tuple[str, bytes], tuple[bytes, bool]],
) -> None:
    """Look up who sends reports to a round, and the reports that they have in it already, in one query.

    known: users by digest, added to. stored: bytes and whether late, by round and digest, added to.
    """
    digests = list({arrival.shown.digest for arrival in arrivals})
    for *user, body, late in connection.execute(_USERS_WITH_REPORTS, {"id": round_id, "digests": digests}):
        known[user[0]] = User(*user)
        if body is not None:
            stored[round_id, user[0]] = (body, late)


def _decide(body: bytes, user: User, row: Row[Any], stored: tuple[bytes, bool] | None, now: int) -> Decision:
    """What becomes of an authorised report. What was accepted once stays accepted, also after the round has closed."""
    if stored is not None and stored[0] == body:
        return Decision("again", stored[1])
    if not layout_of(row.parameters).fits(body, user.digest):
        return Decision("malformed", False, _complaint(body, user, row.parameters))
    if stored is not None:
        return Decision("different", stored[1], f"round {row.id!r} has another report of yours already; the first one stays")
    return check_window(row, user.serial, now)


def check_window(row: Row[Any], serial: int, now: int) -> Decision:
    """Whether a user may report to a round now: "accepted", "early" or "closed".

    row: the round, not a draft.
    serial: the user's place in the order of enrolment.
    now: UTC seconds.
    """
    joins = serial > row.last_serial
    if joins and row.state == "released" and now < row.joiners_until:
        return Decision("accepted", True)
    followed = row.evidence is not None and row.state == "closed"  # by the next round of its series
    if joins and row.state not in ("released", "failed") and now < row.joiners_until and not followed:
        return Decision("early", True, f"round {row.id!r} opened before you were enrolled: try again once its tree is released")
    if row.state != "open" or joins or now >= row.closes:
        return Decision("closed", joins, f"round {row.id!r} takes no more reports")
    if now < row.opens:
        return Decision("early", False, f"round {row.id!r} opens on {write_moment(row.opens)}; try again then")
    return Decision("accepted")


def _complaint(body: bytes, user: User, parameters: bytes) -> str:
    """Why these bytes are not this user's report to this round, in one line."""
    try:
        report = Report.from_bytes(body)
        report.require(Round.from_bytes(parameters))
    except ProtocolError as error:
        return str(error)
    return f"report is of user {report.user.hex()}, but the token is of {user.digest.hex()}: send your own report"


def read_report(store: Store, round_id: str, user: User) -> bytes:
    """The report of a user to a round, as it was accepted.

    store: where reports are. round_id: from the request. user: who asks.
    """
    wanted = select(reports.c.bytes).where(reports.c.round_id == round_id, reports.c.user == user.digest)
    stored: bytes | None = None
    if is_round_id(round_id):
        with store.read() as connection:
            stored = connection.execute(wanted).scalar_one_or_none()
    if stored is None:
        raise NotFound(f"you have no report in round {round_id!r}")
    return stored
