"""privact audit: verdicts that a person and a program can read, and exit codes."""

from __future__ import annotations

import json

import pytest

from privact.audit import epsilon as audits
from privact.audit.guessing import REAL
from privact.cli.main import app
from privact.tree.hct import HierarchicalClusterTree


@pytest.fixture
def found(monkeypatch):
    """Audits without noise: the device is accused exactly if its scale is below 1."""
    asked = []

    def audit(epsilon_report, trials, *, device, alpha, progress):
        asked.append((epsilon_report, trials, device, alpha))
        progress(1, 1)
        bound = epsilon_report * (0.99 if device is REAL else 1.1)
        event = audits.EventBound("all bins", trials, trials, 2 * trials, trials, bound, bound - 0.01)
        return audits.EpsilonAudit(epsilon_report, alpha, (event,))

    monkeypatch.setattr(audits, "audit_epsilon", audit)
    return asked


def test_epsilon_says_at_least_how_much_and_that_it_holds(run, found):
    result = run("audit", "epsilon")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [line.split()[:2] for line in result.stdout.splitlines()[1:5]] == [
        ["0.25", "0.2475"], ["0.5", "0.4950"], ["1", "0.9900"], ["2", "1.9800"],
    ]  # fmt: skip
    assert [(epsilon, trials) for epsilon, trials, *_ in found] == [(e, 1_000_000) for e in (0.25, 0.5, 1.0, 2.0)]
    assert sum(alpha for *_, alpha in found) == pytest.approx(audits.ALPHA)


def test_a_broken_promise_ends_with_one_line_and_code_1(run, found):
    result = run("audit", "epsilon", "--epsilon-report", "1", "--trials", "2000", "--scale", "0.9")
    assert result.exit_code == 1
    assert "BROKEN" in result.stdout
    assert result.stderr == "privact: a report that promises epsilon 1 has at least 1.1000: do not use this device\n"
    assert [trials for _, trials, *_ in found] == [2000]


def test_epsilon_in_json(ask, found):
    document = ask("audit", "epsilon", "--epsilon-report", "0.5", "--epsilon-report", "3")
    assert [one["epsilon_report"] for one in document["audits"]] == [0.5, 3.0]
    first = document["audits"][0]
    assert (first["holds"], first["trials"], first["bound"]) == (True, 1_000_000, 0.495)
    assert first["events"][0]["event"] == "all bins"


def test_a_series_is_attacked_as_a_whole(run, ask):
    document = ask("audit", "epsilon", "--rounds", "2", "--epsilon", "2", "--trials", "5000")
    (one,) = document["audits"]
    assert (one["epsilon"], one["rounds"], one["holds"]) == (2.0, 2, True)
    assert 1.0 < one["bound"] <= 2.0
    result = run("audit", "epsilon", "--rounds", "2", "--epsilon", "2", "--trials", "5000", "--scale", "0.4")
    assert result.exit_code == 1
    assert "BROKEN" in result.stdout
    assert result.stderr.startswith("privact: a series that promises epsilon 2 has at least ")


@pytest.mark.parametrize("options", [("--rounds", "2", "--epsilon-report", "1"), ("--epsilon", "4")])
def test_options_of_a_report_and_of_a_series_are_not_mixed(run, options):
    result = run("audit", "epsilon", *options)
    assert result.exit_code == 2
    assert "--rounds" in result.stderr


def test_release_lists_everything(run, ask, tree):
    result = run("audit", "release", tree)
    assert (result.exit_code, result.stderr) == (0, "")
    assert {line.split()[0] for line in result.stdout.splitlines()[1:]} >= {
        "users",
        "arrays.left",
        "parameters.epsilon",
        "padding",
    }
    assert all(field["allowed"] for field in ask("audit", "release", tree)["fields"])


def test_a_release_with_more_in_it_ends_with_one_line_and_code_1(run, tmp_path):
    path = tmp_path / "tree.hct"
    HierarchicalClusterTree.from_nested(((0, 1), 2)).save(path, {"epsilon": 1.0, "edges": [1, 2]})
    result = run("audit", "release", path)
    assert result.exit_code == 1
    assert result.stderr == f"privact: {path}: parameters.edges is on no list of what may be released: do not release it\n"
    document = json.loads(run("audit", "release", path, "--json").stdout)
    assert [field["name"] for field in document["fields"] if not field["allowed"]] == ["parameters.edges"]


def test_what_is_no_release_is_refused(run, tmp_path):
    from typer.testing import CliRunner

    path = tmp_path / "notes.txt"
    path.write_text("hello")
    result = CliRunner().invoke(app, ["audit", "release", str(path)])
    assert result.exit_code == 2
    assert "neither a tree file nor a tree as JSON" in result.stderr


def test_poisoning_prints_a_row_per_cell(run, ask, monkeypatch):
    from privact.audit import poisoning

    spread = {"mean": 1.25, "sd": 0.5, "runs": [1.25]}
    row = {"network": "synthetic", "attack": "clones", "share": 0.05, "way": "posterior", "clamped": True, "loss": spread}
    rows = [
        {**row, "contacts": spread, "clones": spread},
        {**row, "attack": "huge", "clamped": False, "contacts": spread, "clones": None},
    ]
    asked = []

    def measured(data, **settings):
        asked.append((data, settings["n_users"], settings["epsilon"], settings["seeds"]))
        return {"epsilon": 1.0, "seeds": 10, "nearest": 20, "rows": rows}

    monkeypatch.setattr(poisoning, "measure_poisoning", measured)
    lines = run("audit", "poisoning").stdout.splitlines()
    assert lines[1].split() == ["synthetic", "clones", "5%", "posterior", "clamped", "1.25", "±", "0.50", "1.25", "1.25"]
    assert lines[2].split() == ["synthetic", "huge", "5%", "posterior", "as", "sent", "1.25", "±", "0.50", "1.25"]
    assert ask("audit", "poisoning", "--seeds", "3", "--users", "500", "--epsilon", "2")["rows"] == rows
    assert asked == [(None, 1000, 1.0, 10), (None, 500, 2.0, 3)]
