from __future__ import annotations

import pytest


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
