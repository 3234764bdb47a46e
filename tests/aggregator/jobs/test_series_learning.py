"""Trees of series from a database: which rounds and users they are learned from, and what is said where nothing is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import insert

from privact.aggregator.domain.enrolment import enrol
from privact.aggregator.jobs.series_learning import ReportedSeries, align_series, learn_series, read_series
from privact.aggregator.storage.database import Store
from privact.aggregator.storage.schema import reports, rounds
from privact.aggregator.storage.stored_reports import read_round
from privact.errors import InputError
from privact.protocol.report import Report
from privact.protocol.round import Round
from privact.protocol.round_series import Series

USERS = [f"user{number}" for number in range(40)]
AUTUMN = Series("autumn", 3, 12.0)


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Callable[..., ReportedSeries]]:
    """Store rounds of a series, each with the reports of some users, and read the series: stored([users of round 1, ...])."""
    store = Store.open(f"sqlite:///{tmp_path / 'privact.sqlite3'}")
    enrol(store, USERS, 1)
    rng = np.random.default_rng(4)

    def make(answered: list[list[str]], minimum: int = 20) -> ReportedSeries:
        for number, users in enumerate(answered, 1):
            round = Round(
                id=f"autumn.{number}", epsilon=4.0, n_bins=2, n_users=40, seed=bytes([number]) * 16, opens=1, closes=9,
                series=AUTUMN, series_number=number,
            )  # fmt: skip
            row = {
                "id": round.id, "state": "closed", "settings": "{}", "parameters": round.to_bytes(), "digest": round.digest(),
                "n_users": 40, "last_serial": 40, "opens": 1, "closes": 9, "joiners_until": 9, "n_reports": len(users),
                "created": 1, "search_seed": 7, "profile": "series", "series": "autumn", "series_number": number,
            }  # fmt: skip
            with store.write() as connection:
                connection.execute(insert(rounds).values(row))
                for user in users:
                    report = Report.bind(round, user, rng.integers(0, 9, 2).tolist())
                    sent = {"round_id": round.id, "user": report.user, "bytes": report.to_bytes(), "received": 5, "late": False}
                    connection.execute(insert(reports).values(sent))
        url = store.url.render_as_string(hide_password=False)
        newest = read_round(url, f"autumn.{len(answered)}")
        return align_series(url, newest, read_series(url, newest, tmp_path, minimum), minimum)

    yield make
    store.close()


def test_a_tree_is_of_users_who_answered_every_round_and_says_if_nothing_is_seen(
    stored: Callable[..., ReportedSeries],
) -> None:
    found = stored([USERS, USERS[5:]])
    assert set(found.users) == set(USERS[5:])
    assert [sorted(users) for users, _ in found.others()] == [sorted(USERS[:5])]
    learned, evidence = learn_series(found)
    assert (learned.tree.n_users, evidence["sees_communities"], evidence["rounds"]) == (35, False, [1, 2])
    told = learned.tree.parameters
    assert (told["epsilon"], told["rounds"], told["series"], told["series_rounds"]) == (8.0, 2, "autumn", [1, 2])
    assert told["balance"] > 0


def test_a_round_that_too_few_answered_is_left_out(stored: Callable[..., ReportedSeries]) -> None:
    found = stored([USERS, USERS[:3]])
    assert [each.round.id for each in found.used] == ["autumn.1"]
    learned, evidence = learn_series(found)  # one round is compared by counts
    assert (learned.tree.parameters["profile"], evidence["rounds"]) == ("counts", [1])
    assert learned.tree.parameters["epsilon"] == 8.0  # what was asked, whether it was used or not


def test_the_smallest_round_is_left_out_while_too_few_answered_all(stored: Callable[..., ReportedSeries]) -> None:
    found = stored([USERS, USERS[:25], USERS[18:]])
    assert [each.round.series_number for each in found.used] == [1, 2]
    assert set(found.users) == set(USERS[:25])


def test_a_series_without_enough_reports_is_refused(stored: Callable[..., ReportedSeries]) -> None:
    with pytest.raises(InputError, match="has the 20 reports that learning needs"):
        stored([USERS[:10], USERS[:12]])
