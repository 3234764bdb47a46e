"""The life of a round: draft -> open -> closed -> learning -> released or failed. Only a failed round goes back, to closed.

Every step is one `UPDATE ... WHERE id = :id AND state = :from`, so that of two servers, or of a person and the clock, only one
takes it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from privact.aggregator.domain.enrolment import count_users
from privact.aggregator.domain.label_upload import build_table
from privact.aggregator.domain.refusals import NotFound, WrongState
from privact.aggregator.domain.signed_rounds import append_round
from privact.aggregator.storage.database import Store, hold_intake
from privact.aggregator.storage.report_counts import select_rounds
from privact.aggregator.storage.schema import STATES, label_tables, rounds, series, users
from privact.errors import InputError, ProtocolError
from privact.learn.evidence.profiles import DEFAULT_PROFILE
from privact.protocol.labels import LabelTable
from privact.protocol.moments import write_moment
from privact.protocol.round import LAST_SECOND, MAX_USERS, Round, default_bins, epsilon_per_report
from privact.protocol.round_ids import is_round_id
from privact.protocol.round_series import Series

__all__ = [
    "advance",
    "close_due",
    "close_round",
    "create_round",
    "delete_draft",
    "find_round",
    "keep_labels",
    "open_round",
    "retry_round",
]

_NEXT: Final = {
    ("draft", "open"), ("open", "closed"), ("closed", "learning"), ("closed", "failed"),
    ("learning", "released"), ("learning", "failed"), ("failed", "closed"),
}  # fmt: skip


def advance(connection: Connection, round_id: str, before: str, after: str, **values: Any) -> bool:
    """Take one step in the life of a round; False if the round was not in the state before it.

    connection: in a write transaction.
    round_id: the round.
    before, after: states that follow each other.
    values: other columns of the round to set with it.
    """
    if (before, after) not in _NEXT:
        raise ValueError(f"a round never goes from {before} to {after}; states are {', '.join(STATES)}")
    if before == "open":
        hold_intake(connection)
    step = update(rounds).where(rounds.c.id == round_id, rounds.c.state == before).values(state=after, **values)
    return connection.execute(step).rowcount == 1


def create_round(store: Store, wish: Mapping[str, Any], now: int, minimum_epsilon: float = 0.0) -> None:
    """Make a draft.

    store: where rounds are.
    wish: what the operator posted: id, epsilon, n_bins, bins, opens, closes, joiner_seconds, search_seed, profile.
    now: UTC seconds.
    minimum_epsilon: smaller ones are refused, since nothing could be learned.
    """
    if wish["epsilon"] < minimum_epsilon:
        raise InputError(
            f"epsilon {wish['epsilon']:g} is below {minimum_epsilon:g}: the noise would hide everything, choose more"
        )
    _round(wish, MAX_USERS, wish["n_bins"] or 1, opens=wish["opens"] or 0, seed=bytes(16))
    row = {
        "id": wish["id"], "state": "draft", "settings": json.dumps(dict(wish)), "created": now,
        "visibility": wish.get("visibility", "public"),
        "search_seed": wish["search_seed"], "profile": wish["profile"], "opens": wish["opens"], "closes": wish["closes"],
    }  # fmt: skip
    try:
        with store.write() as connection:
            connection.execute(insert(rounds).values(row))
    except IntegrityError:
        raise WrongState(f"there is a round {wish['id']!r} already: choose another id") from None


def keep_labels(store: Store, round_id: str, source: str) -> None:
    """Keep the public labels of a draft; earlier ones are replaced.

    store: where rounds are.
    round_id: the draft.
    source: what labels.read_labels gave.
    """
    with store.write() as connection:
        row = find_round(connection, round_id, lock=True)
        if row.state != "draft":
            raise WrongState(f"round {round_id!r} is {row.state}, not a draft: its labels are fixed")
        if json.loads(row.settings)["bins"] != "labels":
            raise WrongState(f"round {round_id!r} has random bins: create it with bins 'labels'")
        there = update(label_tables).where(label_tables.c.round_id == round_id).values(source=source)
        if connection.execute(there).rowcount == 0:
            connection.execute(insert(label_tables).values(round_id=round_id, source=source))


def delete_draft(store: Store, round_id: str) -> None:
    """Delete a draft with its labels, and the series that it would have begun; a round that was ever open stays, since devices
    may have paid for it.

    store: where rounds are.
    round_id: the draft.
    """
    with store.write() as connection:
        row = find_round(connection, round_id, lock=True)
        if row.state != "draft":
            raise WrongState(f"round {round_id!r} is {row.state}, not a draft: only drafts can be deleted")
        connection.execute(delete(label_tables).where(label_tables.c.round_id == round_id))
        connection.execute(delete(rounds).where(rounds.c.id == round_id))
        if row.series is not None:  # a draft is its first and only round
            connection.execute(delete(series).where(series.c.name == row.series))


def open_round(store: Store, round_id: str, now: int, minimum_users: int, signing_key: bytes | None = None) -> None:
    """Fix the parameters of a draft and open it for everyone who is enrolled now.

    store: where rounds are.
    round_id: the draft.
    now: UTC seconds.
    minimum_users: with fewer the round is refused.
    signing_key: the operator's, by which the round is added to the signed log; None adds nothing.
    """
    with store.read() as connection:
        wish = _wish(connection, round_id, lock=False)
        source = _label_source(connection, round_id)
    table = _table(wish, source)  # outside the transaction: a million labels take seconds
    with store.write() as connection:
        store.one_at_a_time(connection)
        wish = _wish(connection, round_id, lock=True)
        if _label_source(connection, round_id) != source:
            raise WrongState(f"the labels of round {round_id!r} were replaced meanwhile: open it again")
        n_users = count_users(connection)
        if n_users < minimum_users:
            raise WrongState(f"{n_users} users are enrolled; a round needs at least {minimum_users}: enrol more first")
        opens = max(wish["opens"] or now, now)
        if "every_seconds" in wish:
            wish["closes"] = opens + wish["every_seconds"]
        if wish["closes"] is not None and wish["closes"] <= opens:
            close, open_ = write_moment(wish["closes"]), write_moment(opens)
            raise WrongState(f"round {round_id!r} would close on {close}, before it opens on {open_}: create another")
        source_of_bins = {"seed": secrets.token_bytes(32)} if table is None else {"labels_digest": table.digest()}
        n_bins = table.n_labels if table is not None else wish["n_bins"] or _usual_bins(wish, n_users)
        if wish["profile"] != DEFAULT_PROFILE and n_bins == 1:
            raise WrongState(f"round {round_id!r} has one bin, of which every share is 1: choose more bins, or profile counts")
        round = _round(wish, n_users, n_bins, opens=opens, **source_of_bins)
        advance(
            connection, round_id, "draft", "open",
            parameters=round.to_bytes(), digest=round.digest(), n_users=n_users,
            last_serial=connection.execute(select(func.max(users.c.serial))).scalar_one(),
            opens=round.opens, closes=round.closes, joiners_until=round.closes + round.joiner_seconds, opened=now,
        )  # fmt: skip
        if signing_key is not None:
            append_round(connection, signing_key, round)
        if table is not None:
            there = update(label_tables).where(label_tables.c.round_id == round_id)
            names = sorted(set(json.loads(source or "{}").values()))
            connection.execute(there.values(source=None, bytes=table.to_bytes(), names=json.dumps(names)))


def close_round(store: Store, round_id: str, now: int, minimum_reports: int = 0) -> None:
    """Take no more reports, from this moment on.

    store: where rounds are.
    round_id: an open round.
    now: UTC seconds.
    minimum_reports: with fewer the round is not closed: nothing could be learned from them, and their epsilon would be lost.
    """
    with store.write() as connection:
        hold_intake(connection)  # before the row is locked: whoever stores a report asks for both in this order
        row = find_round(connection, round_id, lock=True)
        if row.state == "open" and row.n_reports < minimum_reports:
            raise WrongState(
                f"round {round_id!r} has {row.n_reports} of {row.n_users} reports and needs {minimum_reports}: closed now it "
                "fails, and what devices spent on it is lost; wait for more, or force it"
            )
        if not advance(connection, round_id, "open", "closed", closed=now):
            raise WrongState(f"round {round_id!r} is {row.state}, not open")


def close_due(store: Store, now: int) -> list[str]:
    """Close the rounds whose time is over; their ids.

    store: where rounds are.
    now: UTC seconds.
    """
    due = select(rounds.c.id).where(rounds.c.state == "open", rounds.c.closes <= now)
    with store.read() as connection:  # nearly always there is nothing to write
        ids = connection.execute(due).scalars().all()
    if not ids:
        return []
    with store.write() as connection:
        return [round_id for round_id in ids if advance(connection, round_id, "open", "closed", closed=now)]


def retry_round(store: Store, round_id: str) -> None:
    """Let a failed round be learned again, from the beginning.

    store: where rounds are.
    round_id: a failed round.
    """
    with store.write() as connection:
        row = find_round(connection, round_id, lock=True)
        if not advance(connection, round_id, "failed", "closed", failure=None, lease_holder=None, lease_until=None):
            raise WrongState(f"round {round_id!r} is {row.state}, not failed: only a failed round can be learned again")


def find_round(connection: Connection, round_id: str, *, lock: bool = False) -> Row[Any]:
    """The row of a round; refused if there is none.

    connection: to read from.
    round_id: the round.
    lock: keep others from changing it until the transaction ends.
    """
    statement = select_rounds().where(rounds.c.id == round_id)
    row = None
    if is_round_id(round_id):
        row = connection.execute(statement.with_for_update(of=rounds) if lock else statement).one_or_none()
    if row is None:
        raise NotFound(f"no round {round_id!r}")
    return row


def _wish(connection: Connection, round_id: str, *, lock: bool) -> dict[str, Any]:
    """What the operator posted for a draft."""
    row = find_round(connection, round_id, lock=lock)
    if row.state != "draft":
        raise WrongState(f"round {round_id!r} is {row.state}, not a draft")
    wish: dict[str, Any] = json.loads(row.settings)
    return wish


def _label_source(connection: Connection, round_id: str) -> str | None:
    return connection.execute(select(label_tables.c.source).where(label_tables.c.round_id == round_id)).scalar_one_or_none()


def _table(wish: Mapping[str, Any], source: str | None) -> LabelTable | None:
    """The label table, if the bins are labels."""
    if wish["bins"] == "random":
        return None
    if source is None:
        raise WrongState(f"round {wish['id']!r} has no labels yet: upload them first")
    table = build_table(source, secrets.token_bytes(16))
    if wish["n_bins"] not in (None, table.n_labels):
        raise WrongState(f"the labels are {table.n_labels}, but n_bins is {wish['n_bins']}: leave n_bins out")
    return table


def _round(wish: Mapping[str, Any], n_users: int, n_bins: int, *, opens: int, **bins: bytes) -> Round:
    """The public parameters that a wish leads to; refused if they cannot be."""
    closes = LAST_SECOND if wish["closes"] is None else wish["closes"]
    try:
        return Round(
            id=wish["id"], epsilon=wish["epsilon"], n_bins=n_bins, n_users=n_users, opens=opens, closes=closes,
            joiner_seconds=wish["joiner_seconds"], bins="labels" if "labels_digest" in bins else "random",
            seed=bins.get("seed", b""), labels_digest=bins.get("labels_digest", b""), **_series(wish),
        )  # fmt: skip
    except ProtocolError as error:
        raise InputError(str(error)) from None


def _usual_bins(wish: Mapping[str, Any], n_users: int) -> int:
    """The number of random bins when nobody chose one."""
    if "series" not in wish:
        return default_bins(n_users)
    from privact.learn.evidence.series.round_bins import choose_first_bins

    return choose_first_bins(epsilon_per_report(wish["epsilon"]), n_users)


def _series(wish: Mapping[str, Any]) -> dict[str, Any]:
    """Of which series a round is, as `Round` takes it."""
    said = wish.get("series")
    if said is None:
        return {}
    return {"series": Series(said["name"], said["rounds"], said["epsilon"]), "series_number": said["number"]}
