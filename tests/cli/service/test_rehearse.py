"""privact simulate --contacts: one's own network is played, and the command says what would come out."""

from __future__ import annotations

import pytest

from privact.simulate.known_graphs import make_cliques


@pytest.fixture
def files(tmp_path):
    """Six cliques of ten users, a label for each clique, and items that only a clique has."""
    graph = make_cliques([10] * 6).graph
    edges = "".join(f"u{a}\tu{b}\n" for a, b in graph.edges().tolist())
    (tmp_path / "contacts.tsv").write_text(edges)
    (tmp_path / "labels.csv").write_text("user,label\n" + "".join(f"u{n},team {n // 10}\n" for n in range(60)))
    lines = [f"u{n}\titem{10 * (n // 10) + item}\t1\n" for n in range(60) for item in range(10)]
    (tmp_path / "ratings.tsv").write_text("user\titem\trating\n" + "".join(lines))
    return tmp_path


def test_labels_show_communities_and_recommend_better_than_popularity(ask, files):
    found = ask(
        "simulate", "--contacts", files / "contacts.tsv", "--labels", files / "labels.csv", "--ratings", files / "ratings.tsv",
        "--epsilon", "8",
    )  # fmt: skip
    assert (found["users"], found["contacts"], found["bins"]) == (60, 270, "6 labels")
    assert found["contact_share"] > 0.8 > found["by_chance"]
    assert found["communities"]["clusters"][0]["groups"][0]["name"].startswith("team ")
    assert found["recommendations"]["precision"] > found["recommendations"]["precision_popular"]


def test_a_series_says_whether_it_sees_communities(ask, files):
    found = ask("simulate", "--contacts", str(files / "contacts.tsv"), "--rounds", "2", "--epsilon", "20")
    assert found["rounds"] == 2
    assert found["sees_communities"] is True


def test_a_person_reads_sentences(run, files):
    done = run("simulate", "--contacts", str(files / "contacts.tsv"), "--epsilon", "2")
    assert "Nobody was asked and nothing was spent" in " ".join(done.stdout.split())
    assert "by chance" in done.stdout


@pytest.mark.parametrize("options", [(), ("--users", "20", "--contacts", "c.tsv"), ("--users", "20", "--rounds", "2")])
def test_what_does_not_go_together_is_refused(run, options):
    assert run("simulate", *options).exit_code == 2
