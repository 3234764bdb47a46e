"""privact reproduce communities: rows, controls, ratios and the verdict on the target."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from privact.cli.main import app
from privact.experiments.communities import measure as experiment
from privact.experiments.communities.measure import Setting, list_settings, summarize
from privact.experiments.communities.most_connected import measure_most_connected
from privact.experiments.communities.page import CHOSEN, check_target
from privact.experiments.report.recommendation_rows import ROW
from privact.network.graph import ContactGraph
from privact.simulate.federated_network import make_federated_network
from privact.simulate.known_graphs import make_cliques


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    """A folder laid out like the datasets; users of a server rate the same items."""
    folder = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(("lastfm", "delicious", "douban")):
        network = make_federated_network(80, branching=(3, 2), mean_degree=8.0, random_state=seed)
        rng = np.random.default_rng(seed)
        (folder / name).mkdir()
        with gzip.open(folder / name / "social.tsv.gz", "wt") as file:
            file.writelines(f"{a}\t{b}\n" for a, b in [("user", "friend"), *network.graph.edges().tolist()])
        with gzip.open(folder / name / "ratings.tsv.gz", "wt") as file:
            file.write("user\titem\trating\n")
            for user, server in enumerate(network.servers.tolist()):
                items = sorted({int(10 * server + item) for item in rng.integers(0, 12, 6)})
                file.writelines(f"{user}\t{item}\t{1 + item % 5}\n" for item in items)
    return folder


def test_every_tree_has_a_row_with_its_controls_and_a_second_run_goes_on(made_up, tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "GROUPS", (16,))
    words = ["reproduce", "communities", "--data", str(made_up), "-o", str(tmp_path), "--quick", "--seeds", "1"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "communities.json").read_text())
    assert {row["dataset"] for row in found["rows"]} == {"lastfm"}
    trees = {(row["bins"], row["n_bins"], row["profile"]) for row in found["rows"]}
    assert len(found["rows"]) == len(trees) == 2 + 3 + 1 + 3
    assert {row["profile"] for row in found["rows"] if row["control"]} == {
        "own group only",
        "counts",
        "random tree",
        "most connected users",
    }
    assert {row["control"] for row in found["rows"]} == {
        None,
        "own group only",
        "degree only",
        "random tree",
        "most connected users",
    }
    assert all(set(ROW) <= set(row) for row in found["rows"])
    assert found["rows"][0]["ratio"] == 1.0
    for row in found["rows"]:
        assert len(row["share_of_contacts_runs"]) == row["seeds"] == 1
        assert row["share_of_contacts"] == pytest.approx(np.mean(row["share_of_contacts_runs"]))
        assert row["ratio"] == pytest.approx(row["share_of_contacts"] / found["rows"][0]["share_of_contacts"])
        assert 0.0 <= row["auc"] <= 1.0
        assert row["mean_path"] >= 1.0
    assert found["claims"][0]["verdict"] in (tmp_path / "communities.md").read_text().lower()
    assert (tmp_path / "communities.png").read_bytes().startswith(b"\x89PNG")

    monkeypatch.setattr(experiment, "measure_trees", None)  # everything is kept: nothing is run again
    again = CliRunner().invoke(app, [*words, "--json"])
    assert again.exit_code == 0, again.output
    assert json.loads((tmp_path / "communities.json").read_text()) == found


def test_the_paper_s_random_bins_come_first():
    assert list_settings(1843)[0] == Setting("random", 7, "counts")


def row(profile, shares, reference=0.02, network="lastfm"):
    """A summary at epsilon 1 with these shares of contacts."""
    trees = [Setting("random", 7, "counts"), Setting(CHOSEN[0], CHOSEN[1], profile)]
    empty = {"share_of_two_hop": 0.0, "mean_path": 1.0, "auc": 0.5}
    runs = [[{"share_of_contacts": reference, **empty}, {"share_of_contacts": share, **empty}] for share in shares]
    return summarize(network, 1.0, trees, runs)[1]


@pytest.mark.parametrize(
    ("shares", "alone", "verdict"),
    [
        ([0.05, 0.05], [0.04, 0.03], "holds"),
        ([0.06, 0.05], [0.04, 0.05], "holds with a caveat"),
        ([0.05, 0.049], [0.01, 0.01], "does not hold"),
    ],
)
def test_the_verdict_follows_from_the_ratio_and_from_the_groups_alone(shares, alone, verdict):
    [claim] = check_target([row(CHOSEN[2], shares), row("own group only", alone)])
    assert claim.verdict == verdict
    assert check_target([row("counts", shares)]) == []


def test_a_network_of_ones_own_has_a_verdict_too():
    rows = [row(profile, shares, network="own data") for profile, shares in ((CHOSEN[2], [0.05]), ("own group only", [0.04]))]
    [claim] = check_target(rows)
    assert claim.verdict == "holds"
    assert "on own data" in claim.statement
    assert check_target([row(CHOSEN[2], [0.05], network="douban"), row("own group only", [0.04], network="douban")]) == []


@pytest.mark.data
def test_on_lastfm_taste_groups_find_at_least_two_and_a_half_times_the_contacts_of_random_bins(data_dir, monkeypatch):
    from privact.experiments.running.networks import load_rated

    network = load_rated("lastfm", str(data_dir))
    chosen = [tree for tree in list_settings(network.graph.n_users) if tree[:3] in (("random", 7, "counts"), CHOSEN)]
    chosen.append(Setting(*CHOSEN[:2], "own group only", control=True))
    monkeypatch.setattr(experiment, "GROUPS", CHOSEN[1:2])
    monkeypatch.setattr(experiment, "list_settings", lambda n_users: chosen)
    rows = summarize("lastfm", 1.0, chosen, [list(experiment.measure_trees(network, 1.0, seed=11))])
    [claim] = check_target(rows)
    assert claim.verdict == "holds"
    assert rows[1]["ratio"] > 1.3 * rows[2]["ratio"]  # most of it is what the reports tell, not the groups alone


def test_the_most_connected_users_are_all_contacts_of_a_star_and_hardly_any_of_cliques():
    star = ContactGraph.from_edges([("hub", f"user {number}") for number in range(30)])
    found = measure_most_connected(star, None, 3, 0)
    assert found["share_of_contacts"] == 1.0
    assert found["mean_path"] == 1.0
    assert found["auc"] > 0.9
    cliques = measure_most_connected(make_cliques([20, 20, 20, 20]).graph, None, 3, 0)
    assert cliques["share_of_contacts"] == pytest.approx(19 / 79, abs=0.03)
