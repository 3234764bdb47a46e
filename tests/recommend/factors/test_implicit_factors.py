"""Implicit least squares: compiled against plain, against the whole weighted problem, and lists whose answer can be seen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from privact.errors import InputError
from privact.recommend.data.ratings import Ratings
from privact.recommend.factors._least_squares import half_step, half_step_plain
from privact.recommend.factors.implicit_factors import ImplicitFactors
from privact.recommend.recommender import Recommender


def drawn(seed: int) -> tuple[csr_array, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rated = (rng.random((9, 12)) < 0.3).astype(float)
    rated[2] = 0.0
    return csr_array(rated), rng.normal(size=(12, 4)), rng.integers(1, 4, 12).astype(float)


def test_the_compiled_half_step_is_the_plain_one() -> None:
    rated, other, weights = drawn(0)
    np.testing.assert_allclose(
        half_step(rated, other, weights, 3.0, 0.5), half_step_plain(rated, other, weights, 3.0, 0.5), rtol=1e-10, atol=1e-12
    )


def test_a_half_step_minimises_the_weighted_squares() -> None:
    rated, other, weights = drawn(1)
    extra, ridge = 3.0, 0.5
    target = rated.toarray()
    count = (1.0 + extra * target) * weights
    found = half_step(rated, other, weights, extra, ridge)
    for user in range(9):  # the same by one least-squares problem over all pairs of the user
        root = np.sqrt(count[user])
        system = np.vstack([other * root[:, None], np.sqrt(ridge) * np.eye(4)])
        best = np.linalg.lstsq(system, np.append(target[user] * root, np.zeros(4)), rcond=None)[0]
        np.testing.assert_allclose(found[user], best, rtol=1e-8, atol=1e-10)


def test_each_user_is_shown_what_the_own_camp_has() -> None:
    matrix = np.kron(np.eye(2), 1 - np.eye(4))  # two camps of four, each user misses one item of the camp
    users = [f"u{u}" for u in range(8)]
    model = ImplicitFactors(factors=2, extra=5.0, ridge=0.1).fit(Ratings.from_csr(csr_array(matrix), users))
    assert [model.recommend(user, 1)[0].item for user in users] == [str(u) for u in range(8)]
    assert {similar.user for similar in model.similar_users("u6", 3)} == {"u4", "u5", "u7"}


def test_without_ratings_the_most_popular_come_and_unrated_items_never() -> None:
    ratings = Ratings.from_csr(csr_array(np.array([[0, 0, 0], [1, 1, 0], [0, 1, 0]])), ["a", "b", "c"])
    model = ImplicitFactors(factors=2).fit(ratings)
    assert [found.item for found in model.recommend("a", 5)] == ["1", "0"]
    assert model.recommend("b", 5) == []
    assert model.similar_users("a") == []


@pytest.mark.parametrize("wrong", [{"factors": 0}, {"iterations": 0}, {"extra": 0.0}, {"ridge": -1.0}])
def test_wrong_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        ImplicitFactors(**wrong)  # type: ignore[arg-type]


def test_ranking_distinct_items_is_ranking_items() -> None:
    rng = np.random.default_rng(3)
    rated = np.repeat((rng.random((7, 9)) < 0.3).astype(float), rng.integers(0, 4, 9), axis=1)
    rated[4] = 0.0  # without ratings: many equal scores
    rated[5] = 1.0  # nothing left to list
    ratings = Ratings.from_csr(csr_array(rated[:, rng.permutation(rated.shape[1])]))
    model = ImplicitFactors(factors=2, ridge=1.0).fit(ratings)
    for k in (1, 4, 50):
        np.testing.assert_array_equal(model.rank(np.arange(7), k), Recommender.rank(model, np.arange(7), k))
