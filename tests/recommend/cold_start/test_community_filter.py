from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from privact.errors import InputError
from privact.network.graph import ContactGraph
from privact.recommend.cold_start.community_filter import CommunityFilter, ItemAverage
from privact.recommend.data.ratings import Ratings
from privact.recommend.neighbours import as_neighbours, draw_random_neighbours, find_tree_neighbours
from privact.tree.hct import HierarchicalClusterTree

DENSE = np.array([[0.0, 0, 0, 0], [1.0, 0.5, 0, 0], [0.2, 0, 0.4, 0], [0, 0.9, 0.1, 0]])
RATINGS = Ratings.from_csr(csr_array(DENSE))
COLD = np.array([0])


def knows(*others):
    matrix = np.zeros((4, 4))
    matrix[0, list(others)] = 1
    return csr_array(matrix)


def by_the_formula(neighbours):
    """Section 7.1, item by item: the mean rating of the item, and the mean centred rating among the neighbours who rated it."""
    scores = {}
    for item in range(3):
        raters = [user for user in range(4) if DENSE[user, item] > 0]
        average = sum(DENSE[user, item] for user in raters) / len(raters)
        inside = [user for user in raters if user in neighbours]
        chosen = inside or raters
        own_mean = {user: DENSE[user][DENSE[user] > 0].mean() for user in chosen}
        scores[item] = (bool(inside), average + sum(DENSE[user, item] - own_mean[user] for user in chosen) / len(chosen))
    return scores


@pytest.mark.parametrize("neighbours", [(1,), (2,), (3,), (1, 2), (2, 3), (1, 2, 3), ()])
def test_scores_are_the_papers_and_items_rated_inside_come_first(neighbours):
    wanted = by_the_formula(neighbours)
    found = CommunityFilter(knows(*neighbours)).fit(RATINGS)
    assert found.rank(COLD, 4)[0].tolist() == [*sorted(wanted, key=lambda item: wanted[item], reverse=True), -1]
    scores = found.scores(COLD)[0]
    for item, (inside, value) in wanted.items():
        assert scores[item] - 10 * inside == pytest.approx(value)


def test_items_rated_inside_come_first_by_raw_play_counts_too():
    # Item 0 has a far higher mean than item 1, but only item 1 was played inside.
    plays = Ratings.from_csr(csr_array([[0, 0], [0, 1], [5000, 0], [3000, 1]]))
    contacts = csr_array(np.eye(4, k=1))
    model = CommunityFilter(contacts).fit(plays)
    assert model.rank(COLD, 2).tolist() == [[1, 0]]
    assert [found.item for found in model.recommend("0", 2)] == ["1", "0"]
    assert CommunityFilter(contacts).fit(plays.normalised("max")).rank(COLD, 2).tolist() == [[1, 0]]


def test_item_average_is_the_formula_with_everybody():
    wanted = by_the_formula((1, 2, 3))
    scores = ItemAverage().fit(RATINGS).scores(COLD)[0]
    assert scores[:3] == pytest.approx([wanted[item][1] for item in range(3)])
    assert scores[3] == -np.inf  # nobody rated it


def test_the_reason_counts_who_has_it():
    model = CommunityFilter(knows(1, 2, 3), among="contacts").fit(RATINGS)
    model.verb = "played"
    reasons = {found.item: found.reason for found in model.recommend("0", 4)}
    assert reasons["0"] == "2 of 3 in your contacts played this"
    alone = CommunityFilter(knows(1)).fit(RATINGS)
    assert {f.item: f.reason for f in alone.recommend("0", 4)}["2"] == "2 of 3 users rated this"


def test_the_nearest_in_the_tree_are_the_neighbours():
    tree = HierarchicalClusterTree.from_nested((((0, 1), 2), 3))
    assert find_tree_neighbours(tree, [1, 2, 3, 0.4]).toarray().tolist() == [
        [0, 1, 0, 0],
        [1, 0, 1, 0],
        [1, 1, 0, 1],
        [1, 0, 0, 0],
    ]
    assert (find_tree_neighbours(tree, 99).toarray() == 1 - np.eye(4)).all()


def test_random_neighbours_are_m_others_each_as_likely():
    drawn = sum(draw_random_neighbours(5, 2, np.random.default_rng(seed)).toarray() for seed in range(2000))
    assert np.diag(drawn).tolist() == [0] * 5
    assert (drawn.sum(axis=1) == 4000).all()
    others = drawn[~np.eye(5, dtype=bool)]
    assert abs(others - 1000).max() < 5 * np.sqrt(2000 * 0.25)  # five standard deviations of a count


def test_a_user_who_is_alone_has_no_random_neighbours():
    assert draw_random_neighbours(1, 3, np.random.default_rng(0)).toarray().tolist() == [[0]]
    assert find_tree_neighbours(HierarchicalClusterTree.from_linkage(np.empty((0, 4))), 3).toarray().tolist() == [[0]]
    assert draw_random_neighbours(2, 3, 0).toarray().tolist() == [[0, 1], [1, 0]]  # a seed is enough


def test_neighbours_may_be_dense_and_what_is_no_matrix_is_one_line():
    dense = knows(1, 3).toarray()
    wanted = CommunityFilter(knows(1, 3)).fit(RATINGS).rank(COLD, 4).tolist()
    for given in (dense, dense.tolist(), dense.astype(bool), knows(1, 3).tocsc()):
        assert CommunityFilter(given).fit(RATINGS).rank(COLD, 4).tolist() == wanted
    graph = ContactGraph.from_edges([("0", "1"), ("0", "3"), ("1", "2")])
    for wrong in (graph, {0: [1, 3]}, None, "0,1", 7, [[0, 1], [1]]):
        with pytest.raises(InputError, match=f"neighbours are '{type(wrong).__name__}': give a matrix of users by users"):
            CommunityFilter(wrong).fit(RATINGS)
    with pytest.raises(InputError, match=r"neighbours have shape \(4,\) but there are 4 users"):
        CommunityFilter([0, 1, 0, 1]).fit(RATINGS)


def test_neighbours_of_another_size_and_oneself():
    assert as_neighbours(csr_array(np.ones((2, 2))), 2).toarray().tolist() == [[0, 1], [1, 0]]
    with pytest.raises(InputError, match=r"neighbours have shape \(2, 2\) but there are 4 users"):
        CommunityFilter(csr_array((2, 2))).fit(RATINGS)
    with pytest.raises(InputError, match="m has shape"):
        draw_random_neighbours(5, [1, 2], np.random.default_rng(0))
