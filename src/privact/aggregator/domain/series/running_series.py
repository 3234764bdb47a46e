"""The life of a series: its first round is a draft that the operator opens; each next one is opened when the groups are inferred.

A round of a series goes draft -> open -> closed -> learning like any other. Of the last one the tree is learned and released. Any
other goes back to closed in the transaction that records what was inferred from it and opens the next round, so that a server
that is killed has either done both or neither. A series that was stopped has no next round: the newest one is its last.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, case, false, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from privact.aggregator.domain.enrolment import count_users
from privact.aggregator.domain.erasure.pending_erasures import read_pending
from privact.aggregator.domain.refusals import NotFound, WrongState
from privact.aggregator.domain.rounds import advance
from privact.aggregator.domain.signed_rounds import append_round
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.report_counts import report_count
from privact.aggregator.storage.schema import label_tables, reports, rounds, series, users
from privact.errors import InputError, ProtocolError
from privact.learn.evidence.series.series_length import choose_rounds
from privact.protocol.labels import LabelTable
from privact.protocol.round import Round
from privact.protocol.round_ids import is_round_id
from privact.protocol.round_series import Series

__all__ = ["agreed_on", "count_others", "create_series", "find_series", "is_last", "open_next", "stop_series"]


def create_series(store: Store, wish: Mapping[str, Any], now: int, minimum_epsilon: float = 0.0) -> None:
    """Make a series, with its first round as a draft.

    wish: what the operator posted: name, epsilon, rounds, every_seconds, n_bins, bins, joiner_seconds, search_seed, visibility.
    If rounds is None, epsilon decides.
    now: UTC seconds. minimum_epsilon: rounds of a smaller one are refused, since nothing could be learned.
    """
    if wish["rounds"] is None:
        wish = dict(wish) | {"rounds": choose_rounds(wish["epsilon"])}
    try:
        agreed = Series(wish["name"], wish["rounds"], wish["epsilon"])
    except ProtocolError as error:
        raise InputError(str(error)) from None
    if agreed.epsilon_per_round < minimum_epsilon:
        raise InputError(
            f"epsilon {agreed.epsilon_per_round:g} a round is below {minimum_epsilon:g}: the noise would hide everything, "
            "choose more, or fewer rounds"
        )
    try:
        with store.write() as connection:
            row = {"name": agreed.name, "settings": json.dumps(dict(wish)), "created": now}
            connection.execute(insert(series).values(row))
            draft = _draft(agreed, wish, 1, now) | {"state": "draft"}
            connection.execute(insert(rounds).values(draft))
    except IntegrityError:
        raise WrongState(f"there is a series {agreed.name!r} already, or a round of its name: choose another name") from None


def stop_series(store: Store, name: str, now: int, minimum_reports: int = 0) -> None:
    """Open no further round: an open one is closed, and the tree is learned from all rounds that were opened.

    A newest round that failed, because too few reported, is learned again as the last one, from the rounds before it.
    now: UTC seconds.
    minimum_reports: if no round has as many, the series is not stopped: nothing could be learned, and epsilon would be lost.
    """
    with store.write() as connection:
        found = find_series(connection, name, lock=True)
        newest = connection.execute(_newest(name)).one_or_none()
        if found.stopped is not None or (newest is not None and newest.state == "released"):
            raise WrongState(f"series {name!r} has ended already")
        if newest is not None and newest.state != "draft":
            _check_reports(connection, name, minimum_reports)
        connection.execute(update(series).where(series.c.name == name).values(stopped=now))
        if newest is not None and newest.state == "open":
            advance(connection, newest.id, "open", "closed", closed=now)
        elif newest is not None and newest.state == "failed":
            advance(connection, newest.id, "failed", "closed", failure=None, lease_holder=None, lease_until=None)


def _check_reports(connection: Connection, name: str, minimum: int) -> None:
    """Refuse to stop a series none of whose rounds has enough reports to learn from."""
    most = connection.execute(select(func.max(report_count())).where(rounds.c.series == name)).scalar_one()
    if most < minimum:
        raise WrongState(
            f"no round of series {name!r} has more than {most} reports, and {minimum} are needed: stopped now it fails, and what "
            "devices spent on it is lost; wait for more, or force it"
        )


def is_last(store: Store, round_id: str) -> bool:
    """Whether a round is the last of its series: by its number, or because the series was stopped; True outside a series.

    round_id: an opened round.
    """
    with store.read() as connection:
        row = connection.execute(select(rounds.c.series, rounds.c.series_number).where(rounds.c.id == round_id)).one()
        return row.series is None or _ends(find_series(connection, row.series), row.series_number)


def open_next(
    store: Store, round_id: str, holder: str, signing_key: bytes, evidence: Mapping[str, Any], table: LabelTable, now: int
) -> str | None:
    """Record what was inferred up to a round and open the next one; its id, or None if this server does not hold the round.

    round_id: a round that is being learned. holder: this server. signing_key: the operator's.
    evidence: what was inferred, for everybody to read. table: the groups, the bins of the next round. now: UTC seconds.
    If the series was stopped meanwhile, the round goes back to closed and is learned as the last one.
    """
    with store.write() as connection:
        store.one_at_a_time(connection)
        row = connection.execute(select(rounds).where(rounds.c.id == round_id).with_for_update()).one()
        found = find_series(connection, row.series, lock=True)
        ended = _ends(found, row.series_number)
        held = rounds.c.id == round_id, rounds.c.state == "learning", rounds.c.lease_holder == holder
        values = {"stage": None, "done": 0, "total": 0, "lease_holder": None, "lease_until": None}
        kept = {} if ended else {"evidence": json.dumps(dict(evidence))}
        if connection.execute(update(rounds).where(*held).values(state="closed", **kept, **values)).rowcount != 1:
            return None
        if ended:
            return None
        for name in read_pending(connection):  # erased while the groups were inferred
            table = table.without(name)
        wish, number = json.loads(found.settings), row.series_number + 1
        agreed, n_users = agreed_on(wish), count_users(connection)
        round = Round(
            id=agreed.round_id(number), epsilon=agreed.epsilon_per_round, n_bins=table.n_labels, n_users=n_users, bins="labels",
            labels_digest=table.digest(), opens=now, closes=now + wish["every_seconds"], joiner_seconds=wish["joiner_seconds"],
            series=agreed, series_number=number,
        )  # fmt: skip
        opened = {
            "state": "open", "parameters": round.to_bytes(), "digest": round.digest(), "n_users": n_users,
            "last_serial": connection.execute(select(func.max(users.c.serial))).scalar_one(),
            "opens": round.opens, "closes": round.closes, "joiners_until": round.closes + round.joiner_seconds, "opened": now,
        }  # fmt: skip
        connection.execute(insert(rounds).values(_draft(agreed, wish, number, now) | opened))
        connection.execute(insert(label_tables).values(round_id=round.id, bytes=table.to_bytes()))
        append_round(connection, signing_key, round)
        return round.id


def find_series(connection: Connection, name: str, *, lock: bool = False) -> Row[Any]:
    """The row of a series; refused if there is none.

    lock: keep others from changing it until the transaction ends.
    """
    statement = select(series).where(series.c.name == name)
    row = None
    if is_round_id(name):
        row = connection.execute(statement.with_for_update() if lock else statement).one_or_none()
    if row is None:
        raise NotFound(f"no series {name!r}")
    return row


def count_others(connection: Connection, released: Row[Any]) -> int:
    """How many users reported to the rounds that a tree of a series was learned from, but not to all of them in time.

    released: the round under which the tree was released.
    """
    used = json.loads(released.evidence)["rounds"]
    in_time = func.sum(case((reports.c.late.is_(false()), 1), else_=0))
    answered = select(reports.c.user).join(rounds, rounds.c.id == reports.c.round_id)
    answered = answered.where(rounds.c.series == released.series, rounds.c.series_number.in_(used))
    partial = answered.group_by(reports.c.user).having(in_time < len(used)).subquery()
    return int(connection.execute(select(func.count()).select_from(partial)).scalar_one())


def agreed_on(wish: Mapping[str, Any]) -> Series:
    """What devices agree to.

    wish: the settings of a series, as the operator posted them.
    """
    return Series(wish["name"], wish["rounds"], wish["epsilon"])


def _ends(found: Row[Any], number: int) -> bool:
    """Whether the round of a number is the last of a series."""
    return found.stopped is not None or number >= json.loads(found.settings)["rounds"]


def _newest(name: str) -> Any:
    return select(rounds).where(rounds.c.series == name).order_by(rounds.c.series_number.desc()).limit(1)


def _draft(agreed: Series, wish: Mapping[str, Any], number: int, now: int) -> dict[str, Any]:
    """The row of a round before it is opened; rounds after the first have the groups as labels."""
    settings = {
        "id": agreed.round_id(number), "epsilon": agreed.epsilon_per_round, "opens": None, "closes": None,
        "n_bins": wish["n_bins"] if number == 1 else None, "bins": wish["bins"] if number == 1 else "labels",
        "joiner_seconds": wish["joiner_seconds"], "search_seed": wish["search_seed"], "profile": "series",
        "visibility": wish["visibility"], "every_seconds": wish["every_seconds"],
        "series": {"name": agreed.name, "number": number, "rounds": agreed.rounds, "epsilon": agreed.epsilon},
    }  # fmt: skip
    return {
        "id": settings["id"], "settings": json.dumps(settings), "created": now, "visibility": wish["visibility"],
        "search_seed": wish["search_seed"], "profile": "series", "series": agreed.name, "series_number": number,
    }  # fmt: skip
