"""privact bench all: what was measured before a failure is kept, and need not be measured again."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from privact.bench.benchmark import Benchmark, Speed, Table
from privact.cli.main import app
from privact.cli.studies import bench
from privact.errors import PrivaCTError


@pytest.fixture
def measured(monkeypatch):
    """Two benchmarks, the second of which fails while `broken` holds anything; the names of those that ran."""
    ran: list[str] = []
    broken: list[str] = ["second"]

    def make(name: str) -> Benchmark:
        def measure(task):
            ran.append(name)
            if name in broken:
                raise PrivaCTError("the disk is full")
            return {"rows": [name]}

        module = SimpleNamespace(
            measure=measure,
            make_tables=lambda result: [Table(f"What {name} found", [], [], ())],
            list_speeds=lambda result: [Speed(name, 1.0, "s")],
        )
        return Benchmark(name, "", lambda: module)

    monkeypatch.setattr(bench, "BENCHMARKS", (make("first"), make("second")))
    return SimpleNamespace(ran=ran, broken=broken)


def _run(*arguments: object):
    return CliRunner().invoke(app, ["bench", "all", *map(str, arguments)])


def test_a_failure_keeps_what_was_measured_and_resume_measures_the_rest(measured, tmp_path):
    target = tmp_path / "bench.json"
    assert _run("--json", target).exit_code != 0
    assert list(json.loads(target.read_text())["benchmarks"]) == ["first"]
    measured.broken.clear()
    done = _run("--json", target, "--resume")
    assert done.exit_code == 0
    assert measured.ran == ["first", "second", "second"]
    assert list(json.loads(target.read_text())["benchmarks"]) == ["first", "second"]
    assert "What first found" in done.stdout


def test_what_another_machine_or_a_quick_run_measured_is_measured_again(measured, tmp_path):
    measured.broken.clear()
    target = tmp_path / "bench.json"
    _run("--json", target, "--quick")
    _run("--json", target, "--resume")
    assert measured.ran == ["first", "second"] * 2
    document = json.loads(target.read_text())
    document["benchmarks"]["first"]["machine"]["processor"] = "another"
    target.write_text(json.dumps(document))
    _run("--json", target, "--resume")
    assert measured.ran == ["first", "second"] * 2 + ["first"]


def test_resuming_needs_a_file_of_all_benchmarks(measured, tmp_path):
    refused = _run("--resume")
    assert refused.exit_code != 0
    assert "--json" in refused.output
    other = tmp_path / "other.json"
    other.write_text("{}")
    assert "leave --resume out" in _run("--json", other, "--resume").output
    assert measured.ran == []
