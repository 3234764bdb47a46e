from __future__ import annotations

from privact.experiments.scale.predictions import extrapolate, predict_processor_seconds


def row(n, seconds, method="privact", workers=2, status="ok"):
    return {"n": n, "processor_seconds": seconds, "method": method, "workers": workers, "status": status}


def test_a_fixed_start_is_not_taken_for_a_power():
    assert extrapolate([(100, 7.0), (300, 11.0)], 1_000) == 25.0  # 5 seconds, and 2 for each hundred users


def test_the_two_largest_finished_sizes_in_two_processes_count():
    rows = [row(10, 9.0), row(100, 7.0), row(300, 11.0), row(300, 99.0, workers=1), row(600, None, status="out of memory")]
    rows += [row(1_000, 26.0), row(500, 50.0, method="bisecting k-means")]
    assert predict_processor_seconds(rows, 1_000) == [{"n": 1_000, "from": [100, 300], "processor_seconds": 25.0}]
    assert predict_processor_seconds(rows[:1], 1_000) == []
