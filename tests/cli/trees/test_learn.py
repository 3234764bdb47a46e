from __future__ import annotations

import pytest

from privact.network.graph import ContactGraph
from privact.network.graph_files import read_graph
from privact.simulate.known_graphs import make_nested_cliques
from privact.tree.hct import HierarchicalClusterTree


@pytest.fixture(scope="module")
def graph_file(tmp_path_factory):
    """A network of 60 users and its file."""
    path = tmp_path_factory.mktemp("learn") / "network.tsv"
    graph = make_nested_cliques((3, 4), 5).graph
    path.write_text("".join(f"{one}\t{other}\n" for one, other in graph.edges().tolist()))
    return path


def test_learn_writes_a_tree_of_all_users_and_says_what_it_promises(run, contacts, tmp_path):
    output = tmp_path / "learned.hct"
    result = run("learn", contacts, "--epsilon", 2, "-o", output, "--seed", 1)
    assert result.exit_code == 0
    assert "warning: one round over random bins" in result.stderr
    tree = HierarchicalClusterTree.load(output)
    assert sorted(tree.users) == ["ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal"]
    words = " ".join(result.stdout.split())
    assert "1 named again, 1 with oneself" in words
    for part in (
        "Per edge:",
        "e^2.0",
        "Per report:",
        "epsilon 1.0",
        "Per round:",
        "Not protected:",
        "The noise was simulated here",
    ):
        assert part in words
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_the_file_holds_public_parameters_only(ask, contacts, tmp_path):
    output = tmp_path / "learned.hct"
    found = ask("learn", contacts, "--seed", 987654321, "-o", output)
    assert set(HierarchicalClusterTree.load(output).parameters) == {
        "epsilon", "epsilon_report", "n_bins", "bins", "bins_seed", "denoise", "search", "balance",
    }  # fmt: skip
    assert b"987654321" not in output.read_bytes()  # the seed of the noise would undo it
    assert found["parameters"] == dict(HierarchicalClusterTree.load(output).parameters)
    assert (found["users"], found["contacts"], found["dropped_duplicates"], found["dropped_self_loops"]) == (8, 12, 1, 1)
    assert found["output"] == str(output)
    assert "whoever guesses the seed" in found["privacy"]


def test_the_seed_decides_everything(run, graph_file, tmp_path):
    files = [tmp_path / name for name in ("one.hct", "same.hct", "other.hct")]
    for path, seed in zip(files, (4, 4, 5), strict=True):
        run("learn", graph_file, "-o", path, "--seed", seed)
    one, same, other = (path.read_bytes() for path in files)
    assert one == same
    assert one != other


def test_without_noise_labels_show_the_cliques(ask, run, contacts, teams, tmp_path):
    output = tmp_path / "learned.hct"
    found = ask("learn", contacts, "--no-noise", "--labels", teams, "-o", output)
    assert found["users_without_label"] == 1
    assert found["parameters"]["n_bins"] == 2
    assert "epsilon" not in found["parameters"]
    assert found["privacy"].startswith("No promise")
    labels = HierarchicalClusterTree.load(output).cut(2)
    users = read_graph(contacts).users
    red = {user for user, label in zip(users, labels, strict=True) if label == labels[users.index("ann")]}
    assert red == {"ann", "bob", "cat", "dan"}
    assert "No promise" in run("info", output).stdout
    assert "1 users have no label" in run("learn", contacts, "--labels", teams, "-o", output).stdout


def test_search_options_reach_the_search(ask, graph_file, tmp_path):
    output = tmp_path / "tree.hct"
    options = ("--search", "gentree", "--sweeps", 3, "--temperature", "1e3,1", "--no-denoise", "--bins", 4)
    found = ask("learn", graph_file, "-o", output, *options)
    assert found["parameters"]["search"] == "gentree"
    assert (found["parameters"]["denoise"], found["parameters"]["n_bins"]) == (False, 4)


def test_utility_is_that_of_the_saved_tree(ask, graph_file, tmp_path):
    output = tmp_path / "tree.hct"
    learned = ask("learn", graph_file, "-o", output, "--seed", 2)
    judged = ask("cost", output, graph_file)
    assert learned["relative_utility"] == pytest.approx(judged["trees"]["tree"]["relative_utility"])


def test_the_largest_component_alone(ask, tmp_path):
    path = tmp_path / "parts.tsv"
    path.write_text("a\tb\nb\tc\nc\ta\nx\ty\n")
    found = ask("learn", path, "--largest-component", "-o", tmp_path / "tree.hct")
    assert found["users"] == 3


def test_an_output_that_is_there_is_replaced(run, contacts, tmp_path):
    output = tmp_path / "tree.hct"
    output.write_text("old")
    assert run("learn", contacts, "-o", output).exit_code == 0
    assert HierarchicalClusterTree.load(output).n_users == 8


def test_labels_may_be_separated_by_commas_and_come_in_any_order(ask, contacts, tmp_path):
    path = tmp_path / "teams.csv"
    path.write_text('fay,"blue, dark"\nann,red\nnobody,green\n\nbob,red\n')
    found = ask("learn", contacts, "--no-noise", "--labels", path, "-o", tmp_path / "tree.hct")
    assert (found["parameters"]["n_bins"], found["users_without_label"]) == (2, 5)


def test_the_graph_of_the_fixture_is_the_two_cliques(contacts):
    graph = read_graph(contacts)
    assert isinstance(graph, ContactGraph)
    assert graph.degrees.tolist() == [3] * 8
