from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from privact.errors import InputError
from privact.simulate.known_graphs import KnownGraph, NestedTree, make_cliques, make_nested_cliques, make_path


def leaves(tree: NestedTree) -> list[int]:
    return [tree] if isinstance(tree, int) else leaves(tree[0]) + leaves(tree[1])


def cost(tree: NestedTree, dissimilarity: np.ndarray) -> float:
    """Dasgupta's cost by its definition: each pair's dissimilarity times the leaves under its lowest common ancestor."""
    if isinstance(tree, int):
        return 0.0
    left, right = leaves(tree[0]), leaves(tree[1])
    across = sum(dissimilarity[x, y] for x in left for y in right)
    return across * (len(left) + len(right)) + cost(tree[0], dissimilarity) + cost(tree[1], dissimilarity)


def all_trees(members: tuple[int, ...]) -> Iterator[NestedTree]:
    """Every full binary tree over these leaves once: the first leaf is always on the left."""
    if len(members) == 1:
        yield members[0]
        return
    first, others = members[0], members[1:]
    for size in range(len(others)):
        for companions in combinations(others, size):
            right = tuple(other for other in others if other not in companions)
            for left_tree in all_trees((first, *companions)):
                for right_tree in all_trees(right):
                    yield (left_tree, right_tree)


def greatest_cost(dissimilarity: np.ndarray) -> float:
    """The cost of the best tree, over all ways to split all sets of leaves (for sizes whose trees are too many to list)."""
    n = len(dissimilarity)
    inside = np.zeros(1 << n)
    for members in range(1, 1 << n):
        top = members.bit_length() - 1
        rest = members ^ (1 << top)
        inside[members] = inside[rest] + sum(dissimilarity[top, other] for other in range(top) if rest >> other & 1)
    best = np.zeros(1 << n)
    for members in range(1, 1 << n):
        part = (members - 1) & members
        while part > members ^ part:
            other = members ^ part
            across = inside[members] - inside[part] - inside[other]
            best[members] = max(best[members], members.bit_count() * across + best[part] + best[other])
            part = (part - 1) & members
    return float(best[-1])


def joins_least_first(known: KnownGraph) -> bool:
    """Whether every triple of leaves is joined at a pair of least dissimilarity first: then no tree is better."""
    n = known.graph.n_users
    together = np.zeros((n, n))
    stack = [known.tree]
    while stack:
        tree = stack.pop()
        if not isinstance(tree, int):
            left, right = leaves(tree[0]), leaves(tree[1])
            together[np.ix_(left, right)] = together[np.ix_(right, left)] = len(left) + len(right)
            stack += tree
    pairs = (((x, y), (x, z), (y, z)) for x, y, z in combinations(range(n), 3))
    return all(
        known.dissimilarity[min(three, key=lambda pair: together[pair])] == min(known.dissimilarity[pair] for pair in three)
        for three in pairs
    )


SMALL = {
    "one clique": make_cliques([4]),
    "two cliques": make_cliques([3, 3]),
    "unequal cliques": make_cliques([4, 2]),
    "three cliques": make_cliques([2, 3, 2]),
    "two linked cliques": make_nested_cliques((2,), 3),
    "three pairs": make_nested_cliques((3,), 2),
    "one split": make_nested_cliques((1, 2), 3, (0, 1)),
    **{f"path of {n}": make_path(n) for n in range(2, 8)},
}
LARGER = {
    "four cliques": make_cliques([3, 5, 2, 4]),
    "cliques of cliques": make_nested_cliques((2, 2), 3, (0, 1)),
    "uneven nesting": make_nested_cliques((2, 3), 4),
    "three levels": make_nested_cliques((2, 2, 2), 5, (0, 1, 3)),
}


def test_the_list_of_trees_is_complete() -> None:
    # (2n - 3)!! trees over n leaves
    assert [sum(1 for _ in all_trees(tuple(range(n)))) for n in range(2, 8)] == [1, 3, 15, 105, 945, 10395]


@pytest.mark.parametrize("known", SMALL.values(), ids=SMALL.keys())
def test_no_tree_is_better(known: KnownGraph) -> None:
    everyone = tuple(range(known.graph.n_users))
    assert sorted(leaves(known.tree)) == list(everyone)
    best = max(cost(tree, known.dissimilarity) for tree in all_trees(everyone))
    assert cost(known.tree, known.dissimilarity) == best == greatest_cost(known.dissimilarity)


@pytest.mark.parametrize("known", LARGER.values(), ids=LARGER.keys())
def test_every_triple_of_a_larger_graph_is_joined_at_its_least_dissimilar_pair(known: KnownGraph) -> None:
    assert sorted(leaves(known.tree)) == list(range(known.graph.n_users))
    assert joins_least_first(known)


@pytest.mark.parametrize("known", [make_path(10), make_cliques([2, 5, 3]), make_nested_cliques((2, 2), 2, (0, 1))])
def test_no_split_of_any_set_is_better(known: KnownGraph) -> None:
    assert cost(known.tree, known.dissimilarity) == greatest_cost(known.dissimilarity)


def test_another_tree_is_worse_where_the_graph_has_structure() -> None:
    known = make_nested_cliques((2,), 3)
    assert cost(((0, 3), ((1, 4), (2, 5))), known.dissimilarity) < cost(known.tree, known.dissimilarity)
    assert cost((((0, 1), 2), 3), make_path(4).dissimilarity) < cost(make_path(4).tree, make_path(4).dissimilarity)


@pytest.mark.parametrize("known", [*SMALL.values(), *LARGER.values()])
def test_dissimilarity_is_that_of_the_degree_vectors(known: KnownGraph) -> None:
    assert (known.dissimilarity == known.dissimilarity.T).all()
    assert (np.diag(known.dissimilarity) == 0).all()
    if known.bins is None:
        return
    vectors = [[0] * (int(known.bins.max()) + 1) for _ in known.graph.users]
    for one, other in known.graph.edges().tolist():
        vectors[one][known.bins[other]] += 1
        vectors[other][known.bins[one]] += 1
    for x, y in combinations(range(known.graph.n_users), 2):
        assert known.dissimilarity[x, y] == max(1, sum(abs(a - b) for a, b in zip(vectors[x], vectors[y], strict=True)))


def test_dissimilarities_stated_in_the_docstrings() -> None:
    known = make_cliques([3, 5])
    assert known.dissimilarity[0, 1] == known.dissimilarity[3, 7] == 2
    assert known.dissimilarity[0, 3] == 3 + 5 - 2
    nested = make_nested_cliques((2, 2), 3, (0, 1)).dissimilarity
    # vectors of the four cliques: (2 1 0 0), (1 2 0 0), (0 0 2 1), (0 0 1 2)
    assert (nested[0, 1], nested[0, 3], nested[0, 6], nested[0, 9]) == (1, 2, 6, 6)


def test_path_is_cut_in_half() -> None:
    assert make_path(5).tree == ((0, 1), (2, (3, 4)))
    for n in (2, 3, 8, 13):
        known = make_path(n)
        rounds = (n - 1).bit_length()
        least = n * rounds + n - 2**rounds  # the least sum over contacts of leaves under their common ancestor
        assert cost(known.tree, known.dissimilarity) == 2 * (n**3 - n) / 3 - least


def test_nested_cliques_link_everyone_alike() -> None:
    known = make_nested_cliques((2, 2), 5, (1, 3))
    assert set(known.graph.degrees.tolist()) == {4 + 3 + 1 + 1}
    assert make_nested_cliques((2, 2), 5).graph.degrees.tolist() == [4 + 2 + 1 + 1] * 20


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_cliques([]), "at least one clique"),
        (lambda: make_cliques([3, 1]), r"\(3, 1\).*at least 2"),
        (lambda: make_nested_cliques((), 3), "at least one level"),
        (lambda: make_nested_cliques((2, 0), 3), r"branching is \(2, 0\)"),
        (lambda: make_nested_cliques((2,), 1), "size is 1"),
        (lambda: make_nested_cliques((2, 2), 3, (1, 0)), "ascending"),
        (lambda: make_nested_cliques((2, 2), 3, (1,)), "give 2 ascending"),
        (lambda: make_nested_cliques((2,), 3, (3,)), "from 0 to 2"),
        (lambda: make_path(1), "n_users is 1"),
    ],
)
def test_impossible_sizes_are_refused(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]
