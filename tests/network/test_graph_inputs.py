from __future__ import annotations

import io
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from privact.errors import GraphError
from privact.network.graph import ContactGraph
from privact.network.graph_inputs import as_graph

PAIRS = [(10, 40), (40, 90), (90, 10), (90, 70)]
ADJACENCY = np.array([[0, 1, 0, 1], [1, 0, 0, 1], [0, 0, 0, 1], [1, 1, 1, 0]])
FRAMES = [pd.DataFrame, pl.DataFrame, pa.table]


def contacts_of(graph: ContactGraph) -> set[frozenset[object]]:
    return {frozenset((graph.users[one], graph.users[other])) for one, other in graph.edges().tolist()}


@pytest.fixture(autouse=True)
def _silent() -> object:
    """What is clear is read without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize(
    "form",
    [
        PAIRS,
        iter(PAIRS),
        np.array(PAIRS),
        np.array(PAIRS, dtype=float),
        np.array([(*pair, 1) for pair in PAIRS]),
        [(*pair, 1.0) for pair in PAIRS],
        [(*pair, {"weight": 1}) for pair in PAIRS],
        nx.Graph(PAIRS),
        nx.to_dict_of_lists(nx.Graph(PAIRS)),
        nx.to_dict_of_dicts(nx.Graph(PAIRS)),
        pl.LazyFrame({"any": [one for one, _ in PAIRS], "name": [other for _, other in PAIRS]}),
        ContactGraph.from_edges(PAIRS),
        *[make({"any": [one for one, _ in PAIRS], "name": [other for _, other in PAIRS]}) for make in FRAMES],
        pd.DataFrame({"since": list("abcd"), "Target": [b for _, b in PAIRS], "Source": [a for a, _ in PAIRS]}),
        pd.DataFrame(ADJACENCY, index=[10, 40, 70, 90], columns=[10, 40, 70, 90]),
    ],
)  # fmt: skip
def test_every_form_gives_the_same_contacts_of_the_same_ids(form: object) -> None:
    assert contacts_of(as_graph(form)) == {frozenset(pair) for pair in PAIRS}


@pytest.mark.parametrize(
    "form", [ADJACENCY, ADJACENCY.astype(bool), ADJACENCY.tolist(), csr_array(ADJACENCY), np.triu(ADJACENCY)]
)
def test_users_of_a_matrix_are_its_rows(form: object) -> None:
    graph = as_graph(form)
    assert graph.users == (0, 1, 2, 3)
    assert graph.n_edges == 4


def test_three_users_in_a_square_are_a_matrix_where_it_is_symmetric() -> None:
    assert as_graph(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])).n_edges == 2
    assert as_graph(np.array([[5, 6, 1], [6, 7, 1], [7, 8, 1]])).users == (5, 6, 7, 8)


@pytest.mark.parametrize("make", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_edges_of_networkx_are_pairs_of_ids(make: type) -> None:
    assert as_graph(make([("ann", "bob"), ("bob", "eve")]).edges).users == ("ann", "bob", "eve")


@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_is_read(tmp_path: Path, kind: type) -> None:
    (tmp_path / "contacts.csv").write_text("ann,bob\nbob,eve\n")
    assert as_graph(kind(tmp_path / "contacts.csv")).users == ("ann", "bob", "eve")


def test_text_in_frames_and_missing_ids() -> None:
    for make in FRAMES:
        assert as_graph(make({"a": ["ann", "bob"], "b": ["bob", "eve"]})).users == ("ann", "bob", "eve")
    with pytest.raises(GraphError, match="no user id"):
        as_graph(pd.DataFrame({"a": ["ann", None], "b": ["bob", "eve"]}))
    with pytest.raises(GraphError, match="a data frame of 1 columns"):
        as_graph(pd.DataFrame({"a": ["ann"]}))


WEIGHTED = nx.Graph()
WEIGHTED.add_edge("ann", "bob", weight=2.5)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (2.5 * ADJACENCY, r"weights \(such as 2.5\) are ignored"),
        (csr_array(3 * ADJACENCY), r"weights \(such as 3\) are ignored"),
        (np.array([(*pair, 7) for pair in PAIRS]), r"weights \(such as 7\) are ignored"),
        ([("ann", "bob", 0.5)], r"weights \(such as 0.5\) are ignored"),
        (pd.DataFrame({"source": [1], "target": [2], "weight": [4.0], "when": ["now"]}), r"weights \(such as 4\) are ignored"),
        (nx.to_dict_of_dicts(WEIGHTED), r"weights \(such as 2.5\) are ignored"),
        (WEIGHTED, r"weights \(such as 2.5\) are ignored"),
        (
            pd.DataFrame({"strength": [1.0], "wer": ["ann"], "wen": ["bob"]}),
            "columns 'strength' and 'wer' are taken for contacts, as the first two; not read: 'wen'",
        ),
        (nx.DiGraph([(1, 2)]), "the graph is directed: direction is dropped"),
        (np.array([[0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1], [0, 0, 0, 0]]), "the matrix is not symmetric: direction is dropped"),
    ],
)
def test_what_is_not_used_is_said(form: object, message: str) -> None:
    with pytest.warns(UserWarning, match=message):
        as_graph(form)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (np.where(ADJACENCY, np.nan, 0), "the weight NaN or inf"),
        (-ADJACENCY, "the weight -1;"),
        ([("ann", "bob", float("inf"))], "the weight NaN or inf"),
        ([("ann", "bob", "eve")], "'eve' stands where a weight belongs"),
        (1j * ADJACENCY, "Complex data not supported"),
        (np.zeros(5), r"an array of shape \(5,\)"),
        (np.zeros((5, 0)), "0 feature"),
        (np.zeros((5, 4)), r"an array of shape \(5, 4\)"),
        (np.zeros((2, 5)), r"an array of shape \(2, 5\): give its transpose"),
        (np.array([[0, np.nan, 1], [np.nan, 0, 1], [1, 1, 0]]), "the weight NaN or inf"),
        ([1, 2, 3], "a list of int"),
        ({"ann": "bob"}, "user 'ann' has the contacts 'bob': a dict must give a list"),
        (["ab", "bc"], "the text 'ab' is no contact"),
        ([(b"ann", b"bob")], "b'ann' is no user id: decode it"),
        (io.StringIO("ann bob"), "cannot read a graph from an open file"),
        (7, "cannot read a graph from int"),
        ("no such file.csv", "cannot be read"),
        ("ann bob\nbob eve", "a text of several lines"),
    ],
)
def test_what_is_no_graph_is_refused_in_one_line(form: object, message: str) -> None:
    with pytest.raises(GraphError, match=message) as caught:
        as_graph(form)
    assert "\n" not in str(caught.value)
