from __future__ import annotations

import numpy as np
import pytest

from privact.cli.trees import learn_streamed
from privact.learn.limits import Limits
from privact.simulate.known_graphs import make_nested_cliques
from privact.tree.hct import HierarchicalClusterTree


@pytest.fixture
def edge_list(tmp_path):
    """A network of 60 users."""
    path = tmp_path / "contacts.tsv"
    graph = make_nested_cliques((3, 4), 5).graph
    path.write_text(
        "".join(f"user{one}\tuser{other}\n" for one, other in graph.edges().tolist()) + "user0\tuser1\nuser3\tuser3\n"
    )
    return path


def test_without_noise_it_is_the_tree_of_the_whole_graph(ask, edge_list, tmp_path):
    streamed = ask("learn", edge_list, "--stream", "--no-noise", "--seed", 4, "-o", tmp_path / "streamed.hct")
    whole = ask("learn", edge_list, "--no-noise", "--seed", 4, "-o", tmp_path / "whole.hct")
    assert HierarchicalClusterTree.load(tmp_path / "streamed.hct") == HierarchicalClusterTree.load(tmp_path / "whole.hct")
    same = ("users", "contacts", "dropped_duplicates", "dropped_self_loops", "parameters", "privacy")
    assert [streamed[key] for key in same] == [whole[key] for key in same]


def test_the_seed_decides_the_noise_too_and_nothing_is_left(ask, edge_list, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    files = [tmp_path / name for name in ("one.hct", "same.hct", "other.hct")]
    for path, seed in zip(files, (4, 4, 5), strict=True):
        found = ask("learn", edge_list, "--stream", "--epsilon", 1, "--seed", seed, "--scratch", scratch, "-o", path)
    assert found["parameters"]["epsilon"] == 1.0
    assert "The noise was simulated here" in found["privacy"]
    one, same, other = (path.read_bytes() for path in files)
    assert one == same
    assert one != other
    assert list(scratch.iterdir()) == []


def test_noise_is_added_to_every_count():
    vectors = np.zeros((4_000, 3), np.int32)
    learn_streamed._add_noise(vectors, 0.5, np.random.default_rng(0), Limits(noisy=7))
    ratio = np.exp(-0.5)
    variance = 2 * ratio / (1 - ratio) ** 2  # of the discrete Laplace law; its kurtosis is below 7
    assert abs(vectors.mean()) < 5 * np.sqrt(variance / vectors.size)
    assert abs(vectors.var() / variance - 1) < 5 * np.sqrt(6 / vectors.size)


@pytest.mark.parametrize("options", [["--profile", "shares"], ["--labels", "labels.tsv"], ["--temperature", "1"]])
@pytest.mark.parametrize("profile", [[], ["--profile", "shares+own", "--labels", "labels.tsv"]])
def test_a_streamed_graph_takes_every_profile_labels_and_temperatures(ask, edge_list, tmp_path, monkeypatch, options, profile):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.tsv").write_text("".join(f"user{i}\tlabel{i % 3}\n" for i in range(55)))
    files = tmp_path / "streamed.hct", tmp_path / "whole.hct"
    found = []
    for path, stream in zip(files, ("--stream", "--no-stream"), strict=True):
        found.append(ask("learn", edge_list, stream, "--no-noise", "--seed", 4, *options, *profile, "-o", path))
    trees = [HierarchicalClusterTree.load(path) for path in files]
    assert trees[0] == trees[1]
    assert found[0]["parameters"] == found[1]["parameters"]
    assert found[0]["users_without_label"] == found[1]["users_without_label"]


def test_only_large_edge_lists_are_streamed_unless_a_person_says_so(tmp_path):
    small, packed, graph = (tmp_path / name for name in ("a.tsv", "a.tsv.gz", "a.mtx"))
    small.write_bytes(b"")
    for path in (packed, graph):
        with path.open("wb") as file:
            file.truncate(2**25 + 1)  # an eighth of what is streamed: text packs well
    assert [learn_streamed.choose_streaming(path, None) for path in (small, packed, graph, tmp_path)] == [
        False,
        True,
        False,
        False,
    ]
    assert learn_streamed.choose_streaming(small, True)
    assert not learn_streamed.choose_streaming(packed, False)


def test_streaming_has_no_whole_graph(run, edge_list, tmp_path):
    refused = run("learn", edge_list, "--stream", "--largest-component", "-o", tmp_path / "tree.hct")
    assert "--stream and --largest-component exclude each other" in refused.stderr
