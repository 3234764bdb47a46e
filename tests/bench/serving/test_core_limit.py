"""Control groups that hold processes to a share of a core, on folders that look like those of Linux."""

from __future__ import annotations

from pathlib import Path

import pytest

from privact.bench.serving.core_limit import hold_to_cores
from privact.errors import PrivaCTError


def the_group(parent: Path) -> Path:
    (group,) = parent.glob("privact-bench-*")
    return group


def test_a_quarter_of_a_core_in_version_2(tmp_path):
    (tmp_path / "cgroup.controllers").write_text("cpu memory")
    with hold_to_cores([11, 12], 0.25, tmp_path):
        assert (the_group(tmp_path) / "cpu.max").read_text() == "5000 20000"
        assert (the_group(tmp_path) / "cgroup.procs").read_text() == "12"  # the kernel adds each; a file keeps the last


def test_a_quarter_of_a_core_in_version_1(tmp_path):
    (tmp_path / "cpu").mkdir()
    with hold_to_cores([11], 0.25, tmp_path):
        group = the_group(tmp_path / "cpu")
        assert (group / "cpu.cfs_quota_us").read_text() == "5000"
        assert (group / "cpu.cfs_period_us").read_text() == "20000"


def test_the_processes_that_are_left_go_back(tmp_path):
    (tmp_path / "cgroup.controllers").touch()
    with hold_to_cores([11], 1.0, tmp_path):
        pass
    assert (tmp_path / "cgroup.procs").read_text() == "11"


def test_without_control_groups_one_line_says_so(tmp_path):
    with (
        pytest.raises(PrivaCTError, match="run as root on Linux, or leave out --database-cores"),
        hold_to_cores([], 1.0, tmp_path),
    ):
        pass
