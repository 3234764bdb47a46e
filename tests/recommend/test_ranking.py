from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from privact.recommend.ranking import find_best_items, find_best_items_plain


def test_best_first_and_of_equal_ones_the_smaller_number():
    scores = np.array([[1.0, 3.0, 2.0, 3.0], [0.0, 0.0, 0.0, 0.0], [-np.inf, 5.0, -np.inf, -np.inf]])
    assert find_best_items(scores, 3).tolist() == [[1, 3, 2], [0, 1, 2], [1, -1, -1]]


def test_lists_longer_than_the_items_end_early():
    assert find_best_items(np.array([[1.0, 2.0]]), 4).tolist() == [[1, 0, -1, -1]]
    assert find_best_items(np.empty((2, 0)), 1).tolist() == [[-1], [-1]]


@settings(deadline=None)
@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, -np.inf]), min_size=1, max_size=12), st.integers(1, 14))
def test_as_sorting_everything(scores, k):
    wanted = [item for item in sorted(range(len(scores)), key=lambda item: (-scores[item], item)) if scores[item] > -np.inf][:k]
    for ranked in (find_best_items, find_best_items_plain):
        assert ranked(np.array([scores]), k)[0].tolist() == wanted + [-1] * (k - len(wanted))
