"""What anyone may know about a series: its rows -> its public description, with the evidence so far."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import Row, select

from privact.aggregator.domain.refusals import NotFound
from privact.aggregator.domain.round_descriptions import describe
from privact.aggregator.domain.series.running_series import agreed_on, find_series
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.report_counts import select_rounds
from privact.aggregator.storage.schema import VISIBILITIES, rounds, series
from privact.protocol.promise import amount, privacy_sentence

__all__ = ["describe_series", "list_series"]

_WHO: Final = "the reports tell who contacts are, not only how many: the tree shows communities"
_HOW_MANY: Final = (
    "the reports tell how many contacts users have, not who they are: the tree compares users by their number of contacts"
)


def describe_series(store: Store, name: str, *, drafts: bool, reads: Collection[str] = VISIBILITIES) -> dict[str, Any]:
    """One series as the API shows it.

    drafts: whether a series is shown of which no round was opened. reads: as for `round_descriptions.describe`.
    """
    with store.read() as connection:
        found = find_series(connection, name)
        rows = connection.execute(select_rounds().where(rounds.c.series == name).order_by(rounds.c.series_number)).all()
    described = _describe(found, [row for row in rows if drafts or row.state != "draft"], reads)
    if not drafts and not described["members"]:
        raise NotFound(f"no series {name!r}")
    return described


def list_series(store: Store, *, drafts: bool, reads: Collection[str] = VISIBILITIES) -> list[dict[str, Any]]:
    """All series, newest first; drafts and reads as for `describe_series`."""
    with store.read() as connection:
        found = connection.execute(select(series).order_by(series.c.created.desc(), series.c.name.desc())).all()
        rows = connection.execute(select_rounds().where(rounds.c.series.is_not(None)).order_by(rounds.c.series_number)).all()
    listed = [
        _describe(each, [row for row in rows if row.series == each.name and (drafts or row.state != "draft")], reads)
        for each in found
    ]
    return [each for each in listed if drafts or each["members"]]


def _describe(found: Row[Any], rows: list[Row[Any]], reads: Collection[str]) -> dict[str, Any]:
    wish = json.loads(found.settings)
    agreed = agreed_on(wish)
    members = [describe(row, reads) for row in rows]
    opened = [each for each in members if each["state"] != "draft"]
    evidence = next((each["evidence"] for each in reversed(members) if each["evidence"] is not None), None)
    finding = None if evidence is None else (_WHO if evidence["sees_communities"] else _HOW_MANY)
    return {
        "name": agreed.name,
        "state": _state(found, members, agreed.rounds),
        "epsilon": agreed.epsilon,
        "rounds": agreed.rounds,
        "epsilon_per_round": agreed.epsilon_per_round,
        "asked": float(amount(agreed.epsilon_per_round) * len(opened)),
        "every_seconds": wish["every_seconds"],
        "joiner_seconds": wish["joiner_seconds"],
        "visibility": wish["visibility"],
        "evidence": evidence,
        "finding": finding,
        "release": next((each["id"] for each in members if each["state"] == "released"), None),
        "privacy": privacy_sentence(agreed.epsilon, agreed.name, agreed.rounds),
        "members": members,
        "created_at": found.created,
        "stopped_at": found.stopped,
    }


def _state(found: Row[Any], members: list[dict[str, Any]], n_rounds: int) -> str:
    """The state of a series, from that of its newest round."""
    if not members or members[-1]["state"] == "draft":
        return "draft" if found.stopped is None else "stopped"
    newest = members[-1]
    if newest["state"] in ("released", "failed"):
        return str(newest["state"])
    ends = found.stopped is not None or newest["series"]["number"] == n_rounds
    return "learning" if ends and newest["state"] in ("closed", "learning") else "running"
