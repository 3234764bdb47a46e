from __future__ import annotations

import shlex

import pytest

from privact.simulate.demo import SIZES, play_demo
from privact.tree.hct import HierarchicalClusterTree

FILES = {"one-round.png", "series.png", "series.hct", "tree.html", "tree.png", "tree.hct", "contacts.tsv", "servers.tsv"}


@pytest.fixture(scope="module")
def played():
    stages = []
    return play_demo(300, seed=3, progress=lambda stage, done, total: stages.append((stage, done, total))), stages


def test_the_demo_tells_everything_and_its_next_commands_work(run, tmp_path, monkeypatch, played):
    monkeypatch.setattr("privact.simulate.demo.play_demo", lambda *_, **__: played[0])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))  # as in a fresh clone, where the command is not on the path
    monkeypatch.setattr("sys.argv", [".venv/bin/privact"])
    result = run("demo", "--users", 300, "-o", "my demo")
    assert (result.exit_code, result.stderr) == (0, "")
    assert {path.name for path in (tmp_path / "my demo").iterdir()} == FILES
    assert ("found no communities" in result.stdout) == (not played[0].series.sees_communities)
    words = " ".join(result.stdout.split())
    for part in (
        "Per edge:",
        "Not protected:",
        "random tree",
        "number of contacts only",
        "home servers as bins",
        "no noise",
        "not over HTTP",
        "a series of 5 rounds",
    ):
        assert part in words
    commands = [line.strip() for line in result.stdout.split("Try next")[1].splitlines() if line.startswith("  ")]
    assert len(commands) == 4
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == ".venv/bin/privact"
        assert run(*arguments).exit_code == 0


def test_the_demo_in_json(ask, tmp_path, monkeypatch, played):
    monkeypatch.setattr("privact.simulate.demo.play_demo", lambda *_, **__: played[0])
    found = ask("demo", "--users", 300, "-o", tmp_path / "demo")
    assert set(found["files"]) == FILES
    assert found["users"] == 300
    assert len(found["share_of_contacts"]) == 4
    assert [view["at_least"] for view in found["communities"]] == list(SIZES)
    assert HierarchicalClusterTree.load(found["files"]["tree.hct"]).n_users == 300
    assert HierarchicalClusterTree.load(found["files"]["series.hct"]).parameters["rounds"] == 5
    assert [(way["rounds"], way["epsilon"], len(way["bins"])) for way in found["without_labels"]] == [(1, 4.0, 1), (5, 4.0, 5)]


def test_what_is_shown_about_the_user_is_true(played):
    demo, _ = played
    contacts = set(demo.network.graph.neighbours(demo.user))
    assert [(user, size) for user, _, size in demo.nearest] == list(demo.tree.nearest(demo.user, 10))
    assert all(true == (user in contacts) for user, true, _ in demo.nearest)
    assert len(demo.people) == 8
    assert demo.user not in {user for user, _, _ in demo.people}
    assert all(true == (user in contacts) for user, _, true in demo.people)
    for view, size in zip(demo.communities, SIZES, strict=True):
        members = demo.tree.community(demo.user, size).users
        assert view.size == len(members) == sum(count for _, count in view.servers)
        assert view.contacts == len(contacts & set(members))
        assert view.by_chance == pytest.approx(len(contacts) * (len(members) - 1) / 299)


def test_the_released_tree_says_which_round_it_is_from_and_nothing_about_contacts(played):
    demo, _ = played
    said = dict(demo.tree.parameters)
    assert (said["round"], said["epsilon"], said["epsilon_report"]) == ("demo-servers", 1.0, 0.5)
    assert (said["bins"], said["n_bins"], said["labels_digest"]) == ("labels", 16, demo.round.labels_digest.hex())
    assert not {"contacts", "edges", "counts", "degrees"} & set(said)
    assert sorted(demo.tree.users) == sorted(demo.network.graph.users)
    assert [demo.network.graph.users[row] for row in demo.rows] == list(demo.tree.users)


def test_progress_covers_all_devices(played):
    _, stages = played
    assert sum(stage == "devices answer" and done == total == 300 for stage, done, total in stages) >= 3
    assert played[0].reports == 900


def test_three_users_without_ratings_are_recommended_something_for_a_reason(played):
    demo, _ = played
    assert len({suggested.user for suggested in demo.suggestions}) == 3
    for suggested in demo.suggestions:
        assert len(suggested.items) == 4
        assert all(reason.endswith("play this") for _, reason, _ in suggested.items)
        row = demo.network.graph.row(suggested.user)
        plays = {demo.network.artist_names[artist] for user, artist, _ in demo.network.ratings.tolist() if user == row}
        assert all(true == (item in plays) for item, _, true in suggested.items)


def test_a_demo_that_is_stopped_while_it_writes_leaves_no_new_file_and_removes_none(run, tmp_path, monkeypatch, played):
    monkeypatch.setattr("privact.simulate.demo.play_demo", lambda *_, **__: played[0])
    mine = tmp_path / "contacts.tsv"  # a file of somebody's own, with the name of one that the demo would have written
    mine.write_text("ann\tbob\n")

    def interrupted(*_, **__):
        assert (tmp_path / "tree.hct").exists()
        raise KeyboardInterrupt

    monkeypatch.setattr("privact.drawing.picture.save_picture", interrupted)
    result = run("demo", "-o", tmp_path)
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "privact: stopped\n")
    assert list(tmp_path.iterdir()) == [mine]
    assert mine.read_text() == "ann\tbob\n"
