from __future__ import annotations

import numpy as np
import pytest

from privact.learn.evidence.report_summary import summarise_reports


@pytest.mark.parametrize("block", [3, 7, 100])
def test_it_is_the_same_whatever_the_blocks(block):
    reports = np.random.default_rng(0).integers(0, 9, (50, 4)).astype(np.int32)
    found = summarise_reports(reports, reach=5, most=10, block=block)
    assert (found.lowest, found.highest) == (reports.min(), reports.max())
    assert found.largest_total == reports.sum(axis=1).max()
    np.testing.assert_array_equal(found.means, reports.mean(axis=0))
    np.testing.assert_array_equal(found.sample, reports[::5])


def test_absurd_reports_do_not_count():
    """Of 20 users nobody has more than 19 contacts, plus or minus what noise may add."""
    reports = np.tile([[2, 3]], (20, 1))
    reports[4] = [20, 20]
    reports[9] = [-4, -4]
    found = summarise_reports(reports, reach=6, most=100)
    assert (found.lowest, found.highest, found.largest_total) == (2, 3, 5)
    assert found.means.tolist() == [2.0, 3.0]
    assert len(found.sample) == 18


def test_where_all_reports_are_absurd_all_count_within_what_is_possible():
    found = summarise_reports(np.full((5, 2), 1000), reach=3, most=100)
    assert (found.highest, found.largest_total) == (7, 14)
    assert len(found.sample) == 5
