from __future__ import annotations

import numpy as np
import pytest

from privact.errors import InputError
from privact.learn.reports.report_table import write_report_table

FIRST = (["ann", "bob"], np.array([[1, -2], [3, 4]]))
SECOND = (["cat"], np.array([[5, 6]], dtype=np.int16))
NOBODY = ([], np.empty((0, 2), np.int64))


def test_batches_become_one_table_on_disk(tmp_path):
    found = write_report_table(iter([FIRST, NOBODY, SECOND]), tmp_path / "reports")
    assert found.matrix.tolist() == [[1, -2], [3, 4], [5, 6]]
    assert isinstance(found.matrix, np.memmap)
    assert list(found.users) == ["ann", "bob", "cat"]
    assert (tmp_path / "reports").stat().st_size == 3 * 2 * 4


def test_reports_without_ids(tmp_path):
    found = write_report_table([(None, FIRST[1]), (None, SECOND[1])], tmp_path / "reports")
    assert (len(found.matrix), found.users) == (3, None)


def test_batches_are_read_one_at_a_time(tmp_path):
    """Only the batch at hand is in memory: the one before has been written when the next is asked for."""

    def batches():
        for number in range(3):
            yield None, np.full((1000, 4), number)
            # what is buffered is at most one block of the file system
            assert (tmp_path / "reports").stat().st_size >= 16_000 * number

    assert len(write_report_table(batches(), tmp_path / "reports").matrix) == 3_000


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        ([], "there are no reports"),
        ([NOBODY], "there are no reports"),
        ([FIRST, (None, SECOND[1])], "before row 2 have no user ids|have no user ids but others have"),
        ([(None, FIRST[1]), SECOND], "have no user ids but others have"),
        ([(["ann"], FIRST[1])], "1 user ids for 2 reports from row 0 on"),
        ([FIRST, (["ann"], SECOND[1])], "user id 'ann' occurs twice"),
        ([(["ann", "ann"], FIRST[1])], "'ann' occurs twice"),
        ([FIRST, (["cat"], np.array([[5, 6, 7]]))], "from row 2 on have 3 bins, those before 2"),
        ([FIRST, (["cat"], np.array([[5.0, 6.0]]))], "from row 2 on have type float64"),
        ([(None, np.array([1, 2]))], r"have shape \(2,\), not \(users, bins\)"),
        ([FIRST, (["cat", "dan"], np.array([[5, 6], [1, 2**40]]))], "the report in row 3 holds a number beyond 2147483647"),
        ([(["ann", None], FIRST[1])], "None is no user id"),
    ],
)
def test_batches_that_break_the_rules_are_refused(batches, message, tmp_path):
    with pytest.raises(InputError, match=message) as caught:
        write_report_table(batches, tmp_path / "reports")
    assert "\n" not in str(caught.value)


def test_many_ids_are_all_compared(tmp_path):
    names = [f"user{i}" for i in range(5_000)]
    zeros = np.zeros((1_000, 1), np.int32)
    batches = [(names[i : i + 1_000], zeros) for i in range(0, 5_000, 1_000)]
    assert list(write_report_table(batches, tmp_path / "reports").users) == names
    with pytest.raises(InputError, match="'user4321' occurs twice"):
        write_report_table([*batches, (["user4321"], zeros[:1])], tmp_path / "reports")
