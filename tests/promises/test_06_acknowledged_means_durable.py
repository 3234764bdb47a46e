"""Promise 6: acknowledged means durable. 50 times kill -9 under load, 20,000 reports: none lost, none twice.

Held on SQLite and on PostgreSQL. Devices retry the same bytes until they are acknowledged, as real ones do.
Coming back takes no longer when most reports are stored than when few are.
"""

from __future__ import annotations

import http.client
import threading
from collections import Counter
from statistics import median

import pytest

from privact.protocol.report import Report

KILLS, REPORTS, DEVICES = 50, 20_000, 8


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request):
    return None if request.param == "sqlite" else request.getfixturevalue("postgres_url")


def test_no_acknowledged_report_is_lost_or_stored_twice(aggregator, database):
    server = aggregator(database, minimum_users=2, report_rate=0)
    server.start()
    tokens = server.enrol([f"user{number}" for number in range(REPORTS)])
    round_ = server.open_round("storm", n_bins=4)
    sent = {user: Report.bind(round_, user, (number, -number, 7, 0)).to_bytes() for number, user in enumerate(tokens)}
    waiting, acknowledged, unexpected = list(tokens), Counter(), []
    lock, stopping = threading.Lock(), threading.Event()

    def device() -> None:
        """Send reports one after another over one connection; after any failure the same bytes again."""
        connection, user = server.connection(), None
        while not stopping.is_set():
            if user is None:
                with lock:
                    if not waiting:
                        return
                    user = waiting.pop()
            try:
                headers = {"Authorization": f"Bearer {tokens[user]}", "Content-Type": "application/octet-stream"}
                connection.request("PUT", "/v1/rounds/storm/report", sent[user], headers)
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                connection.close()
                connection = server.connection()
                stopping.wait(0.05)
                continue
            if answer.status in (200, 201):
                with lock:
                    acknowledged[user] += 1
                user = None
            elif answer.status != 503:
                unexpected.append(answer.status)
                user = None
        connection.close()

    threads = [threading.Thread(target=device) for _ in range(DEVICES)]
    for thread in threads:
        thread.start()
    starts = []
    try:
        for kill in range(1, KILLS + 1):  # each time when another fiftieth has been acknowledged
            while len(acknowledged) < kill * REPORTS // (KILLS + 1):
                assert any(thread.is_alive() for thread in threads)
                stopping.wait(0.002)
            server.kill()
            starts.append(server.start())
        for thread in threads:
            thread.join()
    finally:
        stopping.set()
    assert not unexpected
    assert median(starts[-10:]) <= 3 * median(starts[:10])
    assert server.operate("GET", "/v1/rounds/storm")["reports"] == REPORTS == len(acknowledged)
    server.stop()
    assert stored_reports(server.database) == sorted(sent.values())


def stored_reports(database: str) -> list[bytes]:
    """Every report in the database, read past the server."""
    import sqlalchemy

    engine = sqlalchemy.create_engine(database.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        return sorted(bytes(row[0]) for row in connection.execute(sqlalchemy.text("SELECT bytes FROM reports")))
