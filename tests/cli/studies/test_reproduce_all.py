"""privact reproduce all: files, exit codes and what is said; the experiments themselves are tested elsewhere."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from privact.errors import InputError
from privact.experiments.experiment import Experiment
from privact.experiments.registry import EXPERIMENTS
from privact.experiments.report.findings import Claim, Page
from privact.simulate.federated_network import make_federated_network


@pytest.fixture
def data(tmp_path):
    """Three small made-up networks without ratings."""
    for seed, name in enumerate(("lastfm", "delicious", "douban")):
        (tmp_path / "data" / name).mkdir(parents=True)
        edges = make_federated_network(90, branching=(3, 2), mean_degree=8.0, random_state=seed).graph.edges()
        with gzip.open(tmp_path / "data" / name / "social.tsv.gz", "wt") as file:
            file.writelines(f"{a}\t{b}\n" for a, b in [("user", "friend"), *edges.tolist()])
    return tmp_path / "data"


def holds(task):
    return {"quick": task.quick}


def write_page(document):
    return Page("text", [Claim("A.", "a rule", "holds", "numbers")], lambda figure: figure.subplots())


def fails(task):
    raise InputError("douban/ratings.tsv.gz is missing: put it there")


@pytest.fixture
def sections(monkeypatch):
    """Replaces the sections by quick ones."""

    def sections(*runs):
        made = [
            Experiment(name, f"Title of {name}", "", lambda measure=measure: (measure, write_page), "1", "0", "0", "Nothing.")
            for name, measure in runs
        ]
        monkeypatch.setattr("privact.cli.studies.reproduce_all.EXPERIMENTS", made)

    return sections


def test_it_writes_both_reports_and_each_section(run, data, sections, tmp_path):
    sections(("table1", holds))
    result = run("reproduce", "all", "--data", data, "-o", tmp_path / "results", "--quick")
    assert result.exit_code == 0
    assert result.stderr == "privact: section 1 of 1: table1\n"
    assert {path.name for path in (tmp_path / "results").iterdir() if path.is_file()} == {
        "report.html", "report.md", "table1.json", "table1.md", "table1.png",
    }  # fmt: skip
    before = {path.name: path.read_bytes() for path in (tmp_path / "results").iterdir() if path.is_file()}
    again = run("reproduce", "all", "--data", data, "-o", tmp_path / "results", "--quick")
    assert "kept" in again.stdout
    assert {path.name: path.read_bytes() for path in (tmp_path / "results").iterdir() if path.is_file()} == before


def test_a_failed_section_is_said_and_the_exit_code_is_not_zero(run, data, sections, tmp_path):
    sections(("table3", fails), ("table1", holds))
    result = run("reproduce", "all", "--data", data, "-o", tmp_path / "results")
    assert result.exit_code == 1
    assert "privact: table3 failed: douban/ratings.tsv.gz is missing: put it there\n" in result.stderr
    assert [line.split()[:2] for line in result.stdout.splitlines()[1:3]] == [["table3", "failed"], ["table1", "holds"]]
    assert "douban/ratings.tsv.gz is missing" in (tmp_path / "results" / "report.html").read_text()


def test_json_is_one_document_and_quiet(run, data, sections, tmp_path):
    sections(("table3", fails), ("table1", holds))
    result = run("reproduce", "all", "--data", data, "-o", tmp_path / "results", "--json")
    assert (result.exit_code, result.stderr) == (1, "")
    found = json.loads(result.stdout)
    assert [(each["name"], each["failure"] is None) for each in found["sections"]] == [("table3", False), ("table1", True)]
    assert found["sections"][1]["claims"][0]["verdict"] == "holds"
    assert [Path(path).name for path in found["reports"]] == ["report.html", "report.md"]


def test_without_datasets_it_is_one_line_and_no_report(run, tmp_path):
    result = run("reproduce", "all", "--data", tmp_path, "-o", tmp_path / "results")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "privact data get" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_real_sections_run_beside_those_that_lack_ratings(run, data, monkeypatch, tmp_path):
    chosen = [each for each in EXPERIMENTS if each.name in ("table1", "table2", "table5")]
    monkeypatch.setattr("privact.cli.studies.reproduce_all.EXPERIMENTS", chosen)
    result = run("reproduce", "all", "--data", data, "-o", tmp_path / "results", "--quick", "--json")
    assert result.exit_code == 1
    told = {each["name"]: each["failure"] for each in json.loads(result.stdout)["sections"]}
    assert {name for name, failure in told.items() if failure} == {"table5"}
    assert "ratings.tsv.gz is missing" in told["table5"]
    report = (tmp_path / "results" / "report.md").read_text()
    assert "| lastfm | 0.5 | 9.57 |" in report  # the paper's number
