"""The benchmark of attacks runs against a real server, and its tables hold every attack."""

from __future__ import annotations

from privact.bench.benchmark import Task
from privact.bench.serving import attacks


def test_attacks_are_measured_and_told() -> None:
    task = Task(options={"users": 500, "connections": 3, "megabytes": 1, "seconds": 0.2})
    result = attacks.measure(task)
    assert [each["attack"] for each in result["heads"]] == list(attacks.HEADS)
    assert all(each["grown_mb"] < 20 for each in result["heads"])
    assert all(each["busy_ms"] > 0 and each["responses_per_second"] > 0 for each in result["floods"])
    tables = attacks.make_tables(result)
    assert [len(table.rows) for table in tables] == [4, 4, 0]
    assert len(attacks.list_speeds(result)) == 9
