from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from privact.cli.main import app
from privact.errors import InputError
from privact.experiments.experiment import Task
from privact.experiments.report.recommendation_rows import CONTROLS, ROW
from privact.experiments.running.networks import OWN, PaperNetworks
from privact.experiments.table3 import measure as experiment
from privact.experiments.table3.methods import BEST, METHODS
from privact.experiments.table3.page import check_popularity, check_result_3, write_page
from privact.experiments.table3.paper import PAPER
from privact.simulate.federated_network import make_federated_network


def measure_once(folder, parts):
    """One fold with one seed of the network in a folder."""
    options = {"epsilon": 1.0, "folds": 1, "seeds": 1}
    return experiment.measure(Task(PaperNetworks(str(folder), ["lastfm"]), options=options, parts=parts))


@pytest.fixture(scope="module")
def made_up(tmp_path_factory) -> Path:
    """A folder laid out like the datasets: one small network whose communities have their own items."""
    folder = tmp_path_factory.mktemp("data") / "lastfm"
    folder.mkdir()
    network = make_federated_network(120, branching=(3, 2), mean_degree=8.0, random_state=0)
    rng = np.random.default_rng(0)
    side = np.arange(120) * 3 // 120
    with gzip.open(folder / "social.tsv.gz", "wt") as file:
        file.writelines(f"{a}\t{b}\n" for a, b in [("user", "friend"), *network.graph.edges().tolist()])
    with gzip.open(folder / "ratings.tsv.gz", "wt") as file:
        file.write("user\titem\trating\n")
        for user in range(120):
            own = rng.random(150) < np.where(np.arange(150) % 3 == side[user], 0.2, 0.03)
            file.writelines(f"{user}\t{item}\t{rng.integers(1, 9)}\n" for item in np.flatnonzero(own))
    return folder.parent


@pytest.fixture(scope="module")
def measured(made_up, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cells")
    return measure_once(made_up, folder), folder


def test_every_method_has_a_row_with_every_key_and_every_control_is_there(measured):
    rows = measured[0]["rows"]
    assert [row["method"] for row in rows] == [method.name for method in METHODS]
    assert all(tuple(row) == ROW for row in rows)
    assert {row["control"] for row in rows} == {None, *CONTROLS}
    assert {row["method"] for row in rows if not row["private"]} == {"friendsCF", f"{BEST}, no noise"}
    assert {row["method"]: (row["paper_ndcg"], row["paper_map"]) for row in rows if row["paper_ndcg"]} == PAPER["lastfm"]
    assert all(0 <= row["map"] <= 1 and 0 <= row["ndcg"] <= 1 for row in rows)
    assert next(row for row in rows if row["method"] == "most popular")["epsilon"] is None
    assert next(row for row in rows if row["method"] == "PrivaCT-CF")["epsilon"] == 1.0


def test_it_goes_on_where_it_was(measured, made_up, monkeypatch):
    found, folder = measured
    kept = sorted(folder.iterdir())
    assert len(kept) == 2  # one fold, once without and once with a seed
    next(path for path in kept if json.loads(path.read_text())["settings"]["seed"] is None).unlink()
    calls = []
    honest = experiment._measure_part
    monkeypatch.setattr(experiment, "_measure_part", lambda *given: calls.append(given) or honest(*given))
    again = measure_once(made_up, folder)
    assert len(calls) == 1
    assert json.dumps(again) == json.dumps(found)


def test_what_is_kept_belongs_to_the_content_of_the_files(measured, made_up, tmp_path, monkeypatch):
    shutil.copytree(measured[1], tmp_path / "cells")
    other = tmp_path / "lastfm"
    other.mkdir()
    (other / "social.tsv.gz").write_bytes((made_up / "lastfm" / "social.tsv.gz").read_bytes())
    with gzip.open(made_up / "lastfm" / "ratings.tsv.gz", "rt") as file:
        lines = file.readlines()
    with gzip.open(other / "ratings.tsv.gz", "wt") as file:
        file.writelines(lines[:-1])
    calls = []
    honest = experiment._measure_part
    monkeypatch.setattr(experiment, "_measure_part", lambda *given: calls.append(given) or honest(*given))
    measure_once(tmp_path, tmp_path / "cells")
    assert len(calls) == 2  # one rating less: nothing is taken from what was kept


def test_the_comparison_is_over_users(measured):
    compared, evenly = measured[0]["comparisons"]
    rows = {row["method"]: row for row in measured[0]["rows"]}
    assert compared["ratio"] == pytest.approx(rows[BEST]["ndcg"] / rows["most popular"]["ndcg"])
    assert evenly["ratio"] == pytest.approx(rows[BEST]["ndcg"] / rows["most popular, users even"]["ndcg"])
    assert compared["users"] == 24  # one of five folds of 120


def test_the_page_is_refused_without_controls(measured):
    found = measured[0]
    rows = [row for row in found["rows"] if row["control"] != "degree only"]
    with pytest.raises(InputError, match="has no degree only"):
        write_page({**found, "rows": rows})


def test_the_command_writes_the_table(made_up, measured, tmp_path):
    shutil.copytree(measured[1], tmp_path / "cells")  # where it was stopped
    words = ["evaluate", "cold-start", "--data", str(made_up), "--network", "lastfm", "--quick", "-o", str(tmp_path), "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert {Path(path).name for path in json.loads(done.output)["files"]} == {
        "cold-start.json",
        "cold-start.md",
        "cold-start.png",
    }
    assert len(list((tmp_path / "cells").iterdir())) == 2
    document = json.loads((tmp_path / "cold-start.json").read_text())
    assert document["rows"] == measured[0]["rows"]
    assert "| most popular * | yes |" in (tmp_path / "cold-start.md").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "cold-start", "--network", "flixster"],
        ["evaluate", "cold-start", "--epsilon", "-1"],
        ["evaluate", "cold-start", "--network", "delicious"],
        ["reproduce", "table3"],
    ],
)
def test_what_cannot_be_measured_is_one_line(made_up, tmp_path, words):
    done = CliRunner().invoke(app, [*words, "--data", str(made_up), "-o", str(tmp_path)])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1


RUNS = {"folds": 5, "seeds": 3}


def rows_with(**means):
    names = {"paper": "PrivaCT-CF", "average": "itemAvg", "chance": "m random users", "popular": "most popular", "best": BEST}
    return [
        {"dataset": "lastfm", "method": names[name], "ndcg": value, "map": value, "ndcg_sd": 0.01, "map_sd": 0.01, **RUNS}
        for name, value in means.items()
    ]


@pytest.mark.parametrize(
    ("means", "verdict"),
    [
        ({"paper": 0.2, "average": 0.1, "chance": 0.1, "popular": 0.15}, "holds"),
        ({"paper": 0.2, "average": 0.1, "chance": 0.195, "popular": 0.15}, "holds with a caveat"),
        ({"paper": 0.2, "average": 0.1, "chance": 0.1, "popular": 0.25}, "holds with a caveat"),
        ({"paper": 0.2, "average": 0.2, "chance": 0.1, "popular": 0.1}, "does not hold"),
    ],
)
def test_result_3_follows_from_the_rows(means, verdict):
    assert check_result_3(rows_with(**means)).verdict == verdict


@pytest.mark.parametrize(
    ("ratio", "p", "best", "verdict"),
    [
        (1.2, 0.001, 0.2, "holds"),
        (1.1, 0.001, 0.2, "holds with a caveat"),
        (1.2, 0.2, 0.2, "does not hold"),
        (1.2, 0.001, 0.1, "does not hold"),
        (0.9, 0.001, 0.2, "does not hold"),
    ],
)
def test_our_claim_follows_from_the_comparisons(ratio, p, best, verdict):
    compared = [{"dataset": "lastfm", "against": "most popular", "ratio": ratio, "ratio_error": 0.01, "p_value": p}]
    [claim] = check_popularity(compared, rows_with(best=best))
    assert claim.verdict == verdict


def test_one_run_near_the_target_or_near_chance_decides_nothing():
    def decides(ratio, p, runs):
        compared = [{"dataset": "lastfm", "against": "most popular", "ratio": ratio, "ratio_error": 0.03, "p_value": p}]
        rows = [{**row, "folds": runs, "seeds": 1} for row in rows_with(best=0.2)]
        return check_popularity(compared, rows)[0].decided

    assert decides(1.30, 0.001, 1)
    assert not decides(1.20, 0.001, 1)  # the target is 1.15
    assert not decides(1.30, 0.2, 1)
    assert decides(1.20, 0.001, 5)


def test_ones_own_data_is_measured_without_the_papers_numbers(made_up, tmp_path):
    for name in ("social", "ratings"):
        (tmp_path / f"{name}.tsv").write_bytes(gzip.decompress((made_up / "lastfm" / f"{name}.tsv.gz").read_bytes()))
    files = ["--contacts", str(tmp_path / "social.tsv"), "--ratings", str(tmp_path / "ratings.tsv")]
    done = CliRunner().invoke(app, ["evaluate", "cold-start", *files, "--quick", "-o", str(tmp_path)])
    assert done.exit_code == 0, done.output
    document = json.loads((tmp_path / "cold-start.json").read_text())
    assert {row["dataset"] for row in document["rows"]} == {OWN}
    assert all(row["paper_ndcg"] is None for row in document["rows"])
    assert {row["control"] for row in document["rows"]} == {None, *CONTROLS}
    assert len(document["claims"]) == 1  # our targets are for the paper's networks


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--contacts", "c.tsv"], "--ratings is missing"),
        (["--ratings", "r.tsv"], "--contacts is missing"),
        (["--contacts", "c.tsv", "--ratings", "r.tsv", "--network", "lastfm"], "give one or the other"),
        (["--contacts", "c.tsv", "--ratings", "r.tsv"], "c.tsv is not a file"),
        (["--folds", "6"], "--folds"),
    ],
)
def test_ones_own_data_is_both_files_and_nothing_else(tmp_path, words, said):
    done = CliRunner().invoke(app, ["evaluate", "cold-start", *words, "-o", str(tmp_path)])
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
