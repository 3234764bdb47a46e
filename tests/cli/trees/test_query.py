from __future__ import annotations

import csv

import pytest

from privact.tree.hct import HierarchicalClusterTree


def test_nearest_come_by_community(run, ask, tree):
    found = ask("nearest", tree, "ann", "-m", 4)
    assert found["user"] == "ann"
    assert [(entry["user"], entry["community_size"]) for entry in found["nearest"]] == [
        ("bob", 2), ("cat", 3), ("dan", 4), ("eve", 8),
    ]  # fmt: skip
    lines = run("nearest", tree, "ann", "-m", 2).stdout.splitlines()
    assert [line.split() for line in lines] == [
        ["rank", "user", "share", "a", "community", "of"],
        ["1", "bob", "2"],
        ["2", "cat", "3"],
    ]
    assert len(ask("nearest", tree, "ann")["nearest"]) == 7  # ten were asked for, everybody came


def test_nearest_says_how_many_are_tied(run, ask, tree):
    assert ask("nearest", tree, "ann", "-m", 4)["tied"] == 4  # eve and three others join at once
    assert run("nearest", tree, "ann", "-m", 5).stdout.endswith("\n2 more are as near as the last one\n")


def test_users_of_a_tree_without_ids_are_numbers(ask, numbered):
    assert [entry["user"] for entry in ask("nearest", numbered, "0")["nearest"]] == [1, 2]
    assert ask("community", numbered, "0", "--size", 2)["users"] == [0, 1]


def test_community_is_the_smallest_that_is_large_enough(run, ask, tree):
    assert ask("community", tree, "ann", "--size", 3) == {
        "user": "ann", "asked_size": 3, "size": 3, "alike": 1, "users": ["ann", "bob", "cat"],
    }  # fmt: skip
    assert ask("community", tree, "ann", "--size", 5)["size"] == 8
    text = run("community", tree, "ann", "--size", 3).stdout
    assert text == "The close community of ann has 3 users:\n\nann  bob  cat\n"


def test_a_community_that_is_smaller_than_asked_for_says_so(run, tmp_path):
    path = tmp_path / "chain.hct"
    nested = "u00"
    for i in range(1, 50):
        nested = (nested, f"u{i:02}")
    HierarchicalClusterTree.from_nested(nested).save(path)
    text = run("community", path, "u40", "--size", 10).stdout
    assert text.endswith("\nThe next larger community has 41, more than twice the 10 asked for.\n")


def test_a_community_of_users_who_are_alike_says_so(run, ask, tmp_path):
    def halve(users):
        return users[0] if len(users) == 1 else (halve(users[: len(users) // 2]), halve(users[len(users) // 2 :]))

    path = tmp_path / "same.hct"
    HierarchicalClusterTree.from_nested(halve([f"u{i:02}" for i in range(32)])).save(path)
    assert ask("community", path, "u05", "--size", 8)["alike"] == 32
    text = run("community", path, "u05", "--size", 8).stdout
    assert text.endswith("\nThe tree cannot tell u05 apart from 31 others: which of them are listed is arbitrary.\n")


def test_cut_by_the_tree_itself_and_into_clusters_of_given_sizes(run, ask, tree):
    assert ask("cut", tree, "-k", "auto")["sizes"] == [4, 4]
    assert ask("cut", tree, "--min-size", 3, "--max-size", 4)["sizes"] == [4, 4]
    assert "-k many is neither a whole number nor auto" in run("cut", tree, "-k", "many").stderr


def test_a_huge_community_is_listed_in_part(run, ask, tmp_path):
    path = tmp_path / "large.hct"
    users = [f"u{i:04}" for i in range(1000)]
    nested = users[0]
    for user in users[1:]:
        nested = (nested, user)
    HierarchicalClusterTree.from_nested(nested).save(path)
    text = run("community", path, "u0000", "--size", 1000).stdout
    assert text.endswith("and 850 more: all of them with --json\n")
    assert "u0149" in text
    assert "u0150" not in text
    assert ask("community", path, "u0000", "--size", 1000)["users"] == users


def test_cut_into_k_or_into_small_enough(run, ask, tree, tmp_path):
    found = ask("cut", tree, "-k", 2)
    assert found["sizes"] == [4, 4]
    assert found["labels"] == dict.fromkeys(("ann", "bob", "cat", "dan"), 0) | dict.fromkeys(("eve", "fay", "gus", "hal"), 1)
    assert ask("cut", tree, "--max-size", 2)["sizes"] == [2, 1, 1, 2, 2]
    output = tmp_path / "labels.tsv"
    found = ask("cut", tree, "-k", 2, "-o", output)
    assert (found["output"], "labels" in found) == (str(output), False)
    assert output.read_text().splitlines()[:3] == ["user\tcluster", "ann\t0", "bob\t0"]
    text = run("cut", tree, "--max-size", 3).stdout
    assert "4 clusters of 8 users" in text
    assert [line.split() for line in text.splitlines()[3:]] == [
        ["0", "3", "37.5%", "ann"], ["2", "2", "25.0%", "eve"], ["3", "2", "25.0%", "gus"], ["1", "1", "12.5%", "dan"],
    ]  # fmt: skip


def test_ids_with_tabs_and_line_ends_survive_the_file_and_do_not_break_the_screen(run, tmp_path):
    path, output = tmp_path / "odd.hct", tmp_path / "labels.tsv"
    users = ["a\tb", 'say "hi"', "line\nend", "\x1b[31mred", "名前"]
    HierarchicalClusterTree.from_nested((((("a\tb", 'say "hi"'), "line\nend"), "\x1b[31mred"), "名前")).save(path)
    run("cut", path, "-k", 5, "-o", output)
    with output.open(newline="") as stream:
        assert {row[0] for row in list(csv.reader(stream, delimiter="\t"))[1:]} == set(users)
    text = run("nearest", path, "名前").stdout
    assert "\x1b" not in text
    assert len(text.splitlines()) == 5
    assert r"a\tb" in text


def test_info_tells_what_is_in_the_file(run, ask, tree, numbered):
    found = ask("info", tree)
    assert (found["users"], found["user_ids"], found["bytes"]) == (8, True, tree.stat().st_size)
    assert found["depth"] == {"mean": (4 + 4 + 3 + 2 + 3 + 3 + 3 + 3) / 8, "largest": 4}
    assert found["parameters"]["epsilon"] == 1.0
    assert "factor of e^1.0" in found["privacy"]
    text = run("info", tree).stdout
    assert "ann, bob, cat" in text
    assert "Not protected" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    assert ask("info", numbered)["privacy"] is None
    assert "unknown" in run("info", numbered).stdout


def test_info_tells_when_a_round_was_open_in_words(run, ask, tmp_path):
    path = tmp_path / "released.hct"
    times = {"opens": 1_767_225_600, "closes": "whenever"}
    HierarchicalClusterTree.from_nested(("ann", "bob")).with_parameters(times).save(path)
    assert ask("info", path)["parameters"] == times
    text = run("info", path).stdout
    assert "1 January 2026, 00:00 UTC" in text
    assert "whenever" in text


@pytest.mark.parametrize(("name", "suggested"), [("Ann", "'ann'"), ("@ann", "'ann'"), ("an", "'ann'"), ("halt", "'hal'")])
def test_an_unknown_user_is_met_with_similar_ones(run, tree, name, suggested):
    result = run("nearest", tree, name)
    assert result.exit_code == 2
    assert result.stderr == f"privact: no user {name!r} in this tree: did you mean {suggested}?\n"


def test_a_cut_with_a_least_size_says_who_is_in_no_cluster(run, tmp_path):
    from privact.tree.hct import HierarchicalClusterTree

    nested = ((((("ann", "bob"), "cid"), (("dee", "eve"), "fay"))), "gus")
    HierarchicalClusterTree.from_nested(nested).save(tmp_path / "deep.hct")
    shown = run("cut", str(tmp_path / "deep.hct"), "-k", "2", "--min-size", "3", "-o", str(tmp_path / "labels.tsv")).stdout
    assert "2 clusters of 7 users" in shown
    assert "in no cluster: 1" in shown
    assert (tmp_path / "labels.tsv").read_text().splitlines()[-1] == "gus\t-1"


def test_a_tree_of_one_round_over_random_bins_is_said_not_to_show_communities(run, tree):
    for command in (("community", tree, "ann", "--size", 4), ("cut", tree, "-k", "2")):
        assert "warning: one round over random bins" in run(*command).stderr
