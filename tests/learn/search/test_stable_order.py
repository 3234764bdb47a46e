"""The compiled stable order is NumPy's."""

import numpy as np
import pytest

from privact.learn.search._stable_order import RUN, sort_by_score


@pytest.mark.parametrize("k", [1, 2, RUN - 1, RUN, RUN + 1, 2 * RUN, 3 * RUN + 5, 1_000])
@pytest.mark.parametrize("different", [1, 3, 10_000])
def test_equal_scores_stay_in_their_order(k: int, different: int) -> None:
    score = np.random.default_rng(k).integers(different, size=k).astype(np.float64)
    users = np.arange(100, 100 + k)
    expected = np.argsort(score, kind="stable")
    sorted_users, sorted_score = users.copy(), score.copy()
    sort_by_score(sorted_score, sorted_users, np.empty(k), np.empty(k, np.int64))
    assert sorted_users.tolist() == users[expected].tolist()
    assert sorted_score.tolist() == score[expected].tolist()
