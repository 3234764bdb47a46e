from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import fastcluster
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform

from privact.errors import InputError
from privact.learn.evidence.count_posterior import CountPosterior
from privact.learn.limits import Limits
from privact.learn.search.learn_tree import learn_tree
from privact.learn.search.searches import SEARCHES
from privact.simulate.known_graphs import make_cliques, make_nested_cliques, make_path
from privact.tree.cost import dasgupta_cost, find_violations
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree

FAMILIES = {
    "poisson": lambda n, rng: rng.poisson(np.outer(rng.pareto(1.5, n) * 5, np.full(6, 1 / 6))),
    "heavy tailed": lambda n, rng: np.floor(rng.pareto(1.1, (n, 7)) * 5).astype(int),
    "uniform": lambda n, rng: rng.integers(0, 1000, (n, 7)),
    "fractions": lambda n, rng: rng.normal(size=(n, 5)),
    "many bins": lambda n, rng: rng.poisson(np.outer(rng.pareto(1.5, n) * 8, np.full(24, 1 / 24))),
    "blobs": lambda n, rng: (20 * rng.normal(size=(8, 4)))[rng.integers(0, 8, n)] + rng.normal(size=(n, 4)),
    "one bin": lambda n, rng: np.floor(rng.pareto(0.8, (n, 1)) * 50),
    "line": lambda n, rng: np.arange(n)[:, None],
    "huge counts": lambda n, rng: rng.integers(0, 10**6, (n, 5)),
    "shares": lambda n, rng: rng.dirichlet(np.full(4, 0.5), n).round(2),
}
TIED = {
    "coin flips": lambda n, rng: rng.integers(0, 2, (n, int(rng.integers(1, 9)))),
    "up to two": lambda n, rng: rng.integers(0, 3, (n, int(rng.integers(1, 4)))),
    "one of twelve": lambda n, rng: np.eye(12, dtype=int)[rng.integers(0, 12, n)] * rng.integers(1, 4, (n, 1)),
}
TIED_MATRICES = {
    "graph": lambda n, rng: 1.0 + (rng.random((n, n)) < 0.2),
    "zeros and ones": lambda n, rng: 1.0 * (rng.random((n, n)) < 0.3),
    "small numbers": lambda n, rng: rng.integers(0, 5, (n, n)).astype(float),
}


def symmetric(square):
    upper = np.triu(square, 1)
    return upper + upper.T


def assert_no_worse_than_average_linkage(vectors, tree, share=1e-9):
    distances = pdist(np.asarray(vectors, dtype=float), "cityblock")
    found = dasgupta_cost(tree, vectors, clip=False)
    for by in (linkage, fastcluster.linkage):
        exact = dasgupta_cost(HierarchicalClusterTree.from_linkage(by(distances.copy(), "average")), vectors, clip=False)
        assert found >= exact * (1 - share), by.__module__


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n", [5, 12, 40, 150, 600])
def test_the_unrestricted_search_is_never_worse_than_average_linkage(family, n):
    for seed in range(10 if n < 100 else 1):
        vectors = FAMILIES[family](n, np.random.default_rng((seed, n)))
        assert_no_worse_than_average_linkage(vectors, learn_tree(vectors, balance=0))


@pytest.mark.parametrize("family", TIED)
def test_nor_where_many_dissimilarities_are_equal(family):
    """Average linkage is then many trees, by which of equal pairs is joined first; SciPy and fastcluster take different ones."""
    for n in (8, 25, 60):
        for seed in range(40):
            vectors = TIED[family](n, np.random.default_rng((seed, n)))
            assert_no_worse_than_average_linkage(vectors, learn_tree(vectors, balance=0))


@pytest.mark.parametrize("kind", ["dissimilarity", "similarity"])
@pytest.mark.parametrize("family", TIED_MATRICES)
def test_nor_for_matrices(family, kind):
    for n in (6, 10, 40):
        for seed in range(30):
            square = symmetric(TIED_MATRICES[family](n, np.random.default_rng((seed, n))))
            found = dasgupta_cost(learn_tree(**{kind: square}, balance=0), **{kind: square})
            distances = squareform(square) if kind == "dissimilarity" else square.max() - squareform(square)
            merges = fastcluster.linkage(distances, "average")
            exact = dasgupta_cost(HierarchicalClusterTree.from_linkage(merges), **{kind: square})
            sign = 1 if kind == "dissimilarity" else -1
            assert sign * found >= sign * exact - 1e-9 * exact, (n, seed)


def test_more_thresholds_than_are_kept_cost_next_to_nothing():
    """Clusters within clusters, ten levels deep, told apart by fifty bins of 1,024 counts: average linkage is best here."""
    rng = np.random.default_rng(0)
    users = np.arange(1024)
    vectors = np.zeros((1024, 50))
    for level in range(10):
        sides = rng.integers(0, 2, (2**level, 50))[users >> (10 - level)]
        vectors += ((users >> (9 - level) & 1)[:, None] ^ sides) * 2.5**-level
    vectors = np.round(vectors * 2**20)
    assert_no_worse_than_average_linkage(vectors, learn_tree(vectors, balance=0), share=1e-5)


def test_the_unrestricted_search_beats_average_linkage_on_posteriors():
    rng = np.random.default_rng(1)
    truth = rng.poisson(np.outer(rng.pareto(1.5, 500) * 8 + 2, np.full(6, 1 / 6)))
    reports = truth + rng.geometric(0.4, truth.shape) - rng.geometric(0.4, truth.shape)
    embedding = CountPosterior.fit(reports, 0.5, equal_bins=True).embed(reports)
    best, start = (
        dasgupta_cost(learn_tree(embedding, search=search, balance=0), embedding) for search in ("linkage+gentree", "linkage")
    )
    assert best > start


@pytest.mark.slow
@pytest.mark.parametrize("family", ["poisson", "heavy tailed"])
def test_past_five_thousand_users_it_stays_within_half_a_percent(family):
    vectors = FAMILIES[family](6_000, np.random.default_rng(2))
    assert_no_worse_than_average_linkage(vectors, learn_tree(vectors, balance=0, random_state=0), share=0.005)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("n", [2, 3, 4, 30])
def test_every_search_gives_a_tree_of_all_users(search, n):
    vectors = np.random.default_rng(n).integers(0, 9, (n, 2))
    square = squareform(np.random.default_rng(n).random(n * (n - 1) // 2))
    for inputs in ({"embedding": vectors}, {"dissimilarity": square}, {"similarity": square}):
        tree = learn_tree(**inputs, search=search, random_state=0)
        assert sorted(tree.order.tolist()) == list(range(n))
        assert tree.size[-1] == n


@pytest.mark.parametrize(
    "known",
    [
        make_cliques([4, 5]),
        make_cliques([2, 2, 2]),
        make_cliques([3, 5, 8, 13]),
        make_nested_cliques(),
        make_nested_cliques((3, 2), size=6),
        make_nested_cliques((2, 2, 2), size=9),
        make_path(5),
        make_path(8),
        make_path(12),
    ],
    ids=repr,
)
def test_graphs_whose_best_tree_is_known(known):
    best = dasgupta_cost(HierarchicalClusterTree.from_nested(known.tree), dissimilarity=known.dissimilarity)
    tree = learn_tree(dissimilarity=known.dissimilarity, balance=0)
    assert dasgupta_cost(tree, dissimilarity=known.dissimilarity) == pytest.approx(best, rel=1e-12)


def test_a_longer_path_needs_heat():
    known = make_path(16)
    best = dasgupta_cost(HierarchicalClusterTree.from_nested(known.tree), dissimilarity=known.dissimilarity)
    default = learn_tree(dissimilarity=known.dissimilarity)
    assert dasgupta_cost(default, dissimilarity=known.dissimilarity) >= 0.999 * best
    heated = (
        learn_tree(dissimilarity=known.dissimilarity, temperature=(256.0, 0.01), sweeps=1_000, random_state=i) for i in range(6)
    )
    assert max(dasgupta_cost(tree, dissimilarity=known.dissimilarity) for tree in heated) == pytest.approx(best, rel=1e-12)


def test_cliques_from_their_vectors():
    known = make_cliques([6, 9, 4])
    vectors = known.graph.to_scipy().toarray()  # one bin a user
    labels = learn_tree(vectors).cut(3)
    assert len(set(labels[:6])) == len(set(labels[6:15])) == len(set(labels[15:])) == 1


def all_nested(users):
    """Every full binary tree over some users."""
    if len(users) == 1:
        return [users[0]]
    first, *others = users
    found = []
    for mask in range(2 ** len(others) - 1):
        with_first = [first, *(u for i, u in enumerate(others) if mask >> i & 1)]
        rest = [u for u in users if u not in with_first]
        found += [(a, b) for a in all_nested(with_first) for b in all_nested(rest)]
    return found


@pytest.mark.parametrize("n", [3, 4, 5, 6])
@pytest.mark.parametrize("kind", ["dissimilarity", "similarity"])
def test_against_every_tree_there_is(n, kind):
    """Dissimilarity is maximised, similarity minimised; one of four heated chains finds the best of up to 945 trees."""
    trees = [HierarchicalClusterTree.from_nested(nested) for nested in all_nested(list(range(n)))]
    better = max if kind == "dissimilarity" else min
    for seed in range(5):
        square = symmetric(np.random.default_rng((n, seed)).integers(0, 30, (n, n)).astype(float))
        costs = [dasgupta_cost(tree, **{kind: square}) for tree in trees]
        heated = (learn_tree(**{kind: square}, search="gentree", temperature=(300.0, 0.1), random_state=i) for i in range(4))
        assert better(dasgupta_cost(tree, **{kind: square}) for tree in heated) == pytest.approx(better(costs))
        default = dasgupta_cost(learn_tree(**{kind: square}), **{kind: square})
        middle = float(np.median(costs))
        assert abs(default - better(costs)) <= 0.2 * abs(middle - better(costs))


def test_a_similarity_is_a_dissimilarity_upside_down():
    square = symmetric(np.random.default_rng(3).random((40, 40)))
    far = 1.0 - square
    np.fill_diagonal(far, 0.0)
    ours, theirs = (
        dasgupta_cost(learn_tree(**inputs), similarity=square) for inputs in ({"similarity": square}, {"dissimilarity": far})
    )
    assert ours == pytest.approx(theirs, rel=0.01)
    assert ours < dasgupta_cost(learn_tree(dissimilarity=square), similarity=square)


def test_the_trace_starts_with_the_start_and_ends_with_the_tree():
    vectors = np.random.default_rng(4).poisson(5.0, (80, 3))
    for search in SEARCHES:
        tree, trace = learn_tree(vectors, search=search, random_state=0, return_trace=True)
        assert trace[-1] == pytest.approx(dasgupta_cost(tree, vectors, clip=False), rel=1e-12)
    start = dasgupta_cost(learn_tree(vectors, search="linkage"), vectors, clip=False)
    _, trace = learn_tree(vectors, balance=0, return_trace=True)
    assert trace[0] == pytest.approx(start, rel=1e-12)
    assert all(later >= earlier for earlier, later in pairwise(trace))
    untouched, trace = learn_tree(vectors, search="gentree", sweeps=0, random_state=5, return_trace=True)
    assert trace[0] == trace[-1] == pytest.approx(dasgupta_cost(untouched, vectors, clip=False), rel=1e-12)


def test_the_trace_of_a_cold_chain_only_rises():
    vectors = np.random.default_rng(6).poisson(5.0, (80, 3))
    _, trace = learn_tree(vectors, search="gentree", temperature=0.0, random_state=0, return_trace=True)
    assert len(trace) > 3
    assert all(later >= earlier for earlier, later in pairwise(trace))


def test_the_trace_of_a_similarity_is_its_own_cost():
    square = symmetric(np.random.default_rng(7).random((30, 30)))
    tree, trace = learn_tree(similarity=square, return_trace=True)
    assert trace[-1] == pytest.approx(dasgupta_cost(tree, similarity=square), rel=1e-9)
    assert trace[-1] <= trace[0]


def test_a_chain_too_hot_costs_nothing():
    """Heat that leads nowhere is taken back: the default start is kept, and polished."""
    vectors = np.random.default_rng(8).poisson(5.0, (100, 3))
    tree = learn_tree(vectors, temperature=1e12, sweeps=5, random_state=0)
    assert_no_worse_than_average_linkage(vectors, tree)


def test_no_node_is_more_dissimilar_than_one_above():
    vectors = np.random.default_rng(9).random((200, 4))
    embedding = Embedding.from_counts(vectors)
    assert find_violations(learn_tree(embedding, balance=0), embedding).tolist() == []


def test_progress_is_called():
    for inputs in ({}, {"search": "gentree", "sweeps": 7}, {"temperature": (9.0, 1.0), "sweeps": 5}):
        told: list[tuple[str, int, int]] = []
        learn_tree(np.arange(40)[:, None] % 7, random_state=0, progress=lambda *what, told=told: told.append(what), **inputs)
        assert told
        assert all(isinstance(stage, str) and 0 <= done <= total for stage, done, total in told)
    assert [what for what in told if what[0] == "swapping"] == [("swapping", i, 5) for i in range(1, 6)]


@pytest.mark.parametrize("search", SEARCHES)
def test_same_seed_same_bytes(search, tmp_path):
    vectors = np.random.default_rng(10).poisson(5.0, (150, 3))
    for name, seed in (("one", 3), ("two", 3), ("three", 4), ("four", np.random.default_rng(3))):
        learn_tree(vectors, search=search, sweeps=20, random_state=seed).save(tmp_path / name)
    one = (tmp_path / "one").read_bytes()
    assert one == (tmp_path / "two").read_bytes() == (tmp_path / "four").read_bytes()
    if search == "gentree":
        assert one != (tmp_path / "three").read_bytes()


@pytest.mark.parametrize("n", [300, pytest.param(6_000, marks=pytest.mark.slow)])
def test_same_seed_same_bytes_in_another_process(tmp_path, n):
    program = f"""
import sys
import numpy as np
from privact.learn.search.learn_tree import learn_tree
rng = np.random.default_rng(0)
vectors = rng.poisson(np.outer(rng.pareto(1.5, {n}) * 8, np.full(5, 0.2)))
learn_tree(vectors, random_state=1, temperature=None if {n} > 1000 else (500.0, 1.0), sweeps=6).save(sys.argv[1])
"""
    for name in ("one", "two"):
        subprocess.run([sys.executable, "-c", program, str(tmp_path / name)], check=True)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_ids_stay_with_their_vectors():
    tree = learn_tree([[0, 9], [7, 0], [1, 9], [9, 1]], users=["ann", "bob", "cat", "dan"])
    assert list(tree.nearest("ann", 1).users) == ["cat"]
    with pytest.raises(InputError, match="3 user ids for 4 leaves"):
        learn_tree([[0, 9], [7, 0], [1, 9], [9, 1]], users=["ann", "bob", "cat"])


def test_the_index_of_a_frame_is_the_ids():
    rows = pd.DataFrame([[0, 9], [7, 0], [1, 9]], index=["ann", "bob", "cat"])
    assert list(learn_tree(rows).users) == ["ann", "bob", "cat"]
    assert list(learn_tree(rows, users=[1, 2, 3]).users) == [1, 2, 3]
    assert learn_tree(rows.reset_index(drop=True)).users is None
    far = pd.DataFrame(1 - np.eye(3), index=[7, 8, 9], columns=[7, 8, 9])
    assert list(learn_tree(dissimilarity=far).users) == [7, 8, 9]


@pytest.mark.parametrize("search", SEARCHES)
def test_users_who_all_look_the_same(search):
    tree = learn_tree(np.full((50, 3), 4), search=search, random_state=0)
    assert tree.n_users == 50
    assert dasgupta_cost(tree, np.full((50, 3), 4)) == (50**3 - 50) / 3


@pytest.mark.parametrize("n", [400, 4_000])
def test_users_who_look_the_same_do_not_make_a_deep_tree(n):
    """Any tree over them costs the same; a balanced one answers questions in a few steps instead of thousands."""
    depth = learn_tree(np.full((n, 3), 4)).depths.max()
    assert depth <= 4 * np.log2(n)


def test_huge_counts_need_no_more_memory():
    vectors = np.random.default_rng(11).integers(0, 10**6, (300, 4))
    vectors[0] = 10**9
    tree = learn_tree(vectors, balance=0)
    assert_no_worse_than_average_linkage(vectors, tree)


def test_the_callers_arrays_are_left_alone():
    vectors, square = np.random.default_rng(12).integers(0, 9, (20, 2)), symmetric(np.random.default_rng(13).random((20, 20)))
    kept = vectors.copy(), square.copy()
    learn_tree(vectors)
    learn_tree(dissimilarity=square)
    learn_tree(similarity=square)
    assert np.array_equal(vectors, kept[0])
    assert np.array_equal(square, kept[1])


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({}, "0 inputs given: give exactly one"),
        ({"embedding": [[1], [2]], "similarity": [[0, 1], [1, 0]]}, "2 inputs given"),
        ({"dissimilarity": [[0, 1], [2, 0]]}, r"dissimilarity\[0, 1\] is 1 but \[1, 0\] is 2"),
        ({"dissimilarity": [[0, -1], [-1, 0]]}, r"dissimilarity\[0, 1\] is -1, below 0"),
        ({"similarity": [[0, np.nan], [np.nan, 0]]}, r"similarity\[0, 1\] is nan"),
        ({"similarity": [[0, 1, 2], [1, 0, 2]]}, r"similarity has shape \(2, 3\)"),
        ({"dissimilarity": [[1e308, 1e308], [1e308, 1e308]]}, "dissimilarity"),
        ({"embedding": [[1.0, np.nan], [0.0, 1.0]]}, "NaN"),
        ({"embedding": [[1e308], [-1e308], [0.0]]}, "vector"),
        ({"embedding": [[1, 2]]}, "1 users"),
        ({"embedding": [1, 2, 3]}, "shape"),
        ({"embedding": nx.path_graph(3)}, "vectors are a graph: PrivaCT"),
        ({"embedding": csr_array(np.eye(3))}, "vectors are a sparse matrix"),
        ({"embedding": Embedding(np.zeros((1, 2)), np.ones(2), 1.0)}, "1 users"),
        ({"embedding": Embedding(np.full((4, 2), np.nan), np.ones(2), 1.0)}, "NaN|finite"),
        ({"embedding": [[1], [2]], "search": "best"}, "search 'best' is unknown: use one of gentree, linkage"),
        ({"embedding": [[1], [2]], "sweeps": -1}, "sweeps -1"),
        ({"embedding": [[1], [2]], "sweeps": 2.5}, "sweeps 2.5"),
        ({"embedding": [[1], [2]], "sweeps": True}, "sweeps True"),
        ({"embedding": [[1], [2]], "temperature": -3.0}, "temperature -3.0"),
        ({"embedding": [[1], [2]], "temperature": "hot"}, "temperature 'hot'"),
        ({"embedding": [[1], [2]], "random_state": -1}, "random_state -1"),
        ({"embedding": [[1], [2]], "random_state": "seed"}, "random_state 'seed'"),
    ],
)
def test_what_cannot_be_learned_from_is_refused_in_one_line(inputs, words):
    with pytest.raises(InputError, match=words) as caught:
        learn_tree(**inputs)
    assert "\n" not in str(caught.value)


def test_too_large_a_matrix_is_refused():
    with pytest.raises(InputError, match="dissimilarity has 6 users, outside 2 to 5: give vectors instead"):
        learn_tree(dissimilarity=np.ones((6, 6)), limits=Limits(matrix=5))
