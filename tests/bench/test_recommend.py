"""The benchmark of recommendations measures a small recommender as it does a large one."""

from __future__ import annotations

import numpy as np

from privact.bench import recommend


def test_a_small_recommender_is_measured() -> None:
    row = recommend.measure_recommender(300)
    assert row["users"] == 300
    assert row["ratings"] == 30_000  # all different
    result = {"rows": [row]}
    (table,) = recommend.make_tables(result)
    assert len(table.rows[0]) == len(table.heading)
    assert all(speed.value > 0 for speed in recommend.list_speeds(result))


def test_ratings_follow_groups() -> None:
    """Users of one group share items more often than users of two."""
    groups = np.repeat([0, 8], 200)
    ratings = recommend.draw_ratings(groups, 400, 8_000, np.random.default_rng(0))
    shared = (ratings.binary @ ratings.binary.T).toarray()
    assert shared[:200, :200].mean() > 1.2 * shared[:200, 200:].mean()
