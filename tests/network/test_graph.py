from __future__ import annotations

from dataclasses import FrozenInstanceError

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

from privact.errors import GraphError, UnknownUserError
from privact.network.graph import ContactGraph


@pytest.fixture
def square() -> ContactGraph:
    """a - b - c - d - a, and e alone."""
    return ContactGraph.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")], users="abcde")


def test_arrays_are_what_they_say(square: ContactGraph) -> None:
    assert square.indptr.tolist() == [0, 2, 4, 6, 8, 8]
    assert square.indices.tolist() == [1, 3, 0, 2, 1, 3, 0, 2]
    assert (square.indptr.dtype, square.indices.dtype) == (np.int64, np.int32)
    assert square.users == ("a", "b", "c", "d", "e")
    assert square.degrees.tolist() == [2, 2, 2, 2, 0]
    assert (square.n_users, square.n_edges) == (5, 4)
    assert square.edges().tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]
    assert square.to_scipy().toarray().tolist()[0] == [0, 1, 0, 1, 0]
    assert repr(square) == "ContactGraph(n_users=5, n_edges=4)"


def test_neighbours_by_id(square: ContactGraph) -> None:
    assert square.neighbours("a") == ("b", "d")
    assert square.neighbours("e") == ()
    with pytest.raises(UnknownUserError, match="'z' is not in this graph of 5 users"):
        square.neighbours("z")


def test_an_integer_id_stays_an_integer_and_is_found_by_its_text_too() -> None:
    graph = ContactGraph.from_edges([(7, 9)])
    assert graph.neighbours(7) == graph.neighbours("7") == (9,)
    assert graph.names == ("7", "9")


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float64])
def test_users_of_an_array_of_numbers_are_its_numbers_and_no_others(kind: type) -> None:
    graph = ContactGraph.from_edges(np.array([[90, 10], [10, 40]], dtype=kind))
    assert graph.users == (10, 40, 90)
    assert all(type(user) is int for user in graph.users)
    assert graph.degrees.tolist() == [2, 1, 1]
    assert graph.neighbours(10) == (40, 90)


def test_row_numbers_are_places_in_users() -> None:
    graph = ContactGraph.from_rows(np.array([[0, 2]]), users=["a", "b", "c"])
    assert graph.neighbours("a") == ("c",)
    with pytest.raises(GraphError, match="row number 5 is outside 0 to 2: use from_edges"):
        ContactGraph.from_rows(np.array([[0, 5]]), users="abc")
    with pytest.raises(GraphError, match=r"shape \(1, 3\)"):
        ContactGraph.from_rows(np.array([[0, 1, 2]]), users="abc")


def test_users_of_pairs_are_numbered_in_order_of_appearance() -> None:
    assert ContactGraph.from_edges([(5, "x"), ((1, 2), 5)]).users == (5, "x", "(1, 2)")
    assert ContactGraph.from_edges(np.array([["b", "a"], ["a", "c"]])).users == ("b", "a", "c")
    assert ContactGraph.from_edges(pair for pair in ["ab", "bc"]).users == ("a", "b", "c")


def test_what_is_dropped_is_counted() -> None:
    # a-b three times (once the other way round), c-c, b-c once
    graph = ContactGraph.from_edges([("a", "b"), ("b", "a"), ("c", "c"), ("a", "b"), ("b", "c")])
    assert (graph.n_edges, graph.dropped_duplicates, graph.dropped_self_loops) == (2, 2, 1)


def test_equal_by_content_and_frozen(square: ContactGraph) -> None:
    same = ContactGraph.from_edges([("d", "a"), ("c", "d"), ("b", "c"), ("a", "b"), ("b", "a")], users="abcde")
    assert same == square
    assert same != ContactGraph.from_edges([("a", "b")], users="abcde")
    assert same != ContactGraph.from_rows(same.edges(), users="vwxyz")
    assert same != "a graph"
    with pytest.raises(TypeError):
        hash(square)
    with pytest.raises(FrozenInstanceError):
        square.users = ()  # type: ignore[misc]
    for array in (square.indptr, square.indices, square.degrees):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9


def test_largest_component_keeps_the_order_of_users() -> None:
    graph = ContactGraph.from_edges([("x", "y"), ("c", "a"), ("b", "c"), ("a", "a")], users=["x", "c", "y", "b", "a"])
    part = graph.largest_component()
    assert part.users == ("c", "b", "a")
    assert part.neighbours("c") == ("b", "a")
    assert part.dropped_self_loops == 1
    assert part.largest_component() is part


def test_of_equally_large_components_the_earliest_user_decides() -> None:
    graph = ContactGraph.from_edges([("c", "d"), ("b", "a")], users=["a", "c", "d", "b"])
    assert graph.largest_component().users == ("a", "b")


def test_networkx_keeps_nodes_without_contacts_and_drops_direction() -> None:
    source = networkx.MultiDiGraph([(1, 2), (2, 1), (1, 2), (3, 3)])
    source.add_node("alone")
    graph = ContactGraph.from_networkx(source)
    assert graph.users == (1, 2, 3, "alone")
    assert graph.edges().tolist() == [[0, 1]]
    assert (graph.dropped_duplicates, graph.dropped_self_loops) == (2, 1)
    karate = networkx.karate_club_graph()
    assert ContactGraph.from_networkx(karate).to_scipy().toarray().tolist() == (
        networkx.to_numpy_array(karate, weight=None).astype(int).tolist()
    )


def test_scipy_takes_either_triangle_or_both() -> None:
    upper = csr_array(np.triu(np.ones((3, 3)), 1))
    for matrix in (upper, upper.T, upper + upper.T, coo_array(upper), (upper + upper.T).tocsc()):
        graph = ContactGraph.from_scipy(matrix)
        assert graph.edges().tolist() == [[0, 1], [0, 2], [1, 2]]
        assert graph.dropped_duplicates == 0


def test_scipy_ignores_stored_zeros_and_counts_the_diagonal() -> None:
    matrix = coo_array(([0.0, 2.5, 1.0, 1.0, -1.0], ([0, 0, 1, 2, 2], [1, 2, 1, 3, 3])), shape=(5, 5))
    graph = ContactGraph.from_scipy(matrix, users="abcde")
    assert graph.users == tuple("abcde")
    assert graph.edges().tolist() == [[0, 2]]  # 2-3 is said as 1 and as -1, which add up to nothing
    assert graph.dropped_self_loops == 1


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=40))
def test_from_edges_agrees_with_sets(pairs: list[tuple[int, int]]) -> None:
    graph = ContactGraph.from_edges(np.array(pairs), users=range(8))
    expected = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    loops = sum(one == other for one, other in pairs)
    assert list(map(tuple, graph.edges().tolist())) == sorted(expected)
    assert graph.dropped_self_loops == loops
    assert graph.dropped_duplicates == len(pairs) - loops - len(expected)
    assert graph.to_scipy().toarray().sum() == 2 * graph.n_edges
    assert ContactGraph.from_edges(graph.edges(), users=range(8)) == graph
    assert ContactGraph.from_edges(pairs, users=range(8)) == graph
    assert ContactGraph.from_scipy(graph.to_scipy()) == graph


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=15))
def test_largest_component_agrees_with_networkx(pairs: list[tuple[int, int]]) -> None:
    graph = ContactGraph.from_edges(pairs)
    part = graph.largest_component()
    components = [set(found) for found in networkx.connected_components(networkx.Graph(pairs))]
    assert set(part.users) in components
    assert part.n_users == max(map(len, components))
    assert part.users == tuple(user for user in graph.users if user in set(part.users))
    assert all(set(part.neighbours(user)) == set(graph.neighbours(user)) for user in part.users)


@pytest.mark.parametrize(
    ("edges", "users", "message"),
    [
        ([], None, "no users"),
        (np.empty((0, 2), dtype=int), None, "no users"),
        (np.array([0, 1]), None, r"shape \(2,\).*\(m, 2\)"),
        (np.array([[0, 1, 2]]), None, r"shape \(1, 3\)"),
        (np.array([[0, 5]]), "abc", "names user 0, who is not among the 3 users given: add them to users, or use from_rows"),
        (np.array([[0.5, 1.0]]), None, "0.5 is no user id"),
        (np.array([[0.0, np.nan]]), None, "NaN or inf is no user id"),
        (np.array([[True, False]]), None, "contacts of type bool"),
        ([("a", None)], None, "None is no user id"),
        ([("a", "b", "c")], None, "a contact of 3 users"),
        ([("a", ["b"])], None, "hashable"),
        ([1, 2], None, "pairs of hashable ids"),
        ([("a", "z")], "abc", "'z', who is not among the 3 users"),
        ([(1, "1")], None, "mix the number 1 with the text '1'"),
        ([("a", "b")], "aab", "'a' is named twice"),
    ],
)
def test_what_is_not_a_graph_is_refused_in_one_line(edges: object, users: str | None, message: str) -> None:
    with pytest.raises(GraphError, match=message) as caught:
        ContactGraph.from_edges(edges, users=users)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_matrices_that_are_not_graphs_are_refused() -> None:
    with pytest.raises(GraphError, match=r"shape \(2, 3\)"):
        ContactGraph.from_scipy(csr_array((2, 3)))
    with pytest.raises(GraphError, match="2 users for a matrix of 3 rows"):
        ContactGraph.from_scipy(csr_array((3, 3)), users="ab")
    with pytest.raises(GraphError, match="1000000000 users for 1 contacts"):
        ContactGraph.from_scipy(coo_array(([1], ([0], [1])), shape=(10**9, 10**9)))


def test_a_graph_without_contacts_still_has_users() -> None:
    graph = ContactGraph.from_scipy(csr_array((3, 3)))
    assert (graph.n_users, graph.n_edges) == (3, 0)
    assert graph.largest_component().users == (0,)
