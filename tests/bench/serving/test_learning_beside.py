"""The benchmark of learning beside intake: a small round is learned while reports come in."""

from __future__ import annotations

from privact.bench.benchmark import Task
from privact.bench.serving import learning_beside


def test_reports_are_timed_while_a_round_is_learned() -> None:
    result = learning_beside.measure(Task(options={"users": 400, "reports": 300, "rate": 100.0}))
    assert result["quiet"]["reports"] == 30
    assert result["learning"]["reports"] > 0
    assert result["workers_peak_mb"] > 50
    assert all(speed.value > 0 for speed in learning_beside.list_speeds(result))
    table, took = learning_beside.make_tables(result)
    assert len(table.rows) == 2
    assert "400" in table.rows[1][0]
    assert took.title.startswith("Learned in")
