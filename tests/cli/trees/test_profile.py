"""privact learn --profile: the file says what users were compared by, and what cannot be is refused in one line."""

from __future__ import annotations

import pytest

from privact.tree.hct import HierarchicalClusterTree


@pytest.mark.parametrize("profile", ["shares", "shares+own"])
def test_the_tree_says_what_users_were_compared_by(run, ask, contacts, teams, tmp_path, profile):
    output = tmp_path / "learned.hct"
    words = ("learn", contacts, "--no-noise", "--labels", teams, "--profile", profile, "-o", output)
    assert ask(*words)["parameters"]["profile"] == profile
    tree = HierarchicalClusterTree.load(output)
    assert tree.parameters["profile"] == profile
    labels = dict(zip(tree.users, tree.cut(2).tolist(), strict=True))
    assert len({labels[user] for user in ("ann", "bob", "cat", "dan")}) == 1  # the two cliques
    assert len({labels[user] for user in ("eve", "fay", "gus", "hal")}) == 1
    assert "by which share of the contacts" in run(*words).stdout


def test_counts_stay_the_default(run, ask, contacts, tmp_path):
    words = ("learn", contacts, "--no-noise", "-o", tmp_path / "learned.hct")
    assert "profile" not in ask(*words)["parameters"]
    assert "by how many contacts" in run(*words).stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--profile", "who"), "profile 'who' is unknown: use one of counts, shares, shares+own"),
        (("--profile", "shares", "--bins", "1"), "shares of 1 bin are 1 for all users"),
        (("--profile", "shares+own"), "needs public labels as bins"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line_and_leaves_no_file(run, contacts, tmp_path, words, message):
    output = tmp_path / "learned.hct"
    done = run("learn", contacts, *words, "-o", output)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not output.exists()
