"""Queries and reading are measured on real files, and their tables and speeds follow from the result."""

from __future__ import annotations

import pytest

from privact.bench import queries, reading
from privact.bench.benchmark import Task


def test_look_ups_are_measured_on_a_saved_tree():
    found = queries.measure_lookups(10_000)
    assert set(found) == {"first_lookup_ms", "search_ms", "search_absent_ms"}
    assert all(value > 0 for value in found.values())


def test_tables_and_speeds_of_queries():
    each = {"seconds": 2.0, "processor_seconds": 3.0, "peak_mb": 4.0}
    lookups = {"first_lookup_ms": 0.1, "search_ms": 1.0, "search_absent_ms": 5.0}
    result = {"users": 10_000, **lookups, "judged": 200, "quality": each, "cost": each}
    assert [table.rows[0][-1] for table in queries.make_tables(result)] == ["0.10", "4.0"]
    assert {speed.unit for speed in queries.list_speeds(result)} == {"ms", "s", "MB"}


def test_an_edge_list_is_written_and_read_in_a_process_of_its_own():
    found = reading.measure(Task(options={"contacts": 2_000}))
    assert found["contacts"] == 2_000
    assert 100 < found["users"] <= 200
    assert found["bytes"] == pytest.approx(2_000 * 50, rel=0.2)
    assert [speed.unit for speed in reading.list_speeds(found)] == ["s", "MB"]
    assert reading.make_tables(found)[0].rows[0][0] == "2,000"
