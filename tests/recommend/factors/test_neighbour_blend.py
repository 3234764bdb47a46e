"""Neighbours on top of another model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from privact.errors import InputError
from privact.recommend.data.ratings import Ratings
from privact.recommend.factors.factor_model import FactorModel
from privact.recommend.factors.neighbour_blend import NeighbourBlend


class Counts(FactorModel):
    """The number of raters as the score of an item: factors of length 1."""

    times = 0

    def _learn(self, ratings: Ratings) -> None:
        Counts.times += 1
        items = self._prepare(ratings)
        self.user_factors_ = np.ones((ratings.n_users, 1))
        self.item_factors_ = items.matrix.sum(axis=0)[:, None]

    def _without_ratings(self, rows: np.ndarray) -> np.ndarray:
        return self._scores(rows)


RATINGS = Ratings.from_csr(
    csr_array(np.array([[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0]])), ["a", "b", "c", "d", "e"]
)
"""Item 0 has 2 raters, item 1 has 3, item 2 has 1, item 3 none."""

NEAR = np.zeros((5, 5))
NEAR[0, [1, 2]] = 1.0
NEAR[3, 4] = 1.0


def test_a_score_is_the_models_plus_the_weighted_share_of_neighbours() -> None:
    model = NeighbourBlend(Counts(), csr_array(NEAR), weight=6.0, caution=2.0).fit(RATINGS)
    found = model.scores(np.array([0, 1, 3]))
    # user 0: both of 2 neighbours have item 0 and one has item 1; 6 / (2 + 2) a neighbour. User 3: 6 / (1 + 2) for items 1 and 2
    assert found.tolist() == [[5.0, 4.5, 1.0, -np.inf], [2.0, 3.0, 1.0, -np.inf], [2.0, 5.0, 3.0, -np.inf]]
    assert [each.item for each in model.recommend("a", 9)] == ["0", "1", "2"]
    assert model.recommend("a", 3)[0].reason == "2 of 2 in your close community rated this"
    assert model.recommend("a", 3)[2].reason == "1 of 4 users rated this"
    assert [(each.user, each.weight) for each in model.similar_users("a")] == [("b", 1.5), ("c", 1.5), ("d", 1.0), ("e", 1.0)]
    assert [(each.user, each.weight) for each in model.similar_users("b", 1)] == [("a", 1.0)]  # nobody near: the model's


def test_without_weight_it_is_the_model() -> None:
    rows = np.arange(5)
    blend = NeighbourBlend(Counts(), csr_array(NEAR), weight=0.0).fit(RATINGS)
    np.testing.assert_array_equal(blend.rank(rows, 4), Counts().fit(RATINGS).rank(rows, 4))


def test_a_model_that_has_learned_is_not_taught_again() -> None:
    Counts.times = 0
    model = Counts().fit(RATINGS)
    NeighbourBlend(model, csr_array(NEAR)).fit(RATINGS)
    assert Counts.times == 1
    NeighbourBlend(model, csr_array(NEAR)).fit(RATINGS.normalised("max"))
    assert Counts.times == 2


def test_wrong_input_is_named() -> None:
    with pytest.raises(InputError, match="weight is -1"):
        NeighbourBlend(Counts(), csr_array(NEAR), weight=-1)
    with pytest.raises(InputError, match="there are 5 users"):
        NeighbourBlend(Counts(), csr_array((2, 2))).fit(RATINGS)
