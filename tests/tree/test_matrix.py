from __future__ import annotations

import warnings

import numpy as np
import pytest

from privact.errors import InputError
from privact.tree.matrix import as_matrix


def test_the_diagonal_is_never_used():
    with pytest.warns(
        UserWarning, match="the diagonal of dissimilarity is not 0: it is ignored; similarities are given as similarity="
    ):
        assert as_matrix([[7, 2], [2, -3]], "dissimilarity").tolist() == [[0, 2], [2, 0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert as_matrix([[1, 0.5], [0.5, 1]], "similarity").tolist() == [[0, 0.5], [0.5, 0]]
        assert as_matrix([[1e-16, 2], [2, 0]], "dissimilarity").tolist() == [[0, 2], [2, 0]], "rounding"


def test_the_callers_matrix_is_left_alone():
    mine = np.array([[5.0, 1.0], [1.0, 5.0]])
    as_matrix(mine, "similarity")
    assert mine.tolist() == [[5, 1], [1, 5]]


def test_rounding_is_not_asymmetry():
    square = np.array([[0, 0.1 + 0.2], [0.3, 0]])
    found = as_matrix(square, "similarity")
    assert np.array_equal(found, found.T)


@pytest.mark.parametrize(
    ("square", "words"),
    [
        ([1, 2, 3], r"shape \(3,\), not \(n, n\): scipy.spatial.distance.squareform"),
        ([[0, 1], [2, 0]], r"dissimilarity\[0, 1\] is 1 but \[1, 0\] is 2: make it symmetric"),
        ([[0, 1, 5], [1, 0, -2], [5, -2, 0]], r"dissimilarity\[1, 2\] is -2, below 0"),
        ([[0, np.nan], [np.nan, 0]], r"dissimilarity\[0, 1\] is nan, not a finite number"),
        ([[0, np.inf], [np.inf, 0]], "is inf, not a finite number"),
        ([[0, 1, 2], [1, 0, 2]], r"shape \(2, 3\), not \(n, n\)"),
        ([0, 1, 2], r"shape \(3,\)"),
        (3.0, r"shape \(\)"),
        (np.zeros((2, 2, 2)), "shape"),
        ([[0.0]], "1 users, outside 2 to"),
        (np.zeros((0, 0)), "0 users"),
        ([[0, "x"], ["x", 0]], "number"),
        (np.array([[0, 1j], [1j, 0]]), "number"),
        ([[0, 1], [1]], "shape|number"),
    ],
)
def test_what_is_no_such_matrix_is_refused_in_one_line(square, words):
    with pytest.raises(InputError, match=words) as caught:
        as_matrix(square, "dissimilarity")
    assert "\n" not in str(caught.value)


def test_too_many_users_are_refused():
    assert len(as_matrix(np.zeros((3, 3)), "similarity", most=3)) == 3
    with pytest.raises(InputError, match="similarity has 4 users, outside 2 to 3: give vectors"):
        as_matrix(np.zeros((4, 4)), "similarity", most=3)
