from __future__ import annotations

import pytest

from privact.network.graph_files import read_graph
from privact.tree.cost import utility_bound
from privact.tree.hct import HierarchicalClusterTree


def test_quality_of_the_perfect_tree(run, ask, tree, contacts):
    found = ask("quality", tree, contacts)
    assert found["trees"]["tree"]["share_of_contacts"] == 1.0
    assert 0.0 <= found["trees"]["random"]["share_of_contacts"] < 1.0
    assert 0.0 <= found["trees"]["degree_only"]["share_of_contacts"] <= 1.0
    assert (found["users"], found["contacts"], found["users_left_out"]) == (8, 12, 0)
    best = found["trees"]["tree"]
    assert (best["share_of_two_hop"], best["mean_path"], best["auc"], best["searched"]) == (0.0, 1.0, 1.0, 8)
    assert set(found["trees"]["random"]) == set(found["trees"]["degree_only"]) == set(best)
    text = run("quality", tree, contacts).stdout
    assert "mean path" in text
    assert "AUC" in text
    assert "100.00%" in text
    assert "number of contacts only" in text
    assert "random tree" in text


def test_a_tree_that_keeps_contacts_apart_is_explained(run, tree, contacts, tmp_path):
    mixed = tmp_path / "mixed.hct"
    HierarchicalClusterTree.from_nested(((("ann", "eve"), ("bob", "fay")), (("cat", "gus"), ("dan", "hal")))).save(mixed)
    assert "contacts are farther apart in this tree" in " ".join(run("quality", mixed, contacts).stdout.split())
    assert "farther apart" not in run("quality", tree, contacts).stdout


def test_cost_is_taken_on_exact_counts_in_public_bins(run, ask, tree, contacts, teams):
    labelled = ask("cost", tree, contacts, "--labels", teams)
    # With a bin for each team: those of one clique have the same counts but for hal, whom no bin counts. S is 1 between
    # equal vectors. Red users count (3, 0), blue ones (0, 2) but for hal, who counts (0, 3).
    between = 4 * 3 * 5 + 4 * 1 * 6  # red with blue, red with hal
    cost = 8 * between  # at the root of 8 users
    cost += 2 * 1 + 3 * 2 + 4 * 3  # in ((ann, bob), cat), dan): new pairs times size, S = 1
    cost += 2 * 1 + 2 * 1 + 4 * 4  # in ((eve, fay), (gus, hal)): S of hal with another is max(1, 3 - 2) = 1 too
    assert labelled["bins"] == 2
    assert labelled["trees"]["tree"]["cost"] == pytest.approx(cost)
    assert labelled["trees"]["tree"]["relative_utility"] == pytest.approx(cost / ((8**3 - 8) / 3))
    assert labelled["rho"] == (8**3 - 8) / 3
    by_seed = ask("cost", tree, contacts)
    assert by_seed["bins"] == 2
    assert by_seed["trees"]["tree"]["cost"] > by_seed["rho"] * 0.99  # every S is at least 1
    assert "relative utility" in run("cost", tree, contacts).stdout


def test_users_outside_the_tree_are_left_out(run, ask, contacts, tmp_path):
    path = tmp_path / "part.hct"
    HierarchicalClusterTree.from_nested(((("ann", "bob"), "cat"), "dan")).save(path)
    found = ask("quality", path, contacts)
    assert (found["users_left_out"], found["contacts"]) == (4, 6)
    assert found["trees"]["tree"]["share_of_contacts"] == 1.0
    assert "4 users of the graph are not in the tree" in run("quality", path, contacts).stdout


def test_users_whom_the_graph_does_not_name_have_no_contacts(ask, tree, tmp_path):
    path = tmp_path / "half.tsv"
    path.write_text("ann\tbob\ncat\teve\n")
    found = ask("quality", tree, path)
    assert (found["users"], found["contacts"]) == (8, 2)
    assert found["trees"]["tree"]["share_of_contacts"] == (1 + 1 + 0 + 0) / 4
    assert ask("cost", tree, path)["users"] == 8


def test_a_tree_without_ids_goes_by_rows(ask, numbered, tmp_path):
    path = tmp_path / "three.tsv"
    path.write_text("x\ty\ny\tz\n")
    assert read_graph(path).users == ("x", "y", "z")
    assert ask("quality", numbered, path)["trees"]["tree"]["share_of_contacts"] == pytest.approx((1 + 1 + 0) / 3)


def test_bound_is_that_of_the_theorems(run, ask):
    found = ask("bound", "--users", 1843, "--epsilon", 1)
    expected = utility_bound(1843, 1.0)
    assert (found["n_bins"], found["rho"], found["per_edge_loss"]) == (7, expected.rho, expected.per_edge_loss)
    assert ask("bound", "--users", 1843, "--bins", 3)["n_bins"] == 3
    assert f"{expected.per_edge_loss / expected.rho:.4g}" in run("bound", "--users", 1843).stdout
