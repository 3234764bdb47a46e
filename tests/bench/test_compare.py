"""Two files of benchmarks: what got worse by more than 15 % is named."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from privact.bench.compare import compare_files
from privact.bench.registry import BENCHMARKS
from privact.cli.main import app
from privact.errors import InputError


def write(path, seconds, rate):
    speeds = [
        {"name": "learning", "value": seconds, "unit": "s", "more_is_better": False},
        {"name": "reports", "value": rate, "unit": "reports/s", "more_is_better": True},
    ]
    path.write_text(json.dumps({"benchmark": "made up", "machine": {}, "speeds": speeds}))
    return path


@pytest.mark.parametrize(
    ("seconds", "rate", "slower"),
    [
        (11.4, 100.0, []),
        (11.6, 100.0, ["made up: learning"]),
        (5.0, 200.0, []),
        (10.0, 86.0, ["made up: reports"]),
        (20.0, 50.0, ["made up: learning", "made up: reports"]),
    ],
)
def test_what_is_worse_by_more_than_15_percent_is_named(tmp_path, seconds, rate, slower):
    before, after = write(tmp_path / "a.json", 10.0, 100.0), write(tmp_path / "b.json", seconds, rate)
    assert [change.name for change in compare_files(before, after) if change.slower] == slower
    done = CliRunner().invoke(app, ["bench", "compare", str(before), str(after)])
    assert done.exit_code == (1 if slower else 0)
    assert all(name in done.stdout for name in slower)
    assert f"{len(slower)} of 2 numbers" in done.stdout


def test_a_file_of_all_benchmarks_is_compared_with_one_of_a_single_one(tmp_path):
    one = write(tmp_path / "a.json", 10.0, 100.0)
    every = tmp_path / "all.json"
    every.write_text(json.dumps({"machine": {}, "benchmarks": {"made up": json.loads(one.read_text())}}))
    assert [change.worse for change in compare_files(one, every)] == [0.0, 0.0]


def test_a_quick_run_is_not_compared_with_a_full_one(tmp_path):
    full, quick = write(tmp_path / "a.json", 10.0, 100.0), tmp_path / "quick.json"
    quick.write_text(json.dumps(json.loads(full.read_text()) | {"quick": True}))
    assert len(compare_files(quick, quick)) == 2
    with pytest.raises(InputError, match="no number in common"):
        compare_files(full, quick)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"benchmark": "x"}'])
def test_another_file_is_refused_in_one_line(tmp_path, content):
    good, bad = write(tmp_path / "a.json", 10.0, 100.0), tmp_path / "b.json"
    bad.write_text(content)
    with pytest.raises(InputError, match=r"b\.json"):
        compare_files(good, bad)
    with pytest.raises(InputError, match="cannot read"):
        compare_files(good, tmp_path / "missing.json")


def test_every_benchmark_has_a_command_and_a_whole_module():
    shown = CliRunner().invoke(app, ["bench", "--help"]).output
    for benchmark in BENCHMARKS:
        assert f"  {benchmark.name} " in shown
        module = benchmark.module()
        assert module.measure.__doc__
        assert module.make_tables.__doc__
        assert module.list_speeds.__doc__
