from __future__ import annotations

import threading

import pytest

from privact.recommend.cores import run_on_all_cores


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_results_come_in_the_order_of_the_parts(count):
    assert run_on_all_cores(lambda part: part * part, range(count)) == [part * part for part in range(count)]


def test_parts_run_side_by_side(monkeypatch):
    """Each part waits for the other: one after the other they would wait until they give up."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    both = threading.Barrier(2)
    assert sorted(run_on_all_cores(lambda part: both.wait(60), [0, 1])) == [0, 1]


def test_what_goes_wrong_in_a_part_is_raised():
    with pytest.raises(ZeroDivisionError):
        run_on_all_cores(lambda part: 1 // part, [1, 0, 1])
