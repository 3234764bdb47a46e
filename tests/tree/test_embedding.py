from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import pdist, squareform

from privact.errors import InputError
from privact.tree.embedding import Embedding, Thresholds, as_vectors, on_grid, thresholds_for

whole_vectors = arrays(np.int64, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=st.integers(-30, 60))


def across(embedding, a, b):
    """W(A, B) by one dot product of the two clusters' sums, as the search computes it."""
    points = embedding.points.astype(np.float64)
    product = embedding.weights * points[a].sum(axis=0) * points[b].sum(axis=0)
    return embedding.constant * len(a) * len(b) - product.sum()


def over_pairs(vectors, a, b):
    """W(A, B) by its definition."""
    return sum(sum(abs(int(x) - int(y)) for x, y in zip(vectors[i], vectors[j], strict=True)) for i in a for j in b)


@given(vectors=whole_vectors, data=st.data())
def test_one_dot_product_is_the_double_loop_over_users(vectors, data):
    users = data.draw(st.permutations(range(len(vectors))))
    cut = data.draw(st.integers(1, len(vectors) - 1))
    a, b = users[:cut], users[cut:]
    assert across(Embedding.from_counts(vectors), a, b) == over_pairs(vectors, a, b)


@given(vectors=whole_vectors)
def test_condensed_is_scipys_city_block_distance_in_scipys_order(vectors):
    exact = pdist(vectors.astype(np.float64), "cityblock")
    embedding = Embedding.from_counts(vectors)
    through_points = Embedding(embedding.points, embedding.weights, embedding.constant)
    assert np.array_equal(embedding.condensed(), exact)
    assert np.array_equal(through_points.condensed(), exact)


def test_condensed_of_more_users_than_one_block():
    vectors = np.random.default_rng(0).poisson(6.0, (700, 3))
    embedding = Embedding.from_counts(vectors)
    through_points = Embedding(embedding.points, embedding.weights, embedding.constant)
    assert np.array_equal(through_points.condensed(), pdist(vectors.astype(np.float64), "cityblock"))


def test_fractions_are_told_apart_exactly():
    vectors = np.random.default_rng(1).normal(size=(40, 3))
    assert Embedding.from_counts(vectors).condensed() == pytest.approx(pdist(vectors, "cityblock"), rel=1e-12)


def test_points_that_are_distribution_functions_give_the_expected_distance():
    """E|X - Y| of independent X and Y, by the definition over both their values."""
    rng = np.random.default_rng(2)
    laws = rng.multinomial(512, np.full(6, 1 / 6), size=5) / 512.0  # users know their count only up to a law over 0..5
    points = 1.0 - 2.0 * np.cumsum(laws, axis=1)[:, :-1]
    assert np.array_equal(on_grid(points), points)
    embedding = Embedding(points, np.full(5, 0.5), 2.5)
    gap = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    expected = laws @ gap @ laws.T
    assert np.array_equal(embedding.condensed(), squareform(expected - np.diag(np.diag(expected))))
    a, b = [0, 3], [1, 2, 4]
    assert across(embedding, a, b) == expected[np.ix_(a, b)].sum()


def in_one_pool(x, y, thresholds):
    """Whether two vectors both lie strictly inside one pool, in some bin."""
    inside = [[(lower < v[k]) & (v[k] < lower + width) for k, (lower, width) in enumerate(thresholds)] for v in (x, y)]
    return any((a & b).any() for a, b in zip(*inside, strict=True))


@pytest.mark.parametrize("room", [8, 20, 64])
def test_pools_are_exact_for_pairs_that_share_none(room):
    rng = np.random.default_rng(3)
    vectors = np.floor(rng.pareto(1.0, (120, 2)) * 20).astype(np.int64)
    thresholds = Thresholds.of(vectors, room)
    embedding = thresholds.embed(vectors)
    assert embedding.points.shape[1] <= room < len(Thresholds.of(vectors).lower[0]) * 2
    found = squareform(embedding.condensed())
    exact = squareform(pdist(vectors.astype(np.float64), "cityblock"))
    widest = sum(width.max() for _, width in thresholds)
    apart = 0
    for i in range(len(vectors)):
        for j in range(i):
            if not in_one_pool(vectors[i], vectors[j], thresholds):
                # what is left is the rounding of points to the grid: half of 1/1024 of a pool at each end, halved by s = 1 - 2 F
                assert abs(found[i, j] - exact[i, j]) <= widest / 1024 / 2, (i, j)
                apart += 1
    assert apart > 1000
    assert np.abs(found - exact)[np.triu_indices(120, 1)].max() > widest / 1024  # otherwise nothing was pooled


def test_pools_hardly_change_any_dissimilarity():
    vectors = np.floor(np.random.default_rng(4).pareto(1.2, (400, 3)) * 30).astype(np.int64)
    exact = pdist(vectors.astype(np.float64), "cityblock")
    for room, share in ((24, 0.02), (60, 0.005), (120, 0.002)):
        pooled = Embedding.from_counts(vectors, max_thresholds=room).condensed()
        assert np.abs(pooled - exact).mean() < share * exact.mean()


def test_enough_room_means_no_pools():
    vectors = np.array([[0, 5], [3, 5], [9, 7]])
    assert np.array_equal(Embedding.from_counts(vectors, 4).condensed(), Embedding.from_counts(vectors).condensed())


def test_thresholds_stand_where_counts_differ():
    thresholds = Thresholds.of([[0, 7], [2, 7], [10, 7], [2, 7]])
    assert [lower.tolist() for lower in thresholds.lower] == [[0, 2], []]
    assert [width.tolist() for width in thresholds.width] == [[2, 8], []]
    assert thresholds.embed([[0, 7], [2, 7], [10, 7]]).points.tolist() == [[-1, -1], [1, -1], [1, 1]]


def test_newcomers_outside_the_range_count_as_its_ends():
    thresholds = Thresholds.of([[0, 1], [4, 2], [10, 3]])
    ends = thresholds.embed([[0, 1], [10, 3]])
    beyond = thresholds.embed([[-5, -9], [99, 4]])
    assert np.array_equal(ends.points, beyond.points)
    assert beyond.condensed().tolist() == ends.condensed().tolist() == [12.0]


def test_a_count_between_two_thresholds_is_in_between():
    thresholds = Thresholds.of([[0], [8]])
    assert thresholds.embed([[2]]).points.tolist() == [[-0.5]]


@given(matrix=arrays(np.float64, (6, 6), elements=st.floats(0, 1e6)))
def test_any_symmetric_matrix_is_reproduced(matrix):
    matrix = matrix + matrix.T
    np.fill_diagonal(matrix, 0.0)
    embedding = Embedding.from_matrix(matrix)
    assert np.array_equal(squareform(embedding.condensed()), matrix)
    through_points = Embedding(embedding.points, embedding.weights, embedding.constant)
    assert squareform(through_points.condensed()) == pytest.approx(matrix, rel=1e-9, abs=1e-12 * (1 + matrix.max()))
    users = np.array([4, 0, 5])
    assert np.array_equal(squareform(embedding.take(users).condensed()), matrix[np.ix_(users, users)])


def test_take_keeps_the_dissimilarities():
    vectors = np.random.default_rng(5).integers(0, 9, (10, 2))
    users = np.array([7, 1, 4])
    chosen = Embedding.from_counts(vectors).take(users)
    assert len(chosen) == 3
    assert np.array_equal(chosen.condensed(), pdist(vectors[users].astype(np.float64), "cityblock"))


def test_users_without_any_difference_have_no_thresholds():
    embedding = Embedding.from_counts(np.full((4, 3), 7))
    assert embedding.points.shape == (4, 0)
    assert embedding.condensed().tolist() == [0.0] * 6


@pytest.mark.parametrize("n_users", [2, 1_000, 65_536, 100_000, 524_288, 1_000_000])
def test_memory_of_a_search_stays_near_two_gigabytes(n_users):
    most = thresholds_for(n_users)
    assert 128 <= most <= 1024
    assert 2 * n_users * most * 8 <= 2.1e9


@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        ([1, 2, 3], r"shape \(3,\), not \(users, bins\)"),
        (np.zeros((3, 0)), r"shape \(3, 0\), not \(users, bins\)"),
        (np.zeros((2, 2, 2)), "shape"),
        ([["a"], ["b"]], "not numbers"),
        (np.array([[1j], [2j]]), "not numbers"),
        ([[1, 2]], "1 users, but at least 2"),
        ([[1.0, 2.0], [np.nan, 1.0]], "user 1 holds NaN or infinity"),
        ([[np.inf, 2.0], [0.0, 1.0]], "user 0 holds NaN or infinity"),
        ([[1, 2], [3]], "shape"),
        (None, "shape"),
    ],
)
def test_what_are_not_vectors_is_refused_in_one_line(vectors, words):
    with pytest.raises(InputError, match=words) as caught:
        as_vectors(vectors)
    assert "\n" not in str(caught.value)


def test_newcomers_with_other_bins_are_refused():
    with pytest.raises(InputError, match="3 bins, not the 2 learned"):
        Thresholds.of([[0, 1], [4, 2]]).embed([[1, 2, 3]])


def test_counts_too_large_to_tell_apart_do_not_give_nan():
    """2^53 and 2^53 + 1 are one number in double precision."""
    embedding = Embedding.from_counts(np.array([[2**53], [2**53 + 1], [5]]))
    assert np.isfinite(embedding.points).all()
    assert np.isfinite(embedding.condensed()).all()
