from __future__ import annotations

import numpy as np
import pytest

from privact.errors import InputError
from privact.learn.search import _split, split
from privact.learn.search._swaps import climb, fill
from privact.learn.search.balance import compute_floors
from privact.learn.search.learn_tree import learn_tree
from privact.learn.search.search_state import state_of
from privact.learn.search.split import FIRST_OUTLOOK, OUTLOOK, RANDOM_OUTLOOK, TWO_MEANS, choose_outlooks, split_users
from privact.tree.embedding import Embedding
from privact.tree.hct import HierarchicalClusterTree


def heavy_tailed(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(np.outer(6.0 * rng.pareto(1.6, n) + 1.0, np.full(5, 0.2)))


def broken(tree, balance, n_users=None):
    """How many clusters of a tree split below the floor."""
    n = tree.n_users
    floor = compute_floors(n, n_users or n, balance)
    return int((np.minimum(tree.size[tree.left], tree.size[tree.right]) < floor[tree.size[n:]]).sum())


def pairs_of(embedding):
    """All dissimilarities, so much less that the two most certain users would not differ from a copy of themselves."""
    weighted = embedding.points * embedding.weights
    products = weighted @ embedding.points.T
    return products.diagonal().max() - products


@pytest.mark.parametrize("outlook", [RANDOM_OUTLOOK, OUTLOOK, TWO_MEANS])
@pytest.mark.parametrize("least", [1, 5, 20])
def test_the_best_cut_is_that_of_the_definition(outlook, least):
    embedding = Embedding.from_counts(heavy_tailed(41))
    users = np.random.default_rng(1).permutation(41)
    points = embedding.points.astype(np.float64) * np.sqrt(embedding.weights)
    pairs = pairs_of(embedding)
    values = []
    for cut in range(1, 41):
        first = np.isin(np.arange(41), users[:cut])
        values.append(split.two_means_value(points, first) if outlook < 0 else split.split_value(pairs, first, outlook))
    total = embedding.points[users].sum(axis=0, dtype=np.float64)
    own = np.square(points).sum(axis=1)
    room, before = np.empty((2, len(total)))
    found, cut = _split.best_cut(
        embedding.points, embedding.weights, embedding.constant, own, users, total, least, outlook, room, before
    )
    np.testing.assert_array_equal(before, embedding.points[users[:cut]].sum(axis=0, dtype=np.float64))
    assert cut == split.best_cut(values, least)
    assert found == pytest.approx(values[cut - 1], rel=1e-9)


def test_an_outlook_of_two_thirds_is_what_a_random_tree_adds():
    """Where all dissimilarities are 1 every tree costs (n^3 - n) / 3, so no split is better than another."""
    ones = np.ones((9, 9))
    values = [split.split_value(ones, np.arange(9) < cut, 2 / 3) for cut in range(1, 9)]
    assert values == pytest.approx([(9**3 - 9) / 3] * 8)
    assert split.best_cut([round(each, 6) for each in values], 1) == 4


def test_two_groups_one_can_see():
    vectors = np.repeat([[0, 9], [9, 0]], [40, 60], axis=0)
    tree = learn_tree(vectors, balance=0.04)
    assert sorted(tree.size[[tree.left[-1], tree.right[-1]]].tolist()) == [40, 60]


@pytest.mark.parametrize("balance", [0.01, 0.04, 0.2, 0.5])
@pytest.mark.parametrize("n", [25, 100, 777])
def test_every_split_keeps_the_floor(n, balance):
    assert broken(learn_tree(heavy_tailed(n), balance=balance, random_state=0), balance) == 0


def test_a_part_keeps_the_floor_of_the_whole():
    embedding = Embedding.from_counts(heavy_tailed(300))
    tree = HierarchicalClusterTree.from_children(*split_users(embedding, compute_floors(300, 10_000, 0.04), 10_000))
    assert broken(tree, 0.04, n_users=10_000) == 0


@pytest.mark.parametrize("n", [64, 200, 1_000])
def test_users_who_are_the_same_make_a_balanced_tree(n):
    tree = learn_tree(np.full((n, 3), 4))
    assert tree.depths.max() == int(np.ceil(np.log2(n)))


def test_swaps_keep_the_floor_and_end_where_none_that_keeps_it_gains():
    embedding = Embedding.from_counts(heavy_tailed(400))
    floor = compute_floors(400, 400, 0.04)
    state = state_of(embedding, *split_users(embedding, floor, 400))
    before = fill(state)
    taken, done = climb(state, np.arange(400, 799), 2**62, floor)
    assert done
    assert taken > 0
    assert fill(state) > before
    assert broken(HierarchicalClusterTree.from_children(state.left[400:], state.right[400:]), 0.04) == 0


@pytest.mark.parametrize("size", [13, 25, 50, 75, 100, 120])
def test_a_community_has_half_to_twice_as_many_users_as_asked_for(size):
    tree = learn_tree(heavy_tailed(2_000))
    sizes = [tree.community(user, size).size for user in range(2_000)]
    assert size / 2 <= min(sizes)
    assert max(sizes) <= 2 * size


def test_no_floor_is_the_unrestricted_search():
    vectors = heavy_tailed(200)
    free = learn_tree(vectors, balance=0, random_state=1)
    assert free == learn_tree(vectors, balance=0.0, search="linkage+gentree", random_state=1)
    assert free.depths.max() > learn_tree(vectors, random_state=1).depths.max()


def test_searches_without_a_floor_say_so():
    with pytest.raises(InputError, match=r"search .gentree. keeps no balance floor, but balance is 0\.1: use balance 0"):
        learn_tree(heavy_tailed(30), search="gentree", balance=0.1)
    assert learn_tree(heavy_tailed(30), search="gentree", sweeps=2, random_state=0).n_users == 30


def test_small_clusters_split_by_two_means_unless_points_differ_in_length():
    sizes = np.array([10.0, 50.0, 95.0])
    assert choose_outlooks(sizes, 100, "size").tolist() == [TWO_MEANS, OUTLOOK, FIRST_OUTLOOK]
    assert choose_outlooks(sizes, 100, "cost").tolist() == [RANDOM_OUTLOOK] * 3
    assert choose_outlooks(sizes, 100, "means").tolist() == [TWO_MEANS] * 3
