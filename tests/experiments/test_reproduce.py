"""privact reproduce: the files it writes, and verdicts that follow from numbers by their rule."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from privact.cli.main import app
from privact.experiments.figure5.measure import summarize
from privact.experiments.figure5.page import check_result_2
from privact.experiments.report.findings import markdown_table
from privact.experiments.running.networks import PaperNetworks
from privact.experiments.table1 import EXPERIMENT as TABLE1
from privact.experiments.table2.page import MOST_LOST, check_result_1


def run(*words: str) -> str:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.output
    return done.output


def test_figure_5_has_a_row_for_every_step_and_a_summary_of_the_ends(contacts_only, tmp_path):
    run("reproduce", "figure5", "--data", contacts_only, "-o", str(tmp_path), "--seeds", "2", "--sweeps", "6")
    found = json.loads((tmp_path / "figure5.json").read_text())
    for method in ("PrivaCT", "CMN-DP"):
        for epsilon in (0.5, 1.0, 2.0):
            chosen = [r for r in found["rows"] if (r["dataset"], r["method"], r["epsilon"]) == ("lastfm", method, epsilon)]
            assert [r["steps_per_n"] for r in chosen] == [*range(7)] * 2
            assert {r["seed"] for r in chosen} == {0, 1}
            ends = [r["log_likelihood"] for r in chosen if r["steps_per_n"] == 6]
            [end] = [f for f in found["final"] if (f["dataset"], f["method"], f["epsilon"]) == ("lastfm", method, epsilon)]
            assert end["mean"] == pytest.approx(sum(ends) / 2)
    controls = {"CMN", "average linkage", "degree only", "random tree"}
    assert controls <= {row["method"] for row in found["final"]}
    with (tmp_path / "figure5.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert set(rows[0]) == {"dataset", "method", "epsilon", "steps_per_n", "log_likelihood"}
    assert (tmp_path / "figure5.png").read_bytes().startswith(b"\x89PNG")
    assert found["claims"][0]["verdict"] in (tmp_path / "figure5.md").read_text().lower()


def test_table_2_puts_the_paper_beside_both_methods(contacts_only, tmp_path):
    output = run("reproduce", "table2", "--data", contacts_only, "-o", str(tmp_path), "--seeds", "1", "--json")
    assert {Path(path).name for path in json.loads(output)["files"]} == {"table2.json", "table2.md", "table2.png"}
    found = json.loads((tmp_path / "table2.json").read_text())
    assert len(found["rows"]) == 9
    assert found["rows"][0]["paper"] == 9.57
    assert "| lastfm | 0.5 | 9.57 |" in (tmp_path / "table2.md").read_text()


def test_table_1_does_not_hold_for_other_networks(contacts_only):
    [claim] = TABLE1.run(PaperNetworks(contacts_only)).page.claims
    assert claim.verdict == "does not hold"
    assert claim.evidence == "0 of 3 networks agree."


@pytest.mark.data
def test_table_1_holds_for_the_papers_networks(data_dir):
    [claim] = TABLE1.run(PaperNetworks(str(data_dir))).page.claims
    assert claim.verdict == "holds"


@pytest.mark.parametrize(
    ("worst", "sd", "verdict"),
    [
        (MOST_LOST - 1, 0.1, "holds"),
        (MOST_LOST, 0.0, "holds"),
        (MOST_LOST + 0.2, 0.3, "holds with a caveat"),
        (MOST_LOST + 0.5, 0.3, "does not hold"),
    ],
)
def test_result_1_follows_from_the_losses(worst, sd, verdict):
    rows = [
        {"dataset": "lastfm", "epsilon": 2.0, "ours": 1.0, "sd": 0.1},
        {"dataset": "delicious", "epsilon": 0.5, "ours": worst, "sd": sd},
    ]
    assert check_result_1(rows).verdict == verdict


@pytest.mark.parametrize(
    ("local", "degree", "verdict"),
    [(-10.0, -11.0, "holds"), (-10.0, -9.0, "holds with a caveat"), (-13.0, -14.0, "does not hold")],
)
def test_result_2_follows_from_the_ends(local, degree, verdict):
    rows = [
        {"dataset": "x", "method": method, "epsilon": e, "seed": 0, "steps_per_n": 400, "log_likelihood": value}
        for e in (0.5, 1.0, 2.0)
        for method, value in (("PrivaCT", local), ("CMN-DP", -12.0), ("degree only", degree))
    ]
    assert check_result_2(summarize(rows)).verdict == verdict


def test_markdown_tables_have_a_row_per_line():
    assert markdown_table(["a", "b"], [[1, "x"], [2, "y"]]) == "| a | b |\n| --- | --- |\n| 1 | x |\n| 2 | y |"


def test_missing_data_and_an_impossible_folder_are_one_line(contacts_only, tmp_path):
    done = CliRunner().invoke(app, ["reproduce", "table1", "--data", str(tmp_path)])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(app, ["reproduce", "table1", "--data", contacts_only, "-o", str(tmp_path / "file" / "x")])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
