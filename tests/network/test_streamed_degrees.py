from __future__ import annotations

import gzip

import numpy as np
import pytest

from privact.errors import GraphError
from privact.network import streamed_degrees as module
from privact.network.graph_files import read_graph
from privact.network.streamed_degrees import stream_degree_vectors
from privact.simulate.reports import degree_vectors


def three_bins(users):
    return np.array([len(user) % 3 - (user == "nobody") * 9 for user in users]).clip(-1), 3


def messy(seed=0, n=400):
    """Contacts named twice, both ways, and with oneself; comments, blank lines, and ids of several lengths."""
    rng = np.random.default_rng(seed)
    names = [f"{'x' * (i % 4)}user{i}" for i in range(60)] + ["nobody"]
    lines = ["# contacts", "user\tfriend"]
    for one, other in rng.integers(0, len(names), (n, 2)):
        lines.append(f"{names[one]}\t{names[other]}")
        if rng.random() < 0.05:
            lines += ["", "# a comment"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("block", [70, 333, 1 << 25])
@pytest.mark.parametrize("pile", [5, 1 << 22])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_it_counts_what_the_whole_graph_says(tmp_path, monkeypatch, block, pile, ending):
    monkeypatch.setattr(module, "BLOCK", block)
    monkeypatch.setattr(module, "PILE", pile)
    path = tmp_path / "contacts.tsv"
    path.write_bytes(messy().replace("\n", ending).encode())
    graph = read_graph(path)
    found = stream_degree_vectors(path, tmp_path, three_bins)
    assert list(found.users) == list(graph.users)
    np.testing.assert_array_equal(found.vectors, degree_vectors(graph, three_bins(graph.users)[0], 3))
    assert isinstance(found.vectors, np.memmap)
    assert (found.n_edges, found.dropped_duplicates, found.dropped_self_loops) == (
        graph.n_edges,
        graph.dropped_duplicates,
        graph.dropped_self_loops,
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["contacts.tsv", "degrees.npy"]


def test_gzipped_text(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 100)
    path = tmp_path / "contacts.tsv.gz"
    path.write_bytes(gzip.compress(messy(1).encode()))
    np.testing.assert_array_equal(
        stream_degree_vectors(path, tmp_path, three_bins).vectors,
        degree_vectors(read_graph(path), three_bins(read_graph(path).users)[0], 3),
    )


def test_a_last_line_without_an_end(tmp_path):
    path = tmp_path / "contacts.csv"
    path.write_text("a,b\nb,c")
    found = stream_degree_vectors(path, tmp_path, lambda users: (np.zeros(len(users), int), 1))
    assert dict(zip(found.users, found.vectors[:, 0].tolist(), strict=True)) == {"a": 1, "b": 2, "c": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\nc\nd,e\n" * 20, "line 2"),
        (b"", "0 users"),
        (b"# nothing\n", "0 users"),
        (b"\x1f\x8b broken", "not a sound gzip file"),
    ],
)
def test_what_is_no_edge_list_is_refused_in_one_line(tmp_path, content, message):
    path = tmp_path / "contacts.csv"
    path.write_bytes(content)
    with pytest.raises(GraphError, match=message) as caught:
        stream_degree_vectors(path, tmp_path, three_bins)
    assert "\n" not in str(caught.value)


def test_a_fault_far_down_is_told_where_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 200)
    path = tmp_path / "contacts.csv"
    path.write_text("user,friend\n" + "ab,cd\n" * 100 + "lonely\n" + "ab,cd\n" * 10)
    with pytest.raises(GraphError, match=r"one column .* \(lines counted from line \d+ of the file\)"):
        stream_degree_vectors(path, tmp_path, three_bins)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(GraphError, match="cannot be read"):
        stream_degree_vectors(tmp_path / "none.tsv", tmp_path, three_bins)
