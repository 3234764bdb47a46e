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
    target, part = tmp_path / "bench.json", tmp_path / "bench.json.part"
    target.write_text("of an earlier run")
    assert _run("--json", target).exit_code != 0
    assert list(json.loads(part.read_text())["benchmarks"]) == ["first"]
    assert target.read_text() == "of an earlier run"
    measured.broken.clear()
    done = _run("--json", target, "--resume")
    assert done.exit_code == 0
    assert measured.ran == ["first", "second", "second"]
    assert list(json.loads(target.read_text())["benchmarks"]) == ["first", "second"]
    assert not part.exists()
    assert "== first (measured before" in done.stdout
    assert "What first found" in done.stdout


def test_what_another_machine_or_a_quick_run_measured_is_not_mixed_in(measured, tmp_path):
    target, part = tmp_path / "bench.json", tmp_path / "bench.json.part"
    _run("--json", target)
    before = part.read_text()
    assert "of another machine, version or size" in _run("--json", target, "--resume", "--quick").output
    document = json.loads(before)
    document["benchmarks"]["first"]["machine"]["code"] = "another"
    part.write_text(json.dumps(document))
    assert "of another machine, version or size" in _run("--json", target, "--resume").output
    assert measured.ran == ["first", "second"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"benchmarks": {"first": 1}}', '{"benchmarks": 3}'])
def test_resuming_needs_what_an_interrupted_run_left(measured, tmp_path, content):
    assert "--json" in _run("--resume").output
    target = tmp_path / "bench.json"
    assert "cannot read" in _run("--json", target, "--resume").output
    (tmp_path / "bench.json.part").write_text(content)
    refused = _run("--json", target, "--resume")
    assert refused.exit_code != 0
    assert "bench.json.part" in refused.output
    assert measured.ran == []
