"""Items with the same raters as one column."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from privact.recommend.data.distinct_items import merge_duplicate_items
from privact.recommend.exposure.exposure_settings import RECQ
from privact.recommend.exposure.plain import fit_plainly, ignore_neighbours


def test_equal_columns_are_put_together_and_empty_ones_left_out() -> None:
    ratings = np.array([[5, 0, 1, 0, 2], [0, 0, 0, 3, 0], [1, 0, 4, 0, 0]])
    found = merge_duplicate_items(csr_array(ratings))
    assert found.column_of.tolist() == [0, -1, 0, 1, 2]
    assert found.weights.tolist() == [2, 1, 1]
    assert found.matrix.toarray().tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 0]]


@settings(deadline=None, max_examples=50)
@given(arrays(np.int8, st.tuples(st.integers(1, 5), st.integers(1, 12)), elements=st.integers(0, 1)))
def test_distinct_columns_hold_all_ratings(rated: np.ndarray) -> None:
    found = merge_duplicate_items(csr_array(rated))
    known = found.column_of >= 0
    assert (known == rated.any(axis=0)).all()
    dense = found.matrix.toarray()
    np.testing.assert_array_equal(dense[:, found.column_of[known]], rated[:, known])
    assert len({column.tobytes() for column in dense.T}) == dense.shape[1]
    assert found.weights.sum() == known.sum()


def test_a_column_that_stands_for_three_items_moves_users_as_three_do() -> None:
    from privact.recommend.exposure._expectation_maximisation import expectation_maximisation
    from privact.recommend.exposure.priors import PopularityPrior

    rng = np.random.default_rng(0)
    rated = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]], float)
    rule = RECQ.but(factors=2, iterations=3, precision=1.0, unexposed=3.0)
    users, items = rng.normal(size=(4, 2)), rng.normal(size=(3, 2))
    weights = np.array([3.0, 1.0, 1.0])
    spelled_out = np.repeat(np.arange(3), weights.astype(int))
    exact, exact_items, _ = fit_plainly(rated[:, spelled_out], ignore_neighbours, rule, users, items[spelled_out])
    matrix = csr_array(rated)
    prior = PopularityPrior(4, 3, rule, np.float64)
    found, found_items = expectation_maximisation(matrix, matrix.T.tocsr(), weights, prior, rule, users, items, 3)
    np.testing.assert_allclose(found, exact, rtol=1e-9)
    np.testing.assert_allclose(found_items[spelled_out], exact_items, rtol=1e-9)
