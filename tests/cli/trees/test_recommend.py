from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privact.cli.files import read_labels
from privact.learn.evidence.count_posterior import CountPosterior
from privact.network.graph_files import read_graph
from privact.protocol.label_files import number_labels
from privact.recommend.cold_start.cold_start_recommender import ColdStartRecommender
from privact.recommend.data.read_ratings import read_ratings
from privact.simulate.reports import degree_vectors, simulate_reports
from privact.tree.hct import HierarchicalClusterTree


@pytest.fixture
def ratings(tmp_path):
    """The first clique dances the waltz, the second the tango; hal has both; ann has none."""
    path = tmp_path / "ratings.tsv"
    waltz, tango = ("bob", "cat", "dan", "hal"), ("eve", "fay", "gus", "hal", "zoe")
    lines = [f"{user}\twaltz\t3\n" for user in waltz] + [f"{user}\ttango\t2\n" for user in tango]
    path.write_text("user\titem\trating\n" + "".join(lines))
    return path


def test_a_user_gets_items_with_a_reason(ask, tree, ratings):
    found = ask("recommend", "--tree", tree, "--ratings", ratings, "--user", "ann", "-k", "2", "--verb", "danced")
    assert found["user"] == "ann"
    assert [each["item"] for each in found["recommendations"]] == ["waltz", "tango"]
    assert found["recommendations"][1]["reason"] == "4 of 7 users danced this"
    assert found["recommendations"][0]["score"] > found["recommendations"][1]["score"]


def test_a_person_sees_a_table(run, tree, ratings):
    shown = run("recommend", "--tree", tree, "--ratings", ratings, "--user", "ann").stdout.splitlines()
    assert shown[0].split() == ["rank", "item", "why"]
    assert shown[1].split()[:2] == ["1", "waltz"]


def test_a_user_who_has_everything_is_told_so(run, ask, tree, ratings):
    assert ask("recommend", "--tree", tree, "--ratings", ratings, "--user", "hal")["recommendations"] == []
    assert "hal has rated every item" in run("recommend", "--tree", tree, "--ratings", ratings, "--user", "hal").stdout


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"--user": "Anne"}, "no user 'Anne'"),
        ({"--user": "zoe"}, "no user 'zoe'"),
        ({"-k": "0"}, "k = 0 cannot be"),
        ({"--ratings": "none.tsv"}, "none.tsv: cannot be read"),
        ({"--tree": "none.hct"}, "none.hct"),
    ],
)
def test_mistakes_are_one_line(run, tree, ratings, change, told):
    words = {"--tree": tree, "--ratings": ratings, "--user": "ann", **change}
    done = run("recommend", *(part for pair in words.items() for part in pair))
    assert done.exit_code == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


WALTZ, TANGO = [f"waltz{i}" for i in range(30)], [f"tango{i}" for i in range(20)]
CAMPS = {"waltz": WALTZ, "tango": TANGO}


def chained(users):
    """A lopsided tree."""
    nested = users[0]
    for user in users[1:]:
        nested = (nested, user)
    return nested


@pytest.fixture
def ball(run, tmp_path):
    """Thirty who dance waltzes and twenty who dance tangos, contacts within a camp only; ann is new and knows the tango camp.

    The taste groups were the bins; the noise of epsilon 60 is almost surely 0.
    """
    paths = {
        name: tmp_path / name for name in ("ball.tsv", "contacts.tsv", "labels.tsv", "learned.hct", "blind.hct", "reports.npy")
    }
    lines = [f"{user}\t{camp}-{dance}\t1\n" for camp, users in CAMPS.items() for user in users for dance in "abc"]
    paths["ball.tsv"].write_text("".join(lines))
    pairs = [*combinations(WALTZ, 2), *combinations([*TANGO, "ann"], 2)]
    paths["contacts.tsv"].write_text("".join(f"{one}\t{other}\n" for one, other in pairs))
    assert run("taste", paths["ball.tsv"], "-k", "2", "-o", paths["labels.tsv"]).exit_code == 0
    words = ("--labels", paths["labels.tsv"], "--epsilon", "60", "--seed", "1", "-o", paths["learned.hct"])
    assert run("learn", paths["contacts.tsv"], *words).exit_code == 0
    graph = read_graph(paths["contacts.tsv"])
    bins, n_bins = number_labels(read_labels(paths["labels.tsv"], graph.users))
    counts = degree_vectors(graph, np.array(bins), n_bins)
    noisy = simulate_reports(counts, 60.0, np.random.default_rng(1))
    assert HierarchicalClusterTree.load(paths["learned.hct"]).users == graph.users
    np.save(paths["reports.npy"], noisy)
    mixed = [user for pair in zip(WALTZ, TANGO, strict=False) for user in pair] + WALTZ[len(TANGO) :]
    blind = HierarchicalClusterTree.from_nested(chained([*mixed, "ann"]))
    blind.save(paths["blind.hct"], {"epsilon": 60.0, "n_bins": 2, "bins": "labels", "search": "linkage"})
    return SimpleNamespace(
        ratings=paths["ball.tsv"], labels=paths["labels.tsv"], learned=paths["learned.hct"], blind=paths["blind.hct"],
        reports=paths["reports.npy"], noisy=noisy, users=list(graph.users), folder=tmp_path,
    )  # fmt: skip


def with_ids(ball, order, name="reports.parquet"):
    """The reports with their ids, in some order."""
    table = pa.table({"user": [ball.users[row] for row in order], "report": [ball.noisy[row] for row in order]})
    pq.write_table(table, ball.folder / name)
    return ball.folder / name


def dances(found):
    return {each["item"].split("-")[0] for each in found["recommendations"]}


def test_small_trees_are_believed_if_users_with_ratings_say_so(ask, ball):
    told = read_ratings(ball.ratings)
    tree = HierarchicalClusterTree.load(ball.learned)
    unchosen = ColdStartRecommender(tree, told).recommend("ann", 3)
    assert {each.item.split("-")[0] for each in unchosen} == {"waltz"}  # the default leaves popularity: 30 against 20
    found = ask("recommend", "--tree", ball.learned, "--ratings", ball.ratings, "--user", "ann", "-k", "3")
    assert dances(found) == {"tango"}
    assert found["settings"]["strength"] in (0.5, 5.0, 50.0)  # of 50 users with ratings


def test_a_tree_that_knows_nothing_leaves_popularity(ask, ball):
    found = ask("recommend", "--tree", ball.blind, "--ratings", ball.ratings, "--user", "ann", "-k", "3")
    assert dances(found) == {"waltz"}


def with_reports(ball, tree):
    """The words that ask for three dances for ann, but for the reports."""
    return "--tree", tree, "--ratings", ball.ratings, "--user", "ann", "-k", "3", "--labels", ball.labels, "--epsilon", "60"


def test_the_report_says_what_the_tree_does_not(ask, ball):
    shuffled = np.random.default_rng(3).permutation(len(ball.users))
    found = ask("recommend", *with_reports(ball, ball.blind), "--reports", with_ids(ball, shuffled))
    assert dances(found) == {"tango"}
    straight = with_ids(ball, range(len(ball.users)), "straight.parquet")
    assert found == ask("recommend", *with_reports(ball, ball.blind), "--reports", straight)


def test_labels_and_reports_go_from_taste_through_learn_to_recommend(ask, ball):
    by_row = ask("recommend", *with_reports(ball, ball.learned), "--reports", ball.reports)
    assert dances(by_row) == {"tango"}
    named = with_ids(ball, range(len(ball.users))[::-1])
    assert by_row == ask("recommend", *with_reports(ball, ball.learned), "--reports", named)


def test_rows_without_ids_are_in_the_order_of_the_trees_users(ask, ball):
    order = list(HierarchicalClusterTree.load(ball.blind).users)
    ordered = ball.noisy[[ball.users.index(user) for user in order]]
    words = (*with_reports(ball, ball.blind), "--reports", ball.reports)
    np.save(ball.reports, ordered)
    assert dances(ask("recommend", *words)) == {"tango"}
    ordered[order.index("ann")] = ordered[order.index("waltz7")]
    np.save(ball.reports, ordered)
    assert dances(ask("recommend", *words)) == {"waltz"}


@pytest.mark.parametrize(
    "given", [("--labels",), ("--reports",), ("--epsilon",), ("--labels", "--reports"), ("--reports", "--epsilon")]
)
def test_labels_reports_and_epsilon_belong_together(run, ball, given):
    values = {"--labels": ball.labels, "--reports": ball.reports, "--epsilon": "60"}
    words = [part for option in given for part in (option, values[option])]
    done = run("recommend", "--tree", ball.learned, "--ratings", ball.ratings, "--user", "ann", *words)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    left = " and ".join(option for option in values if option not in given)
    assert f"{' and '.join(given)} without {left}: give all three" in done.stderr


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"--epsilon": "2"}, "--epsilon 2 is not the 60 of the tree"),
        ({"--labels": "none.tsv"}, "cannot read none.tsv"),
        ({"--reports": "none.npy"}, "cannot read none.npy"),
        ({"--reports": "reports.txt"}, "reports.txt ends in .txt"),
    ],
)
def test_what_does_not_fit_the_tree_is_one_line(run, ball, change, told):
    words = {"--labels": ball.labels, "--reports": ball.reports, "--epsilon": "60", **change}
    done = run(
        "recommend",
        "--tree",
        ball.learned,
        "--ratings",
        ball.ratings,
        "--user",
        "ann",
        *(p for pair in words.items() for p in pair),
    )
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert told in done.stderr


def test_reports_of_others_are_one_line(run, ball):
    words = with_reports(ball, ball.learned)
    np.save(ball.folder / "short.npy", ball.noisy[1:])
    np.save(ball.folder / "narrow.npy", ball.noisy[:, :1])
    lacking = with_ids(ball, [row for row, user in enumerate(ball.users) if user != "ann"])
    for reports, told in (
        (ball.folder / "short.npy", "has 50 reports without ids, but the tree has 51 users"),
        (ball.folder / "narrow.npy", "2 labels"),
        (lacking, "has no report of 1 of the 51 users of the tree, such as 'ann'"),
    ):
        done = run("recommend", *words, "--reports", reports)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert told in done.stderr


def test_labels_say_nothing_about_random_bins(run, tree, ratings, teams, tmp_path):
    np.save(tmp_path / "reports.npy", np.zeros((8, 2), int))
    words = ("--labels", teams, "--reports", tmp_path / "reports.npy", "--epsilon", "1")
    done = run("recommend", "--tree", tree, "--ratings", ratings, "--user", "ann", *words)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "the tree has random bins" in done.stderr


def test_evidence_that_learning_kept_is_used_instead_of_a_fit(ask, run, ball, monkeypatch):
    kept = ball.folder / "evidence.json"
    words = ("--reports", ball.reports, "--label-bins", "--epsilon", "60", "-o", ball.folder / "again.hct", "--evidence", kept)
    assert run("learn", *words).exit_code == 0
    asked = (*with_reports(ball, ball.learned), "--reports", ball.reports)
    fitted = ask("recommend", *asked)
    monkeypatch.setattr(CountPosterior, "fit", lambda *arguments, **named: pytest.fail("fitted again"))
    assert ask("recommend", *asked, "--evidence", kept) == fitted


def test_evidence_of_other_reports_is_refused(run, ball):
    kept = ball.folder / "evidence.json"
    np.save(ball.folder / "other.npy", np.tile(ball.noisy, (1, 2)))
    words = ("--reports", ball.folder / "other.npy", "--label-bins", "--epsilon", "60", "-o", ball.folder / "other.hct")
    assert run("learn", *words, "--evidence", kept).exit_code == 0
    done = run("recommend", *with_reports(ball, ball.learned), "--reports", ball.reports, "--evidence", kept)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "is of reports of 4 bins at epsilon 60, these have 2 at epsilon 60: give the file of the same reports" in done.stderr
