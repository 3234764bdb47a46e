from __future__ import annotations

import numpy as np
import pytest

from privact.errors import InputError
from privact.learn.reports.report_files import read_reports, write_reports

REPORTS = np.array([[3, -1], [0, 7], [-2, 2]])


@pytest.mark.parametrize(("name", "users"), [("r.parquet", ["ann", "5", "eve"]), ("r.npy", None)])
def test_reports_are_read_as_they_were_written(tmp_path, name, users):
    write_reports(tmp_path / name, ["ann", "5", "eve"], REPORTS)
    table = read_reports(tmp_path / name, tmp_path)
    assert table.matrix.tolist() == REPORTS.tolist()
    assert (None if table.users is None else list(table.users)) == users


def test_other_names_are_refused_before_the_work(tmp_path):
    with pytest.raises(InputError, match="reports are written to"):
        write_reports(tmp_path / "r.csv", ["ann", "bob", "eve"], REPORTS)
