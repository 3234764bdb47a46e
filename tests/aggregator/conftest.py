"""Rounds whose reports are in a database: half of the users have few contacts, half have many, and a good tree shows it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Row, insert, select, update

from privact.aggregator.settings import Settings
from privact.aggregator.storage import schema
from privact.aggregator.storage.database import Store
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.protocol.users import user_digest

SPRING = Round(id="spring", epsilon=4.0, n_bins=3, n_users=120, seed=bytes(range(32)), opens=1, closes=1000, joiner_seconds=500)
FEW_AND_MANY = np.where(np.arange(120)[:, None] % 2, 40, 2) + np.random.default_rng(5).integers(-1, 2, (120, 3))
"""What users 0 to 119 report: even ones about 2 contacts in each bin, odd ones about 40."""


def _name(user: int) -> str:
    return f"user{user}@{'many' if user % 2 else 'few'}.example"


@dataclass
class StoredReports:
    """A round in a database, closed, with its reports."""

    store: Store
    settings: Settings

    @property
    def row(self) -> Row:
        with self.store.read() as connection:
            return connection.execute(select(schema.rounds)).one()

    @property
    def release(self) -> Path:
        return self.settings.releases_folder / "spring.hct"

    @property
    def joined(self) -> Path:
        return self.settings.data_folder / "joined" / "spring.hct"

    def wait(self, happened: Callable[[], bool], seconds: float = 120.0) -> None:
        """Wait until something has happened; a test that waits in vain fails."""
        end = time.monotonic() + seconds
        while not happened():
            assert time.monotonic() < end, f"waited in vain: {self.row}"
            time.sleep(0.01)

    def join_late(self, vectors: dict[str, Sequence[int]]) -> None:
        """Users who enrolled later answer, in the given order."""
        with self.store.write() as connection:
            serial = len(connection.execute(select(schema.users)).all())
            for number, (name, vector) in enumerate(vectors.items()):
                digest = user_digest(name)
                user = {"digest": digest, "id": name, "token_sha256": bytes(32), "enrolled": 900, "serial": serial + number + 1}
                connection.execute(insert(schema.users).values(user))
                report = {"round_id": "spring", "user": digest, "bytes": Report.bind(SPRING, name, vector).to_bytes()}
                connection.execute(insert(schema.reports).values(**report, received=1100, late=True))
            n_joiners = schema.rounds.c.n_joiners + len(vectors)
            connection.execute(update(schema.rounds).values(n_joiners=n_joiners))


@pytest.fixture
def stored_reports(tmp_path: Path) -> Iterator[Callable[..., StoredReports]]:
    """Make a closed round with reports: stored_reports(name of a folder, numbers of the users in the order they report)."""
    opened: list[Store] = []

    def make(name: str = "data", order: Sequence[int] = range(120), url: str = "", **chosen: object) -> StoredReports:
        folder = tmp_path / name
        folder.mkdir()
        settings = Settings(data_folder=folder, database=url, **chosen)
        store = Store.open(settings.database_url)
        opened.append(store)
        everyone = [
            {"digest": user_digest(_name(user)), "id": _name(user), "token_sha256": bytes(32), "enrolled": 1, "serial": serial}
            for serial, user in enumerate([*order, *sorted(set(range(120)) - set(order))], 1)
        ]
        closed = {
            "id": "spring", "state": "closed", "settings": "{}", "parameters": SPRING.to_bytes(), "digest": SPRING.digest(),
            "n_users": 120, "last_serial": 120, "opens": 1, "closes": 1000, "joiners_until": 1500, "n_reports": len(order),
            "created": 1, "opened": 1, "closed": 1000, "search_seed": 7, "profile": "counts",
        }  # fmt: skip
        with store.write() as connection:
            connection.execute(insert(schema.users), everyone)
            connection.execute(insert(schema.rounds).values(closed))
            for arrival, user in enumerate(order):
                report = Report.bind(SPRING, _name(user), FEW_AND_MANY[user].tolist())
                row = {"round_id": "spring", "user": report.user, "bytes": report.to_bytes(), "received": arrival, "late": False}
                connection.execute(insert(schema.reports).values(row))
        return StoredReports(store, settings)

    yield make
    for store in opened:
        store.close()
