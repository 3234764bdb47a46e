"""The benchmark of several servers: every report is accepted by one of them."""

from __future__ import annotations

import pytest

from privact.bench.benchmark import Task
from privact.bench.serving import servers
from privact.simulate.local_postgres import find_postgres_programs


@pytest.mark.skipif(find_postgres_programs() is None, reason="PostgreSQL's initdb and postgres are not here")
def test_two_servers_share_the_load() -> None:
    options = {"servers": (2,), "reports": 200, "concurrency": 8, "repeats": 2, "database_cores": 0.0}
    result = servers.measure(Task(options=options))
    (row,) = result["rows"]
    assert row["servers"] == 2
    assert row["server_cores"] > 0
    assert all(speed.value > 0 for speed in servers.list_speeds(result))
    (table,) = servers.make_tables(result)
    assert len(table.rows[0]) == len(table.heading)
